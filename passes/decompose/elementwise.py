# SPDX-License-Identifier: Apache-2.0
"""
Elementwise arithmetic on tensors, whose operators emit Tensor IR.

    softplus = (x.exp() + 1.0).log()

A view emits at most one `prim.index_map`, and only when its elements are used.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, TypeVar, overload

from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import bf16, f16, f32, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineMap

from tilewright.dialects import prim
from tilewright.dialects.element_types import FLOATS, Number, number_attribute
from tilewright.dialects.index import Range, simplify_map
from tilewright.dialects.prim import ScalarFunction, Source
from tilewright.dialects.torch.shapes import broadcast
from tilewright.dialects.types import element_of, shape_of, tensor_of
from tilewright.passes.decompose.view import Shape, View

_Elements = TypeVar("_Elements", bound="Elements")
_Op = TypeVar("_Op", bound=Operation)


class Emission:
    """Ops that replace the op `op`, in the order in which they are computed."""

    def __init__(self, op: Operation):
        self.op = op
        self.ops: list[Operation] = []

    def add(self, op: _Op) -> _Op:
        """Emit an op with the name and the location of the op that it replaces."""
        op.location = self.op.location
        for result in op.results:
            result.name_hint = self.op.results[0].name_hint
        self.ops.append(op)
        return op

    def splat(self, value: Number, shape: Shape, type: Attribute) -> SSAValue:
        """Return a tensor whose elements are all `value`."""
        op = prim.ConstantOp(number_attribute(value, type), tensor_of(type, shape))
        return self.add(op).results[0]


@dataclass(frozen=True)
class Elements(View):
    """View whose elements can be computed with, one by one; the ops are added to `emit`."""

    emit: Emission

    @cached_property
    def value(self) -> SSAValue:
        """Value of this tensor in the IR; reading it may emit an index map."""
        identity = AffineMap.identity(len(self.shape))
        is_whole = self.shape == shape_of(self.source)
        if is_whole and self.map == identity:
            return self.source
        ranges = [Range.extent(size) for size in self.shape]
        map = simplify_map(self.map, ranges)
        if is_whole and map == simplify_map(identity, ranges):
            return self.source
        op = prim.IndexMapOp([Source.always(self.source, map)], self.shape)
        return self.emit.add(op).result

    @property
    def element(self) -> Attribute:
        """Type of the elements."""
        return element_of(self.source)

    @property
    def is_float(self) -> bool:
        """True if elements are floats, of any width."""
        return self.element in FLOATS

    def computed(self, op: Operation) -> Self:
        """Emit `op` and return its first result."""
        result = self.emit.add(op).results[0]
        shape = shape_of(result)
        return replace(self, source=result, shape=shape, map=AffineMap.identity(len(shape)))

    def cast(self, element: Attribute) -> Self:
        """
        Return the elements converted to another type; conversions from and to half types go through
        f32, as in PyTorch.
        """
        if element == self.element:
            return self
        is_half, was_half = element in (f16, bf16), self.element in (f16, bf16)
        if is_half != was_half and f32 not in (element, self.element):
            return self.cast(f32).cast(element)
        op = prim.ElementwiseOp(ScalarFunction.CAST, [self.value], element)
        return self.computed(op)

    def __add__(self, other: Self | Number) -> Self:
        return elementwise(ScalarFunction.ADD, self, other)

    def __sub__(self, other: Self | Number) -> Self:
        return elementwise(ScalarFunction.SUB, self, other)

    def __mul__(self, other: Self | Number) -> Self:
        return elementwise(ScalarFunction.MUL, self, other)

    def __truediv__(self, other: Self | Number) -> Self:
        return elementwise(ScalarFunction.DIV, self, other)

    def __and__(self, other: Self | Number) -> Self:
        return elementwise(ScalarFunction.AND, self, other)

    def __or__(self, other: Self | Number) -> Self:
        return elementwise(ScalarFunction.OR, self, other)

    def __radd__(self, other: Number) -> Self:
        return elementwise(ScalarFunction.ADD, other, self)

    def __rsub__(self, other: Number) -> Self:
        return elementwise(ScalarFunction.SUB, other, self)

    def __rmul__(self, other: Number) -> Self:
        return elementwise(ScalarFunction.MUL, other, self)

    def __rtruediv__(self, other: Number) -> Self:
        return elementwise(ScalarFunction.DIV, other, self)

    def __neg__(self) -> Self:
        return elementwise(ScalarFunction.NEG, self)

    def __lt__(self, other: Self | Number) -> Self:
        return elementwise(ScalarFunction.LT, self, other)

    def __le__(self, other: Self | Number) -> Self:
        return elementwise(ScalarFunction.LE, self, other)

    def __gt__(self, other: Self | Number) -> Self:
        return elementwise(ScalarFunction.GT, self, other)

    def __ge__(self, other: Self | Number) -> Self:
        return elementwise(ScalarFunction.GE, self, other)

    def equals(self, other: Self | Number) -> Self:
        """Return bools that are true where both are equal (`==` compares `Tensor` objects)."""
        return elementwise(ScalarFunction.EQ, self, other)

    def differs(self, other: Self | Number) -> Self:
        """Return bools that are true where both differ, which includes NaN."""
        return elementwise(ScalarFunction.NE, self, other)

    def is_nan(self) -> Self:
        """Return bools that are true where an element is NaN."""
        return self.differs(self)

    def is_true(self) -> Self:
        """Return bools that are true where an element is not 0."""
        return self if self.element == i1 else self.differs(0)

    def logical_not(self) -> Self:
        """Return the opposite of each element of a tensor of bools."""
        return elementwise(ScalarFunction.XOR, self, 1)

    def where(self, then: Self | Number, otherwise: Self | Number) -> Self:
        """
        Return `then` where this tensor of bools is true, else `otherwise`; at least one of them is
        a tensor.
        """
        return elementwise(ScalarFunction.SELECT, self, then, otherwise)

    def abs(self) -> Self:
        """Return the absolute value of each element."""
        return elementwise(ScalarFunction.ABS, self)

    def exp(self) -> Self:
        """Return e to the power of each element."""
        return elementwise(ScalarFunction.EXP, self)

    def log(self) -> Self:
        """Return the natural logarithm of each element."""
        return elementwise(ScalarFunction.LOG, self)

    def sqrt(self) -> Self:
        """Return the square root of each element."""
        return elementwise(ScalarFunction.SQRT, self)

    def rsqrt(self) -> Self:
        """Return 1 / sqrt of each element."""
        return elementwise(ScalarFunction.RSQRT, self)

    def maximum(self, other: Self | Number) -> Self:
        """Return the larger of both elements; NaN if either is NaN."""
        return elementwise(ScalarFunction.MAXIMUM, self, other)

    def minimum(self, other: Self | Number) -> Self:
        """Return the smaller of both elements; NaN if either is NaN."""
        return elementwise(ScalarFunction.MINIMUM, self, other)


def elementwise(
    function: ScalarFunction,
    *arguments: _Elements | Number,
    fastmath: FastMathFlagsAttr | None = None,
) -> _Elements:
    """
    Return `function` of the elements of `arguments`, broadcast to one shape. Numbers take the type
    of the tensors. At least one argument is a tensor, not counting the condition of a `select`.
    """
    tensors = [argument for argument in arguments if not isinstance(argument, int | float)]
    emit, shape, type = tensors[0].emit, broadcast(*(t.shape for t in tensors)), tensors[-1].element
    values = [
        emit.splat(a, shape, type) if isinstance(a, int | float) else a.broadcast(shape).value
        for a in arguments
    ]
    result = i1 if function.is_comparison else type
    return tensors[0].computed(prim.ElementwiseOp(function, values, result, fastmath))


@overload
def scaled(number: _Elements, factor: Number) -> _Elements: ...


@overload
def scaled(number: Number, factor: Number) -> Number: ...


def scaled(number: _Elements | Number, factor: Number) -> _Elements | Number:
    """Return `number * factor`, without a multiplication if the factor is 1."""
    return number if factor == 1 else number * factor
