# SPDX-License-Identifier: Apache-2.0
"""
Tensors that decompositions compute with, which emit Tensor IR as they are added, reduced and
viewed.

    shifted = (input - input.max(dims).unsqueeze(dims)).exp()

`view.py` has views, and `elementwise.py` arithmetic. This file adds reductions and scans, and
creates tensors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import overload

from xdsl.dialects.builtin import TensorType, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from tilewright.dialects import prim
from tilewright.dialects.element_types import Number, compute_type
from tilewright.dialects.index import Range, linearize, range_of
from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.dialects.torch.op import Scalar, python_value
from tilewright.dialects.types import shape_of
from tilewright.passes.decompose.elementwise import Elements, Emission
from tilewright.passes.decompose.view import Shape, axes_of


class Emitter(Emission):
    """
    Tensor IR that replaces one op, in the order in which it is computed.

    `common` is the type that ATen casts operands to. `type` is the type of computation, which is
    wide enough for arithmetic.
    """

    def __init__(self, op: Operation, common: Attribute):
        super().__init__(op)
        self.common = common
        self.type = compute_type(common)

    @overload
    def __call__(self, argument: SSAValue) -> "Tensor": ...

    @overload
    def __call__(self, argument: Scalar) -> Number: ...

    def __call__(self, argument: SSAValue | Scalar) -> "Tensor | Number":
        """
        Return an argument of the op to compute with; a tensor is cast to the type of computation.
        """
        if isinstance(argument, SSAValue):
            return self.stored(argument).cast(self.common).cast(self.type)
        # An i1 stores true as -1; `python_value` handles that.
        number = python_value(argument)
        assert isinstance(number, int | float)
        return number

    def stored(self, value: SSAValue) -> "Tensor":
        """Return a value in the IR as a tensor of its own type."""
        shape = shape_of(value)
        return Tensor(value, shape, AffineMap.identity(len(shape)), self)

    def constant(self, value: Number, shape: Shape, type: Attribute | None = None) -> "Tensor":
        """
        Return a tensor of one value; its type is the type of computation if `type` is not given.
        """
        return self.stored(self.splat(value, shape, self.type if type is None else type))

    def iota(self, shape: Shape, dim: int, type: Attribute = i64) -> "Tensor":
        """Return the position of each element along `dim`."""
        return self.positions(axes_of(len(shape))[dim], shape, type)

    def positions(self, expr: AffineExpr, shape: Shape, type: Attribute = i64) -> "Tensor":
        """
        Return the value of an affine expression of each element's coordinates; it may be constant.
        """
        known = range_of(expr, [Range.extent(size) for size in shape])
        if known is not None and known.low == known.high:
            return self.constant(known.low, shape, type)
        map = AffineMap(len(shape), 0, (expr,))
        return self.result(prim.IotaOp(map, TensorType(type, shape)))

    def predicate(self, bounds: Sequence[AffineExpr], shape: Shape) -> "Tensor":
        """
        Return bools that are true where all `bounds`, expressions of the coordinates, are at least
        0.
        """
        return self.result(prim.PredicateOp(AffineMap(len(shape), 0, tuple(bounds)), shape))

    def result(self, op: Operation) -> "Tensor":
        """Emit an op and return its first result."""
        return self.stored(self.add(op).results[0])


@dataclass(frozen=True)
class Tensor(Elements):
    """Tensor that can be computed with; a reduction drops the dimensions that it reduces."""

    emit: Emitter

    def reduce(self, monoid: Monoid, dims: Sequence[int]) -> "Tensor":
        """Return the tensor reduced by `monoid` along `dims`, which are ascending."""
        if not dims:
            return self
        op = self.emit.add(prim.ReduceOp(MonoidAttr(monoid), [self.value], dims))
        return self.emit.stored(op.results[0])

    def arg_reduce(self, monoid: Monoid, dims: Sequence[int]) -> tuple["Tensor", "Tensor"]:
        """
        Return the largest (argmax) or smallest (argmin) element along `dims`, which are ascending.
        The second result is its row-major position within `dims`, an i64.
        """
        axes = axes_of(self.rank)
        position = linearize([axes[dim] for dim in dims], [self.shape[dim] for dim in dims])
        pairs = [self.value, self.emit.positions(position, self.shape).value]
        op = self.emit.add(prim.ReduceOp(MonoidAttr(monoid), pairs, dims))
        return self.emit.stored(op.results[0]), self.emit.stored(op.results[1])

    def scan(self, monoid: Monoid, dim: int) -> "Tensor":
        """
        Return each element combined by `monoid` with all elements before it along `dim`: a running
        sum for `add`.
        """
        return self.emit.result(prim.ScanOp(MonoidAttr(monoid), [self.value], dim))

    def sum(self, dims: Sequence[int]) -> "Tensor":
        """Return the sum along `dims`."""
        return self.reduce(Monoid.ADD, dims)

    def max(self, dims: Sequence[int]) -> "Tensor":
        """Return the largest element along `dims`."""
        return self.reduce(Monoid.MAX, dims)

    def mean(self, dims: Sequence[int]) -> "Tensor":
        """Return the mean along `dims`; NaN if there are no elements along them."""
        return self.sum(dims) / float(prod(self.shape[dim] for dim in dims))
