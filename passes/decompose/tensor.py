# SPDX-License-Identifier: Apache-2.0
"""
What decompositions compute with: tensors that emit Tensor IR as they are added, reduced, viewed.

    shifted = (input - input.max(dims).unsqueeze(dims)).exp()

Whatever is viewed, one `prim.index_map` says it, or none, and only where an element is used.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TypeVar, overload

from xdsl.dialects.builtin import (
    TensorType,
    bf16,
    f16,
    f32,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from tilewright.dialects import prim
from tilewright.dialects.element_types import FLOATS, compute_type
from tilewright.dialects.index import (
    Range,
    linearize,
    simplify_map,
)
from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.dialects.number import Number, number_attribute
from tilewright.dialects.prim import ScalarFunction, Source
from tilewright.dialects.torch_op import Scalar, python_value
from tilewright.dialects.torch_shapes import broadcast
from tilewright.dialects.types import element_of, shape_of
from tilewright.passes.decompose.view import Shape, View, axes_of

_Op = TypeVar("_Op", bound=Operation)


class Emitter:
    """
    The Tensor IR that takes the place of one op, in the order in which it is computed.

    `common` is the type that ATen casts operands to, before it computes in `type`, which is wide
    enough for arithmetic.
    """

    def __init__(self, op: Operation, common: Attribute):
        self.op = op
        self.common = common
        self.type = compute_type(common)
        self.ops: list[Operation] = []

    @overload
    def __call__(self, argument: SSAValue) -> "Tensor": ...

    @overload
    def __call__(self, argument: Scalar) -> Number: ...

    def __call__(self, argument: SSAValue | Scalar) -> "Tensor | Number":
        """An argument of the op, to compute with: a tensor is cast to the compute type."""
        if isinstance(argument, SSAValue):
            return self.stored(argument).cast(self.common).cast(self.type)
        # An i1 holds true as -1, which `python_value` knows.
        number = python_value(argument)
        assert isinstance(number, int | float)
        return number

    def stored(self, value: SSAValue) -> "Tensor":
        """A value in the IR as a tensor, of the type that it has."""
        shape = shape_of(value)
        return Tensor(value, shape, AffineMap.identity(len(shape)), self)

    def constant(self, value: Number, shape: Shape, type: Attribute | None = None) -> "Tensor":
        """A tensor of one value of `type` (the compute type if none is given)."""
        type = self.type if type is None else type
        return self.result(prim.ConstantOp(number_attribute(value, type), TensorType(type, shape)))

    def iota(self, shape: Shape, dim: int, type: Attribute = i64) -> "Tensor":
        """Each element's position along `dim`."""
        return self.positions(axes_of(len(shape))[dim], shape, type)

    def positions(self, expr: AffineExpr, shape: Shape, type: Attribute = i64) -> "Tensor":
        """An affine expression of each element's coordinates."""
        map = AffineMap(len(shape), 0, (expr,))
        return self.result(prim.IotaOp(map, TensorType(type, shape)))

    def predicate(self, bounds: Sequence[AffineExpr], shape: Shape) -> "Tensor":
        """An i1: whether all `bounds`, expressions of the coordinates, are at least 0."""
        return self.result(prim.PredicateOp(AffineMap(len(shape), 0, tuple(bounds)), shape))

    def result(self, op: Operation) -> "Tensor":
        """Emit an op; its first result."""
        return self.stored(self.add(op).results[0])

    def add(self, op: _Op) -> _Op:
        """Emit an op under the name and the location of the one that it replaces."""
        op.location = self.op.location
        for result in op.results:
            result.name_hint = self.op.results[0].name_hint
        self.ops.append(op)
        return op


