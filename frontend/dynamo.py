# SPDX-License-Identifier: Apache-2.0
"""
What `torch.compile` calls in the place of a graph: it is captured and compiled when it is called,
once for each kind of inputs.

Dynamo, the front of `torch.compile`, splits a function into graphs. It guards what it has assumed,
but leaves sizes open after the second one: so a graph is exported anew for each shape, dtype and
stride that it is called with, through the same `capture` as everything else.

1. The whole graph is captured, and compiled.
2. Where the compiler does not know all of it, the rest runs in PyTorch (`partial`).
3. Where that is not possible either, the graph runs in PyTorch.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Any

from tilewright.errors import UnsupportedError, UsageError
from tilewright.frontend.dynamo_graph import in_pytorch, numbers_among, path_of
from tilewright.frontend.dynamo_program import program_of
from tilewright.frontend.kernels import Compile
from tilewright.frontend.recompiles import Compilations
from tilewright.frontend.telling import tell

MOST_KINDS = 64
"""The kinds of inputs that a graph is compiled for; calls with more of them run in PyTorch."""

_LOCK = threading.RLock()
"""Held while anything is captured and compiled: neither PyTorch's tracing nor ours is made for
several threads."""


def lazily(graph: Any, compile: Compile) -> Callable[..., Any]:
    """What is called in the place of a graph; the graph itself where PyTorch records gradients."""
    if not _records_gradients(graph):
        return LazyGraph(graph, compile)
    tell(
        "a graph runs in PyTorch: it records gradients, and kernels are made for inference only "
        "(call it under torch.no_grad(), or see that nothing requires a gradient)"
    )
    return in_pytorch(graph)


def _records_gradients(graph: Any) -> bool:
    """True if PyTorch records what the graph does, as far as Dynamo saw it run."""
    import torch
    from torch.utils import _pytree as pytree

    calls = [node for node in graph.graph.nodes if node.op not in ("placeholder", "get_attr")]
    values = pytree.tree_leaves([node.meta.get("example_value") for node in calls])
    return any(isinstance(value, torch.Tensor) and value.requires_grad for value in values)


class LazyGraph:
    """A graph of Dynamo's to be called with its inputs, compiled for them when it is."""

    def __init__(self, graph: Any, compile: Compile):
        placeholders = graph.graph.find_nodes(op="placeholder")
        self._graph = graph
        self._compile = compile
        self._programs: dict[Any, Callable[..., Any]] = {}
        # Dynamo guards the forms of parameters and buffers.
        self._varying = [n for n, node in enumerate(placeholders) if path_of(node) is None]
        self._numbers = numbers_among(placeholders)
        self._compilations = Compilations(graph, self._varying)

    def __call__(self, *inputs: Any) -> Any:
        """Return the graph's outputs. Raises `TilewrightError` for what neither way can be run."""
        values = [v.item() if n in self._numbers else v for n, v in enumerate(inputs)]
        kind = tuple(_kind(values[n]) for n in self._varying)
        program = self._programs.get(kind)
        if program is None:
            with _LOCK:
                if (program := self._programs.get(kind)) is None:
                    program = self._programs[kind] = self._program(values)
        return program(*inputs)

    def _program(self, values: Sequence[Any]) -> Callable[..., Any]:
        if len(self._programs) >= MOST_KINDS:
            tell(f"a graph is compiled for {MOST_KINDS} kinds of inputs; others run in PyTorch")
            return in_pytorch(self._graph)
        if reason := next((r for v in values if (r := _reason_against_input(v))), None):
            tell(f"a graph runs in PyTorch: {reason}")
            return in_pytorch(self._graph)
        try:
            with self._compilations.compiling(values):
                return program_of(self._graph, values, self._compile)
        except (UnsupportedError, UsageError) as err:
            tell(f"a graph runs in PyTorch: {err}")
            return in_pytorch(self._graph)


def _kind(value: Any) -> Any:
    """What a graph is compiled anew for."""
    import torch

    if not isinstance(value, torch.Tensor):
        return type(value), repr(value)
    strides = value.stride() if value.layout is torch.strided else None
    return value.dtype, value.device, value.shape, strides, value.layout


def _reason_against_input(value: Any) -> str | None:
    """Reason why kernels cannot take a value, or None."""
    import torch
    from torch import nn

    if not isinstance(value, torch.Tensor):
        return None
    if type(value) not in (torch.Tensor, nn.Parameter):
        return f"an input is a {type(value).__name__}"
    if value.device.type not in ("cpu", "cuda"):
        return f"an input is on the device {value.device.type}"
    is_lazy = value.is_conj() or value.is_neg()
    return "an input is conjugated or negated lazily" if is_lazy else None
