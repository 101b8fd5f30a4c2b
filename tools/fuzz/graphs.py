# SPDX-License-Identifier: Apache-2.0
"""Random graphs of ops, with values that have several readers, and with several results."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from random import Random
from typing import Any, NamedTuple, cast

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from tilewright.frontend.aten import build_op, op_of_call, types_of
from tilewright.tools.fuzz.graph_ops import BINARY, OPS, PRODUCTS, REDUCING, WINDOWED, Run

Tensor = Any
Shape = tuple[int, ...]

NAMES = (*OPS, *REDUCING, *WINDOWED, *PRODUCTS, *PRODUCTS)
"""Names to draw from; ops whose fusion is most intricate are drawn most often."""

_LARGEST = 50.0
"""Largest absolute value in a graph, so that an error in one value does not get lost in another."""

_HIGHEST_RANK = 4


class Input(NamedTuple):
    """Shape of an input, and its dtype by PyTorch's name."""

    shape: Shape
    dtype: str = "float32"


class Sizes(NamedTuple):
    """Sizes of axes to draw, and the most elements of a value."""

    axes: tuple[int, ...] = (1, 2, 3, 5, 8)
    elements: int = 400


class Node(NamedTuple):
    """One of `OPS`, with earlier values by position as operands."""

    op: str
    number: int
    operands: tuple[int, ...]


@dataclass(frozen=True)
class Graph:
    """Program of two tensors of floats and one of integers."""

    inputs: tuple[Input, ...]
    nodes: tuple[Node, ...]
    results: tuple[int, ...]
    """Positions of the results, which may be inputs, or occur twice."""

    def __call__(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """Return the results in PyTorch."""
        return self.evaluated(call, inputs)

    def exact(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """Return the results with all floats in float64."""
        return self.evaluated(_promoted_call, [_promoted(x) for x in inputs])

    def evaluated(self, run: Run, inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """Return the results, where `run` computes each overload."""
        values = [*inputs, *self.values(run, inputs)]
        return tuple(values[i] for i in self.results)

    def values(self, run: Run, inputs: Sequence[Tensor]) -> Iterator[Tensor]:
        """Yield the value of each node, where `run` computes each overload."""
        values = [*inputs]
        for node in self.nodes:
            values.append(value_of(node, values, run))
            yield values[-1]

    def tensors(self) -> list[Tensor]:
        """Return inputs to run with, the same every time."""
        return tensors_of(self.inputs)

    def torch_ir(self) -> ModuleOp:
        """Return the Torch IR that capture makes of the graph, in a tenth of the time."""
        return _Writer().written(self)


def call(overload: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the result of an overload."""
    return overload(*args, **kwargs)


def _promoted_call(overload: Any, *args: Any, **kwargs: Any) -> Any:
    named = {name: _promoted(argument) for name, argument in kwargs.items()}
    result = overload(*map(_promoted, args), **named)
    return _promoted(result)


def _promoted(value: Any) -> Any:
    """Return a tensor of floats, or a floating dtype, as float64; anything else unchanged."""
    import torch

    if isinstance(value, torch.dtype) and value.is_floating_point:
        return torch.float64
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return value.double()
    return value


def tensors_of(inputs: Sequence[Input]) -> list[Tensor]:
    """Return random tensors of the inputs, the same every time."""
    import torch

    generator = torch.Generator().manual_seed(0)
    return [_tensor(*input, generator) for input in inputs]


def _tensor(shape: Shape, dtype: str, generator: Any) -> Tensor:
    import torch

    kind: torch.dtype = getattr(torch, dtype)
    if kind.is_floating_point:
        return torch.randn(shape, generator=generator).to(kind)
    least, end = (-4, 9) if kind.is_signed else (0, 9)
    values = torch.randint(least, end, shape, generator=generator)
    return (values > 2 if kind is torch.bool else values).to(kind)


class _Writer:
    """Runs overloads, and records each call as an op of Torch IR."""

    def __init__(self):
        self.body = Block()
        self.values: dict[Tensor, SSAValue] = {}

    def written(self, graph: Graph) -> ModuleOp:
        """Return the whole graph as the function `@main` in a module."""
        inputs = graph.tensors()
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
        given = cast(Sequence[Tensor], result) if several else [result]
        tensors = [tensor.view(tensor.shape) for tensor in given]
        shown = tensors if several else tensors[0]
        op = build_op(op_class, args, cast(Mapping[str, Any], kwargs), self.values, types_of(shown))
        self.body.add_op(op)
        self.values.update(zip(tensors, op.results, strict=True))
        return shown


def random_graph(
    random: Random,
    least: int,
    most: int,
    sizes: Sizes = Sizes(),
    dtypes: Sequence[tuple[str, str, str]] = (("float32", "float32", "int64"),),
) -> Graph:
    """
    Return a graph of `least` to `most` ops; it has fewer where an op that is drawn fits no value.
    `dtypes` are those of the inputs, of which one row is drawn.
    """
    first = tuple(random.choices(sizes.axes, k=random.randint(1, 3)))
    while prod(first) > sizes.elements:
        first = first[1:]
    second = random.choice([first, first[::-1], first[-1:], (first[-1], 4), (1, *first)])
    integers = tuple(random.choices(sizes.axes, k=random.randint(1, 2)))
    shapes = (first, second, integers)
    inputs = tuple(map(Input, shapes, random.choice(dtypes)))
    values = tensors_of(inputs)
    names = Random(random.randint(0, 1 << 20)).sample(NAMES, len(NAMES))
    nodes = list[Node]()
    for _ in range(random.randint(least, most)):
        if (found := _node(random, names, values, sizes.elements)) is not None:
            nodes.append(found[0])
            values.append(found[1])
    others = [random.randrange(len(values)) for _ in range(random.randint(0, 3))]
    return Graph(inputs, tuple(nodes), (*others, len(values) - 1))


def _node(
    random: Random, names: Sequence[str], values: Sequence[Tensor], most: int
) -> tuple[Node, Tensor] | None:
    """
    Return an op and its value; None if no operands among `values` fit. The last values are drawn
    more often.
    """
    op, number = random.choice(names), random.randint(0, 3)
    count = len(values)
    back = random.randint(1, min(count, 3) if random.randint(0, 1) else count)
    x = count - back
    candidates = [(x,)]
    if op in BINARY or op in PRODUCTS:
        y = random.randrange(count)
        candidates = [(x, (y + i) % count) for i in range(count)]
    for operands in candidates:
        node = Node(op, number, operands)
        if (value := fitting_value(node, values, most)) is not None:
            return node, value
    return None


def value_of(node: Node, values: Sequence[Tensor], run: Run) -> Tensor:
    """Return the value of a node, where `run` computes each overload."""
    return OPS[node.op](run, node.number, *(values[i] for i in node.operands))


def fitting_value(node: Node, values: Sequence[Tensor], most: int) -> Tensor | None:
    """Return the value of a node; None if PyTorch refuses the call, or the value is too large."""
    try:
        value = value_of(node, values, call)
    except (RuntimeError, IndexError, KeyError, ZeroDivisionError):
        return None
    if not 0 < value.numel() <= most or not 0 < value.dim() <= _HIGHEST_RANK:
        return None
    return value if bool(value.double().abs().max() <= _LARGEST) else None
