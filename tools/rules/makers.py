# SPDX-License-Identifier: Apache-2.0
"""Random ops of Tensor IR with a result of a given type; their operands are drawn by a grower."""

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Protocol

from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import TensorType, i1, i32, i64
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from tilewright.dialects import prim
from tilewright.dialects.element_types import COMPUTE_FLOATS, FLOATS, number_attribute
from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.dialects.scalar_function import ScalarFunction
from tilewright.dialects.types import tensor_of
from tilewright.tools.rules.functions import calls_of, monoids_of
from tilewright.tools.rules.hints import Hints
from tilewright.tools.rules.maps import moved_to

_SIZES = (1, 2, 3, 3, 4)
_NO_NANS = FastMathFlagsAttr([FastMathFlag.NO_NANS, FastMathFlag.NO_INFS])


class Grower(Protocol):
    """Builder of a program that grows from its root towards the arguments."""

    random: Random
    hints: Hints

    def value(self, type: TensorType[Attribute], depth: int) -> SSAValue:
        """Return a value of a type, with at most `depth` ops on a path to an argument."""
        ...

    def number(self, element: Attribute) -> float:
        """Return a number for a constant."""
        ...

    def add(self, op: Operation) -> Operation:
        """Add an op to the end of the program, and return it."""
        ...


Maker = Callable[[Grower, TensorType[Attribute], int], Operation | None]
"""Function that returns an op with a result of a type and operands of a depth, or None."""


def _elementwise(grower: Grower, type: TensorType[Attribute], depth: int) -> Operation | None:
    calls = calls_of(type.element_type)
    mentioned = [each for each in grower.hints.functions if each in calls]
    is_mentioned = bool(mentioned) and grower.random.random() < 0.85
    known = calls[grower.random.choice(mentioned if is_mentioned else [*calls])]
    like = [call for call in known if grower.hints.elements.keys() & {*call[1]}]
    is_like = bool(like) and grower.random.random() < 0.5
    function, elements = grower.random.choice(like if is_like else known)
    inputs = [grower.value(tensor_of(each, type.get_shape()), depth) for each in elements]
    is_product = function is ScalarFunction.MUL and type.element_type in COMPUTE_FLOATS
    flags = _NO_NANS if is_product and grower.random.random() < 0.05 else None
    return prim.ElementwiseOp(function, inputs, type.element_type, flags)


def _constant(grower: Grower, type: TensorType[Attribute], depth: int) -> prim.ConstantOp:
    number = grower.number(type.element_type)
    whole = number if type.element_type in FLOATS else int(number)
    return prim.ConstantOp(number_attribute(whole, type.element_type), type)


def _index_map(grower: Grower, type: TensorType[Attribute], depth: int) -> Operation | None:
    shape = type.get_shape()
    moves = moved_to(shape, grower.random)
    sources = [
        prim.Source(grower.value(tensor_of(type.element_type, each.shape), depth), *each.maps)
        for each in moves
    ]
    fill = None
    if sources[-1].mask.results:
        number = grower.random.choice((0, 1))
        fill = number_attribute(number, type.element_type)
    return prim.IndexMapOp(sources, shape, fill)


def _monoid(grower: Grower, element: Attribute) -> Monoid | None:
    known = monoids_of(element)
    mentioned = [each for each in grower.hints.monoids if each in known]
    is_mentioned = bool(mentioned) and grower.random.random() < 0.85
    return grower.random.choice(mentioned if is_mentioned else known) if known else None


def _reduce(grower: Grower, type: TensorType[Attribute], depth: int) -> Operation | None:
    random, shape = grower.random, list(type.get_shape())
    if (monoid := _monoid(grower, type.element_type)) is None or len(shape) > 3:
        return None
    dims: list[int] = []
    for _ in range(random.choice((1, 1, 2))):
        dim = random.randint(0, len(shape))
        dims = sorted([*(d + (d >= dim) for d in dims), dim])
        shape.insert(dim, random.choice(_SIZES))
    value = grower.value(tensor_of(type.element_type, tuple(shape)), depth)
    return prim.ReduceOp(MonoidAttr(monoid), [value], dims)


