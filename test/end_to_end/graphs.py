# SPDX-License-Identifier: Apache-2.0
"""Graphs of ops drawn at random: values with several readers, and several results."""

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
"""What is fused with most care is drawn most often."""

_ANY = st.integers(0, 1 << 20)
"""Drawn more evenly than the first of a few, which are in another order in each graph."""

_LARGEST = 50.0
"""No value is larger, so that an error in one of them is not lost in another."""

_MOST_ELEMENTS, _HIGHEST_RANK = 400, 4


class Node(NamedTuple):
    """One of `OPS`, of what is before it by position."""

    op: str
    number: int
    operands: tuple[int, ...]


@dataclass(frozen=True)
class Graph:
    """A program of two tensors of floats and one of integers."""

    floats: tuple[Shape, Shape]
    integers: Shape
    nodes: tuple[Node, ...]
    results: tuple[int, ...]
    """Positions, of inputs too, and some perhaps twice."""

    def __call__(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """What it computes."""
        return self.evaluated(_call, inputs)

    def exact(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """What it computes where every float has 64 bits."""
        return self.evaluated(_promoted_call, [_promoted(x) for x in inputs])

    def evaluated(self, run: Run, inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """Return the results as `run` makes them of overloads and tensors."""
        values = [*inputs]
        for node in self.nodes:
            values.append(OPS[node.op](run, node.number, *(values[i] for i in node.operands)))
        return tuple(values[i] for i in self.results)

    def inputs(self) -> list[Tensor]:
        """Values to run with, the same every time."""
        return _inputs(self.floats, self.integers)

    def torch_ir(self) -> ModuleOp:
        """What capture makes of it, in a tenth of the time."""
        return _Writer().written(self)


def _call(overload: Any, *args: Any, **kwargs: Any) -> Any:
    return overload(*args, **kwargs)


def _promoted_call(overload: Any, *args: Any, **kwargs: Any) -> Any:
    named = {name: _promoted(argument) for name, argument in kwargs.items()}
    result = overload(*map(_promoted, args), **named)
    return _promoted(result)


def _promoted(value: Any) -> Any:
    """Return a tensor of floats or their dtype, widened."""
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
    """Runs overloads, and writes each call down as an op of Torch IR."""

    def __init__(self):
        self.body = Block()
        self.values: dict[Tensor, SSAValue] = {}

    def written(self, graph: Graph) -> ModuleOp:
        """Return the whole graph as `@main`."""
        inputs = graph.inputs()
        for position, tensor in enumerate(inputs):
            self.values[tensor] = self.body.insert_arg(types_of(tensor)[0], position)
        results = [self.values[tensor] for tensor in graph.evaluated(self.run, inputs)]
        self.body.add_op(ReturnOp(*results))
        signature = FunctionType.from_lists(self.body.arg_types, [value.type for value in results])
        return ModuleOp([FuncOp("main", signature, Region(self.body))])

    def run(self, overload: Any, *args: Any, **kwargs: Any) -> Any:
        """Return a tensor or several, new ones for each call."""
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
    """Return a graph of at most so many ops; fewer where what is drawn does not fit together."""
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
    Return an op and its value; None where none of `values` fits. The last are read more often.
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
    """What the node gives; None if PyTorch refuses it, or it is too large."""
    try:
        value = OPS[node.op](_call, node.number, *(values[i] for i in node.operands))
    except (RuntimeError, IndexError, ZeroDivisionError):
        return None
    if not 0 < value.numel() <= _MOST_ELEMENTS or not 0 < value.dim() <= _HIGHEST_RANK:
        return None
    return value if bool(value.double().abs().max() <= _LARGEST) else None
