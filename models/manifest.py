# SPDX-License-Identifier: Apache-2.0
"""
`manifest.json`: all facts that a program needs to launch the kernels of a model's folder.

Buffers are identified by name. A buffer's memory is given by the caller (`inputs`), or is part of
the slab, at an offset, or is the buffer's own. `axes` is the permutation of an input that must be
permuted when it is loaded.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

from tilewright.codegen.launch_plan import ArrayType, Fill, Launch, Plan
from tilewright.frontend.signature import Input

SCHEMA = 1
"""Version of the manifest's format."""


def manifest(
    plan: Plan,
    inputs: Sequence[Input],
    facts: Mapping[str, Any],
    files: Mapping[str, str],
    stored: Mapping[str, str],
    other_names: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """
    Return the manifest of a plan whose inputs were captured as `inputs`, beginning with `facts`
    about the model.

    `files` are the paths of the kernels' texts. `stored` are the files with values of inputs that
    neither a caller nor a checkpoint has. `other_names` are further names under which a checkpoint
    may store an input.
    """
    return {
        "schema": SCHEMA,
        **facts,
        "slab_bytes": plan.slab.peak_bytes,
        "inputs": [
            {
                **_input(plan, number, each),
                **({"file": stored[each.name]} if each.name in stored else {}),
                **({"tied_to": other_names[each.name]} if each.name in other_names else {}),
            }
            for number, each in enumerate(inputs)
        ],
        "buffers": [_buffer(plan, number) for number in range(len(inputs), len(plan.buffers))],
        "results": [plan.names[number] for number in plan.results],
        "kernels": _kernels(plan, files),
        "launches": [_launch(plan, launch) for launch in plan.launches],
    }


def as_json(manifest: Mapping[str, Any]) -> str:
    """Return a manifest as JSON text, with a line for each entry of its lists."""
    return "{\n" + ",\n".join(_member(*member) for member in manifest.items()) + "\n}\n"


def _member(key: str, value: Any) -> str:
    text = json.dumps(value, allow_nan=False)
    if isinstance(value, list) and value:
        lines = [json.dumps(each, allow_nan=False) for each in cast(list[Any], value)]
        text = "[\n    " + ",\n    ".join(lines) + "\n  ]"
    return f"  {json.dumps(key)}: {text}"


def _type(type: ArrayType) -> dict[str, Any]:
    return {"shape": list(type.shape), "dtype": str(type.dtype)}


def _input(plan: Plan, number: int, input: Input) -> dict[str, Any]:
    axes = plan.permuted.get(number)
    loaded = {} if axes is None else {"axes": list(axes)}
    return {
        "name": plan.names[number],
        "source": input.name,
        "kind": input.kind,
        **_type(plan.inputs[number]),
        **loaded,
        "alignment": plan.alignments[number],
    }


def _buffer(plan: Plan, number: int) -> dict[str, Any]:
    slot = plan.slab.slots.get(number)
    place = {} if slot is None else {"slab_offset": slot.start}
    kept = {fill.buffer: fill.value for fill in plan.kept}
    filled = {"filled_once": _number(kept[number])} if number in kept else {}
    return {"name": plan.names[number], **_type(plan.buffers[number]), **place, **filled}


def _kernels(plan: Plan, files: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return an entry for each kernel, in the order of the first launches."""
    launches = Counter(launch.kernel for launch in plan.launches)
    first = {launch.kernel: launch for launch in reversed(plan.launches)}
    return [
        {
            "name": name,
            "file": files[name],
            "launches": launches[name],
            "grid": first[name].grid,
            "block": first[name].block,
            "cluster": first[name].cluster,
            "shared_bytes": first[name].shared_bytes,
            "dynamic_shared_bytes": first[name].dynamic_shared_bytes,
            "schedule": first[name].schedule,
        }
        for name in launches
    ]


def _launch(plan: Plan, launch: Launch) -> dict[str, Any]:
    def names(numbers: Sequence[int]) -> list[str]:
        return [plan.names[number] for number in numbers]

    maps = [
        {
            "buffer": plan.names[map.buffer],
            "shape": list(map.shape),
            "box": list(map.box),
            "swizzle": map.swizzle,
        }
        for map in launch.tensor_maps
    ]
    return {
        "kernel": launch.kernel,
        **({"tensor_maps": maps} if maps else {}),
        "inputs": names(launch.inputs),
        "outputs": names(launch.outputs),
        **({"fills": [_fill(plan, fill) for fill in launch.fills]} if launch.fills else {}),
    }


def _fill(plan: Plan, fill: Fill) -> dict[str, Any]:
    return {"buffer": plan.names[fill.buffer], "value": _number(fill.value)}


def _number(value: float | int) -> float | int | str:
    """
    Return a number for JSON: infinities and NaN, which JSON lacks, become the texts `inf`, `-inf`
    and `nan`.
    """
    finite = isinstance(value, int) or abs(value) < float("inf")
    return value if finite else str(value)
