# SPDX-License-Identifier: Apache-2.0
"""Random graphs of ops, with values that have several readers, and with several results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, NamedTuple, cast

import torch
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from tilewright.frontend.aten import build_op, op_of_call, types_of

from .graph_ops import BINARY, OPS, PRODUCTS, REDUCING, Run

Tensor = torch.Tensor
Shape = tuple[int, ...]

NAMES = (*OPS, *REDUCING, *PRODUCTS, *PRODUCTS)
"""Names to draw from; ops whose fusion is most intricate are drawn most often."""

_ANY = st.integers(0, 1 << 20)
"""
Strategy that draws more evenly than a choice from a short list; the order of names differs in each
graph.
"""

_LARGEST = 50.0
"""Largest absolute value in a graph, so that an error in one value does not get lost in another."""

_MOST_ELEMENTS, _HIGHEST_RANK = 400, 4


class Node(NamedTuple):
    """One of `OPS`, with earlier values by position as operands."""

    op: str
    number: int
    operands: tuple[int, ...]


@dataclass(frozen=True)
class Graph:
    """Program of two tensors of floats and one of integers."""

    floats: tuple[Shape, Shape]
    integers: Shape
    nodes: tuple[Node, ...]
    results: tuple[int, ...]
    """Positions of the results, which may be inputs, or occur twice."""

    def __call__(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """Return the results in PyTorch."""
        return self.evaluated(_call, inputs)

    def exact(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """Return the results with all floats in float64."""
        return self.evaluated(_promoted_call, [_promoted(x) for x in inputs])

    def evaluated(self, run: Run, inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """Return the results, where `run` computes each overload."""
        values = [*inputs]
        for node in self.nodes:
            values.append(OPS[node.op](run, node.number, *(values[i] for i in node.operands)))
        return tuple(values[i] for i in self.results)

    def inputs(self) -> list[Tensor]:
        """Return values to run with, the same every time."""
        return _inputs(self.floats, self.integers)

    def torch_ir(self) -> ModuleOp:
        """Return the Torch IR that capture makes of the graph, in a tenth of the time."""
        return _Writer().written(self)


def _call(overload: Any, *args: Any, **kwargs: Any) -> Any:
    return overload(*args, **kwargs)


def _promoted_call(overload: Any, *args: Any, **kwargs: Any) -> Any:
    named = {name: _promoted(argument) for name, argument in kwargs.items()}
    result = overload(*map(_promoted, args), **named)
    return _promoted(result)


def _promoted(value: Any) -> Any:
    """Return a tensor of floats, or a floating dtype, as float64; anything else unchanged."""
    if isinstance(value, torch.dtype) and value.is_floating_point:
        return torch.float64
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return value.double()
    return value


def _inputs(floats: tuple[Shape, Shape], integers: Shape) -> list[Tensor]:
    generator = torch.Generator().manual_seed(0)
    tensors = [torch.randn(shape, generator=generator) for shape in floats]
    return [*tensors, torch.randint(-4, 9, integers, generator=generator)]


class _Writer:
    """Runs overloads, and records each call as an op of Torch IR."""

    def __init__(self):
        self.body = Block()
        self.values: dict[Tensor, SSAValue] = {}

    def written(self, graph: Graph) -> ModuleOp:
        """Return the whole graph as the function `@main` in a module."""
        inputs = graph.inputs()
        for position, tensor in enumerate(inputs):
            self.values[tensor] = self.body.insert_arg(types_of(tensor)[0], position)
        results = [self.values[tensor] for tensor in graph.evaluated(self.run, inputs)]
        self.body.add_op(ReturnOp(*results))
        signature = FunctionType.from_lists(self.body.arg_types, [value.type for value in results])
        return ModuleOp([FuncOp("main", signature, Region(self.body))])

    def run(self, overload: Any, *args: Any, **kwargs: Any) -> Any:
        """Call an overload, and record it; return new tensors, also for a view."""
        target = getattr(overload, "default", overload)
        op_class = op_of_call(target, args)
        assert op_class is not None, target
        result = overload(*args, **kwargs)
        several = isinstance(result, tuple | list)
        given = cast(Sequence[Tensor], result) if several else [cast(Tensor, result)]
        tensors = [tensor.view(tensor.shape) for tensor in given]
        shown = tensors if several else tensors[0]
        op = build_op(op_class, args, cast(Mapping[str, Any], kwargs), self.values, types_of(shown))
        self.body.add_op(op)
        self.values.update(zip(tensors, op.results, strict=True))
        return shown


@st.composite
def graphs(draw: DrawFn, least: int, most: int) -> Graph:
    """
    Return a graph of `least` to `most` ops; it has fewer where an op that is drawn fits no value.
    """
    size = st.sampled_from([1, 2, 3, 5, 8])
    first = tuple(draw(st.lists(size, min_size=1, max_size=3)))
    second = draw(st.sampled_from([first, first[::-1], first[-1:], (first[-1], 4), (1, *first)]))
    integers = tuple(draw(st.lists(size, min_size=1, max_size=2)))
    values = _inputs((first, second), integers)
    names = Random(draw(_ANY)).sample(NAMES, len(NAMES))
    nodes: list[Node] = []
    for _ in range(draw(st.integers(least, most))):
        if (found := draw(_nodes(names, values))) is not None:
            nodes.append(found[0])
            values.append(found[1])
    others = draw(st.lists(st.integers(0, len(values) - 1), max_size=3))
    return Graph((first, second), integers, tuple(nodes), (*others, len(values) - 1))


@st.composite
def _nodes(
    draw: DrawFn, names: Sequence[str], values: Sequence[Tensor]
) -> tuple[Node, Tensor] | None:
    """
    Return an op and its value; None if no operands among `values` fit. The last values are drawn
    more often.
    """
    op, number = names[draw(_ANY) % len(names)], draw(st.integers(0, 3))
    count = len(values)
    back = st.one_of(st.integers(1, min(count, 3)), st.integers(1, count))
    x = count - draw(back)
    candidates = [(x,)]
    if op in BINARY or op in PRODUCTS:
        y = draw(st.integers(0, count - 1))
        candidates = [(x, (y + i) % count) for i in range(count)]
    for operands in candidates:
        node = Node(op, number, operands)
        if (value := _value(node, values)) is not None:
            return node, value
    return None


def _value(node: Node, values: Sequence[Tensor]) -> Tensor | None:
    """Return the value of a node; None if PyTorch refuses the call, or the value is too large."""
    try:
        value = OPS[node.op](_call, node.number, *(values[i] for i in node.operands))
    except (RuntimeError, IndexError, ZeroDivisionError):
        return None
    if not 0 < value.numel() <= _MOST_ELEMENTS or not 0 < value.dim() <= _HIGHEST_RANK:
        return None
    return value if bool(value.double().abs().max() <= _LARGEST) else None
