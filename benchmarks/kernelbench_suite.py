# SPDX-License-Identifier: Apache-2.0
"""
Generator of `kernelbench-level1.json`: the 100 single operators of KernelBench, level 1, with their
published times on an H100, at the sizes of these times.

    python benchmarks/kernelbench_suite.py

Modules are written as functions, whose weights are inputs. Nothing is allocated: sizes and
operations are counted on the device meta. Floors are for an H100 SXM in float32: 66.9 TFLOP/s and
3.35 TB/s (NVIDIA H100 datasheet). Reference: KernelBench (ScalingIntelligence/KernelBench, MIT),
level1 and results/timing/H100_Modal.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from kernelbench_programs import PROGRAMS, Program, Shape

from tilewright.tools.bench.suite_inputs import special_tensor
from tilewright.tools.output.output_path import write_text

HERE = Path(__file__).parent
FILE = HERE / "kernelbench-level1.json"

_FLOPS, _BANDWIDTH = 66.9e12, 3.35e12

ABOUT = (
    "KernelBench level 1 (ScalingIntelligence/KernelBench, MIT license) as functions of their "
    "inputs and weights, at the sizes of its published times; made by kernelbench_suite.py. "
    "published_ms: PyTorch 2.5 (CUDA 12.4) on an H100 SXM, eager and torch.compile, mean of 100 "
    "runs; precision and left_out are for bench --published, and other commands ignore them. "
    "min_bytes: every input read once, the output written once. floor_us_h100: max(flops / 66.9 "
    "TFLOP/s fp32, min_bytes / 3.35 TB/s), flops of products, convolutions and attention alone."
)


_IN_TF32 = ("conv", "conv_transpose")
"""Operators whose published times are those of TF32, as PyTorch's defaults allow."""

_LEFT_OUT = {97: "the precision of the published times is not stated"}
"""Programs whose published times are not comparable, with the reasons."""


def cases() -> Iterator[dict[str, Any]]:
    """Yield the cases of all programs, as JSON objects."""
    for number, program in enumerate(PROGRAMS, 1):
        yield _case(number, program)


def _case(number: int, program: Program) -> dict[str, Any]:
    shapes = [*program.data, *program.weights]
    drawn = {f"t{n}": {"random": "uniform"} for n in range(len(program.data))}
    inputs: dict[str, Any] = {**drawn, **program.integers}
    result, flops, read = _counted(program.expression, shapes, inputs)
    min_bytes = read + result.numel() * result.element_size()
    floor_s = max(flops / _FLOPS, min_bytes / _BANDWIDTH)
    return {
        "name": f"level1.{number}.{program.op}",
        "op": program.op,
        "model": "KernelBench",
        "seq_len": 0,
        "expression": program.expression,
        "input_shapes": [[*shape] for shape in shapes],
        "output_shape": [*result.shape],
        "dtype": "float32",
        "inputs": inputs,
        "flops": flops,
        "min_bytes": min_bytes,
        "floor_us_h100": round(1e6 * floor_s, 2),
        "precision": "high" if program.op in _IN_TF32 else "highest",
        "published_ms": {"eager": program.eager_ms, "compile": program.compile_ms},
        **({"left_out": _LEFT_OUT[number]} if number in _LEFT_OUT else {}),
    }


def _counted(
    expression: str, shapes: Sequence[Shape], inputs: Mapping[str, Any]
) -> tuple[Any, int, int]:
    """
    Return the result on the device meta, the number of operations, and the bytes of the inputs.
    """
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    named = {
        f"t{n}": special_tensor(tuple(shape), inputs[f"t{n}"], "meta", None)
        if f"t{n}" in inputs
        else torch.empty([*shape], device="meta")
        for n, shape in enumerate(shapes)
    }
    known = {"torch": torch, "F": torch.nn.functional, **named}
    with FlopCounterMode(display=False) as counter:
        result = eval(expression, known)
    read = sum(tensor.numel() * tensor.element_size() for tensor in named.values())
    return result, counter.get_total_flops(), read


def text() -> str:
    """Return the content of `kernelbench-level1.json`."""
    return json.dumps({"about": ABOUT, "cases": [*cases()]}, indent=1) + "\n"


if __name__ == "__main__":
    write_text(str(FILE), text())
