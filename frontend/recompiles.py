# SPDX-License-Identifier: Apache-2.0
"""
Log of the inputs that graphs from Dynamo are compiled for, and of the reasons to recompile, in the
logger `tilewright`.

    graph 0/0 at model.py:7: compile for x float32[4, 16]
    graph 0/0 at model.py:7: recompile: x: shape [4, 16] -> [3, 16]

`TORCH_LOGS=tilewright` shows the log, because PyTorch accepts the name of any module there. The
numbers of a graph are Dynamo's: the frame, and how often the frame was traced before.
"""

import logging
import re
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from tilewright.frontend.source import place_of_node

LOGGER = logging.getLogger("tilewright")

Forms = Mapping[str, Mapping[str, str]]
"""Facts that kernels are compiled for, by name of the input: `{"x": {"dtype": "float32"}}`."""

_compiled: dict[int, list[Forms]] = {}
"""Facts of the inputs for each compilation so far, by the number of Dynamo's frame."""


class Compilations:
    """
    Compilations of one graph, for the log. `positions` are those of the inputs whose facts are
    compared.
    """

    def __init__(self, graph: Any, positions: Sequence[int]):
        nodes = graph.graph.find_nodes(op="placeholder")
        named = {position: _name(nodes[position]) for position in positions}
        self._names = {n: name for n, name in named.items() if not _is_size(name)}
        places = map(place_of_node, graph.graph.nodes)
        place = next(filter(None, places), None)
        frame, number = _compile_id()
        if not number or frame is None:  # the first trace, also after `torch._dynamo.reset`
            self._known = []
        else:
            self._known = _compiled.get(frame, [])
        if frame is not None:
            _compiled[frame] = self._known
        which = "graph" if frame is None else f"graph {frame}/{number}"
        self._title = which if place is None else f"{which} at {place}"

    @contextmanager
    def compiling(self, values: Sequence[Any]):
        """
        Log a compilation for the inputs `values`: first its reason, and at the end of the `with`
        block its duration.
        """
        forms = {name: _facts(values[n]) for n, name in self._names.items()}
        LOGGER.info("%s: %s", self._title, _reason(self._known, forms))
        self._known.append(forms)
        start = perf_counter()
        yield
        LOGGER.debug("%s: compiled in %.1f s", self._title, perf_counter() - start)


def _compile_id() -> tuple[int | None, int | None]:
    """
    Return the number of the frame that Dynamo traces, and how often it was traced before. Both are
    None outside of Dynamo.
    """
    from torch._guards import CompileContext

    found = CompileContext.current_compile_id()
    return (None, None) if found is None else (found.frame_id, found.frame_compile_id)


_LOCAL = re.compile(r"^[LG]\['([^']*)'\]")
"""Pattern of Dynamo's expressions such as `L['x']`; its group is the user's name."""


def _name(placeholder: Any) -> str:
    """Return the user's expression for an input: `x`, `batch['ids']`."""
    source = getattr(getattr(placeholder, "_dynamo_source", None), "name", placeholder.name)
    return _LOCAL.sub(r"\1", str(source() if callable(source) else source))


def _is_size(name: str) -> bool:
    """True if `name` is the size or stride of another input, whose shape is compared already."""
    return bool(re.search(r"\.(size|stride)\(\)\[\d+\]$", name))


def _facts(value: Any) -> Mapping[str, str]:
    import torch

    if not isinstance(value, torch.Tensor):
        return {"value": repr(value)}
    strides = str([*value.stride()]) if value.layout is torch.strided else "none"
    return {
        "dtype": str(value.dtype).removeprefix("torch."),
        "shape": str([*value.shape]),
        "strides": strides,
        "device": str(value.device),
        "layout": str(value.layout).removeprefix("torch."),
    }


def _reason(known: Sequence[Forms], forms: Forms) -> str:
    if not known:
        shown = ", ".join(f"{name} {_shown(facts)}" for name, facts in forms.items())
        return f"compile for {shown or 'no inputs that may vary'}"
    changes = min((_changes(before, forms) for before in reversed(known)), key=len)
    if changes:
        return f"recompile: {', '.join(changes)}"
    return "recompile: no input has changed; TORCH_LOGS=recompiles names PyTorch's reason"


def _shown(facts: Mapping[str, str]) -> str:
    return facts.get("value") or f"{facts['dtype']}{facts['shape']}"


def _changes(before: Forms, now: Forms) -> list[str]:
    """
    Return texts on the facts that differ between two compilations: `x: shape [4, 16] -> [3, 16]`.
    """
    changes: list[str] = []
    for name, facts in now.items():
        if name not in before:
            changes.append(f"{name}: now an input, {_shown(facts)}")
            continue
        old = before[name]
        found = [fact for fact in facts if facts[fact] != old.get(fact)]
        if "shape" in found and "strides" in found:
            found.remove("strides")  # they follow from the shape
        changes += [f"{name}: {fact} {old.get(fact, 'none')} -> {facts[fact]}" for fact in found]
    return changes
