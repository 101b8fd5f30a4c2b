# SPDX-License-Identifier: Apache-2.0
"""
Callables that replace a graph in `torch.compile`: the graph is captured and compiled at its first
call with each kind of inputs.

Dynamo, the front end of `torch.compile`, splits a function into graphs. It guards its assumptions,
but leaves a size open after the second value. Therefore a graph is exported anew for each shape,
dtype and stride, through the same `capture` as other programs.

1. The whole graph is captured and compiled.
2. Where the compiler does not support all of it, the rest runs in PyTorch (`partial`).
3. Where that is not possible either, the whole graph runs in PyTorch.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Any

from tilewright.dialects.precision import Precisions
from tilewright.dialects.torch.precision import set_precisions
from tilewright.errors import UnsupportedError, UsageError
from tilewright.frontend.capture import Captured
from tilewright.frontend.dynamo_graph import in_pytorch, numbers_among, path_of
from tilewright.frontend.dynamo_program import program_of
from tilewright.frontend.kernels import Compile, Run
from tilewright.frontend.recompiles import Compilations
from tilewright.frontend.warnings_once import warn_once

MOST_KINDS = 64
"""
Maximum number of kinds of inputs that one graph is compiled for; further kinds run in PyTorch.
"""

_LOCK = threading.RLock()
"""
Lock held while a graph is captured and compiled: neither PyTorch's tracing nor this compiler is
safe with several threads.
"""


def callable_for_graph(
    graph: Any, compile: Compile, precisions: Callable[[], Precisions] = Precisions
) -> Callable[..., Any]:
    """
    Return the callable that replaces a graph: a `LazyGraph`, or the graph itself where PyTorch
    records gradients. `precisions` returns the precisions of a call.
    """
    if not _records_gradients(graph):
        return LazyGraph(graph, compile, precisions)
    warn_once(
        "a graph runs in PyTorch: it records gradients, and kernels are made for inference only "
        "(call it under torch.no_grad(), or make sure that no tensor requires a gradient)"
    )
    return in_pytorch(graph)


def _records_gradients(graph: Any) -> bool:
    """
    True if the graph computes a value that requires a gradient, in the run that Dynamo recorded.
    """
    import torch
    from torch.utils import _pytree as pytree

    calls = [node for node in graph.graph.nodes if node.op not in ("placeholder", "get_attr")]
    values = pytree.tree_leaves([node.meta.get("example_value") for node in calls])
    return any(isinstance(value, torch.Tensor) and value.requires_grad for value in values)


class LazyGraph:
    """
    Graph from Dynamo that is compiled at its first call with each kind of inputs, and again if the
    precision of float32 products has changed.
    """

    def __init__(
        self, graph: Any, compile: Compile, precisions: Callable[[], Precisions] = Precisions
    ):
        placeholders = graph.graph.find_nodes(op="placeholder")
        self._graph = graph
        self._compile = compile
        self._precisions = precisions
        self._programs: dict[Any, Callable[..., Any]] = {}
        # Dynamo guards shapes, dtypes and strides of parameters and buffers.
        self._varying = [n for n, node in enumerate(placeholders) if path_of(node) is None]
        self._numbers = numbers_among(placeholders)
        self._compilations = Compilations(graph, self._varying)

    def __call__(self, *inputs: Any) -> Any:
        """
        Return the graph's outputs for `inputs`, computed in PyTorch if the graph is not supported.
        Raises `TilewrightError` if compiling or running fails for another reason.
        """
        values = [v.item() if n in self._numbers else v for n, v in enumerate(inputs)]
        precisions = self._precisions()
        kind = precisions, *(_kind(values[n]) for n in self._varying)
        program = self._programs.get(kind)
        if program is None:
            with _LOCK:
                if (program := self._programs.get(kind)) is None:
                    program = self._programs[kind] = self._program(values, precisions)
        return program(*inputs)

    def _program(self, values: Sequence[Any], precisions: Precisions) -> Callable[..., Any]:
        if len(self._programs) >= MOST_KINDS:
            warn_once(
                f"a graph is compiled for {MOST_KINDS} kinds of inputs; others run in PyTorch"
            )
            return in_pytorch(self._graph)
        if reason := next((r for v in values if (r := _reason_against_input(v))), None):
            warn_once(f"a graph runs in PyTorch: {reason}")
            return in_pytorch(self._graph)
        try:
            with self._compilations.compiling(values):
                return program_of(self._graph, values, self._compiler(precisions))
        except (UnsupportedError, UsageError) as err:
            warn_once(f"a graph runs in PyTorch: {err}")
            return in_pytorch(self._graph)

    def _compiler(self, precisions: Precisions) -> Compile:
        """Return the compiler of captured programs for these precisions."""

        def compile(captured: Captured) -> Run:
            set_precisions(captured.module, precisions)
            return self._compile(captured)

        return compile


def _kind(value: Any) -> Any:
    """
    Return a key of an input. Of a tensor it has dtype, device, shape, strides and layout, of
    another value its type and text.

    A graph is compiled anew for each combination of keys.
    """
    import torch

    if not isinstance(value, torch.Tensor):
        return type(value), repr(value)
    strides = value.stride() if value.layout is torch.strided else None
    return value.dtype, value.device, value.shape, strides, value.layout


def _reason_against_input(value: Any) -> str | None:
    """Reason why kernels cannot take `value` as an input, or None."""
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