def _scan(grower: Grower, type: TensorType[Attribute], depth: int) -> Operation | None:
    monoid, rank = _monoid(grower, type.element_type), len(type.get_shape())
    if monoid is None or rank == 0:
        return None
    value = grower.value(type, depth)
    return prim.ScanOp(MonoidAttr(monoid), [value], grower.random.randrange(rank))


def _positions(grower: Grower, shape: Sequence[int]) -> AffineExpr:
    random = grower.random
    expr = AffineExpr.constant(random.randint(-1, 2))
    for dim in range(len(shape)):
        expr = expr + AffineExpr.dimension(dim) * random.choice((0, 1, 1, -1, 2))
    return expr


def _iota(grower: Grower, type: TensorType[Attribute], depth: int) -> Operation | None:
    if type.element_type not in (i32, i64):
        return None
    shape = type.get_shape()
    return prim.IotaOp(AffineMap(len(shape), 0, (_positions(grower, shape),)), type)


def _predicate(grower: Grower, type: TensorType[Attribute], depth: int) -> Operation | None:
    if type.element_type != i1:
        return None
    shape = type.get_shape()
    exprs = tuple(_positions(grower, shape) for _ in range(grower.random.choice((1, 1, 2))))
    return prim.PredicateOp(AffineMap(len(shape), 0, exprs), shape)


def _subscripts(grower: Grower, shape: Sequence[int], size: int) -> SSAValue | None:
    """Return a tensor of subscripts within an axis of `size`, which an iota makes."""
    if not shape or 0 in shape:
        return None
    dim = grower.random.randrange(len(shape))
    expr = AffineExpr.dimension(dim) % size
    op = prim.IotaOp(AffineMap(len(shape), 0, (expr,)), tensor_of(i64, tuple(shape)))
    return grower.add(op).results[0]


def _gather(grower: Grower, type: TensorType[Attribute], depth: int) -> Operation | None:
    shape, size = type.get_shape(), grower.random.choice(_SIZES)
    if (index := _subscripts(grower, shape, size)) is None:
        return None
    rest = [AffineExpr.dimension(dim) for dim in range(1, len(shape))]
    source = grower.value(tensor_of(type.element_type, (size, *shape[1:])), depth)
    map = AffineMap(len(shape), 1, (AffineExpr.symbol(0), *rest))
    return prim.GatherOp(source, [index], map, shape)


def _scatter(grower: Grower, type: TensorType[Attribute], depth: int) -> Operation | None:
    shape = type.get_shape()
    if not shape or 0 in shape:
        return None
    steps = (grower.random.choice(_SIZES), *shape[1:])
    if (index := _subscripts(grower, steps, shape[0])) is None:
        return None
    updates = grower.value(tensor_of(type.element_type, steps), depth)
    base = grower.value(type, depth)
    rest = [AffineExpr.dimension(dim) for dim in range(1, len(shape))]
    map = AffineMap(len(shape), 1, (AffineExpr.symbol(0), *rest))
    monoid = _monoid(grower, type.element_type) if grower.random.random() < 0.7 else None
    return prim.ScatterOp(
        updates, base, [index], map, None if monoid is None else MonoidAttr(monoid)
    )


MAKERS: Mapping[type[Operation], Maker] = {
    prim.ElementwiseOp: _elementwise,
    prim.IndexMapOp: _index_map,
    prim.ReduceOp: _reduce,
    prim.ConstantOp: _constant,
    prim.ScanOp: _scan,
    prim.IotaOp: _iota,
    prim.PredicateOp: _predicate,
    prim.GatherOp: _gather,
    prim.ScatterOp: _scatter,
}
"""Function that makes an op of each class."""