@dataclass(frozen=True)
class Tensor(View):
    """A view whose elements can be computed with, in ops that `emit` takes."""

    emit: Emitter

    @cached_property
    def value(self) -> SSAValue:
        """This tensor in the IR."""
        ranges = [Range.extent(size) for size in self.shape]
        map = simplify_map(self.map, ranges)
        identity = simplify_map(AffineMap.identity(len(self.shape)), ranges)
        if self.shape == shape_of(self.source) and map == identity:
            return self.source
        op = prim.IndexMapOp([Source.always(self.source, map)], self.shape)
        return self.emit.add(op).result

    @property
    def element(self) -> Attribute:
        """The element type."""
        return element_of(self.source)

    @property
    def is_float(self) -> bool:
        """Whether elements are floats, of any width."""
        return self.element in FLOATS

    # --- Elementwise -------------------------------------------------------------------------

    def cast(self, element: Attribute) -> "Tensor":
        """The same values in another type; from and to half types by way of f32, as in PyTorch."""
        if element == self.element:
            return self
        is_half, was_half = element in (f16, bf16), self.element in (f16, bf16)
        if is_half != was_half and f32 not in (element, self.element):
            return self.cast(f32).cast(element)
        op = prim.ElementwiseOp(ScalarFunction.CAST, [self.value], element)
        return self.emit.result(op)

    def __add__(self, other: "Tensor | Number") -> "Tensor":
        return elementwise(ScalarFunction.ADD, self, other)

    def __sub__(self, other: "Tensor | Number") -> "Tensor":
        return elementwise(ScalarFunction.SUB, self, other)

    def __mul__(self, other: "Tensor | Number") -> "Tensor":
        return elementwise(ScalarFunction.MUL, self, other)

    def __truediv__(self, other: "Tensor | Number") -> "Tensor":
        return elementwise(ScalarFunction.DIV, self, other)

    def __and__(self, other: "Tensor | Number") -> "Tensor":
        return elementwise(ScalarFunction.AND, self, other)

    def __or__(self, other: "Tensor | Number") -> "Tensor":
        return elementwise(ScalarFunction.OR, self, other)

    def __radd__(self, other: Number) -> "Tensor":
        return elementwise(ScalarFunction.ADD, other, self)

    def __rsub__(self, other: Number) -> "Tensor":
        return elementwise(ScalarFunction.SUB, other, self)

    def __rmul__(self, other: Number) -> "Tensor":
        return elementwise(ScalarFunction.MUL, other, self)

    def __rtruediv__(self, other: Number) -> "Tensor":
        return elementwise(ScalarFunction.DIV, other, self)

    def __neg__(self) -> "Tensor":
        return elementwise(ScalarFunction.NEG, self)

    def __lt__(self, other: "Tensor | Number") -> "Tensor":
        return elementwise(ScalarFunction.LT, self, other)

    def __le__(self, other: "Tensor | Number") -> "Tensor":
        return elementwise(ScalarFunction.LE, self, other)

    def __gt__(self, other: "Tensor | Number") -> "Tensor":
        return elementwise(ScalarFunction.GT, self, other)

    def __ge__(self, other: "Tensor | Number") -> "Tensor":
        return elementwise(ScalarFunction.GE, self, other)

    def equals(self, other: "Tensor | Number") -> "Tensor":
        """Where both are equal (`==` compares `Tensor`s themselves)."""
        return elementwise(ScalarFunction.EQ, self, other)

    def differs(self, other: "Tensor | Number") -> "Tensor":
        """Where they are not equal, NaN included."""
        return elementwise(ScalarFunction.NE, self, other)

    def is_nan(self) -> "Tensor":
        """Where an element is NaN."""
        return self.differs(self)

    def is_true(self) -> "Tensor":
        """Where an element is not 0."""
        return self if self.element == i1 else self.differs(0)

    def logical_not(self) -> "Tensor":
        """The opposite of an i1."""
        return elementwise(ScalarFunction.XOR, self, 1)

    def where(self, then: "Tensor | Number", otherwise: "Tensor | Number") -> "Tensor":
        """`then` where I, an i1, am true, else `otherwise`; at least one of them a tensor."""
        return elementwise(ScalarFunction.SELECT, self, then, otherwise)

    def abs(self) -> "Tensor":
        """The absolute value of each element."""
        return elementwise(ScalarFunction.ABS, self)

    def exp(self) -> "Tensor":
        """e to the power of each element."""
        return elementwise(ScalarFunction.EXP, self)

    def log(self) -> "Tensor":
        """The natural logarithm of each element."""
        return elementwise(ScalarFunction.LOG, self)

    def sqrt(self) -> "Tensor":
        """The square root of each element."""
        return elementwise(ScalarFunction.SQRT, self)

    def rsqrt(self) -> "Tensor":
        """1 / sqrt of each element."""
        return elementwise(ScalarFunction.RSQRT, self)

    def maximum(self, other: "Tensor | Number") -> "Tensor":
        """The larger of both; NaN if either is."""
        return elementwise(ScalarFunction.MAXIMUM, self, other)

    def minimum(self, other: "Tensor | Number") -> "Tensor":
        """The smaller of both; NaN if either is."""
        return elementwise(ScalarFunction.MINIMUM, self, other)

    # --- Reductions, which drop the dimensions that they reduce ------------------------------

    def reduce(self, monoid: Monoid, dims: Sequence[int]) -> "Tensor":
        """Fold `dims`, ascending, with `monoid`."""
        if not dims:
            return self
        op = self.emit.add(prim.ReduceOp(MonoidAttr(monoid), [self.value], dims))
        return self.emit.stored(op.results[0])

    def arg_reduce(self, monoid: Monoid, dims: Sequence[int]) -> tuple["Tensor", "Tensor"]:
        """
        The extreme along `dims`, ascending, and its row-major position within them, an i64;
        `monoid` is argmax or argmin.
        """
        axes = axes_of(self.rank)
        position = linearize([axes[dim] for dim in dims], [self.shape[dim] for dim in dims])
        pairs = [self.value, self.emit.positions(position, self.shape).value]
        op = self.emit.add(prim.ReduceOp(MonoidAttr(monoid), pairs, dims))
        return self.emit.stored(op.results[0]), self.emit.stored(op.results[1])

    def scan(self, monoid: Monoid, dim: int) -> "Tensor":
        """Each element joined with all before it along `dim`."""
        return self.emit.result(prim.ScanOp(MonoidAttr(monoid), [self.value], dim))

    def sum(self, dims: Sequence[int]) -> "Tensor":
        """The sum along `dims`."""
        return self.reduce(Monoid.ADD, dims)

    def max(self, dims: Sequence[int]) -> "Tensor":
        """The largest element along `dims`."""
        return self.reduce(Monoid.MAX, dims)

    def mean(self, dims: Sequence[int]) -> "Tensor":
        """The mean along `dims`; NaN where they are empty."""
        return self.sum(dims) / float(prod(self.shape[dim] for dim in dims))


def elementwise(function: ScalarFunction, *arguments: Tensor | Number) -> Tensor:
    """
    `function` of the elements of `arguments`, broadcast to one shape. A number is of the type of
    the tensors, of which there is at least one (beside the condition of a `select`).
    """
    tensors = [argument for argument in arguments if isinstance(argument, Tensor)]
    emit, shape, type = tensors[0].emit, broadcast(*(t.shape for t in tensors)), tensors[-1].element
    values = [
        a.broadcast(shape).value if isinstance(a, Tensor) else emit.constant(a, shape, type).value
        for a in arguments
    ]
    result = i1 if function.is_comparison else type
    return emit.result(prim.ElementwiseOp(function, values, result))


@overload
def scaled(number: Tensor, factor: Number) -> Tensor: ...


@overload
def scaled(number: Number, factor: Number) -> Number: ...


def scaled(number: Tensor | Number, factor: Number) -> Tensor | Number:
    """`number * factor`, without a multiplication by one."""
    return number if factor == 1 else number * factor
