# SPDX-License-Identifier: Apache-2.0
"""
What decompositions compute with: tensors that emit Tensor IR as they are added, reduced, viewed.

    shifted = (input - input.max(dims).unsqueeze(dims)).exp()

Views cost nothing until an element is used: `Tensor` keeps the map from its coordinates to those of
a value in the IR, so that any chain of views becomes one `prim.index_map`, or none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import copysign, inf, prod
from typing import TypeVar, cast, overload

from xdsl.dialects.builtin import FloatAttr, TensorType, f32
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap

from tilewright.dialects import prim
from tilewright.dialects.index import Range, delinearize, linearize, simplify_map
from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.dialects.prim import ScalarFunction
from tilewright.dialects.torch_op import Scalar, TorchOp, python_value
from tilewright.dialects.torch_shapes import broadcast, shape_of

_Op = TypeVar("_Op", bound=Operation)

Shape = tuple[int, ...]


class Emitter:
    """The Tensor IR that takes the place of one Torch op, in the order in which it is computed."""

    def __init__(self, op: TorchOp):
        self.op = op
        self.ops: list[Operation] = []

    @overload
    def __call__(self, argument: SSAValue) -> "Tensor": ...

    @overload
    def __call__(self, argument: Scalar) -> float: ...

    def __call__(self, argument: SSAValue | Scalar) -> "Tensor | float":
        """An argument of the Torch op, to compute with."""
        if isinstance(argument, SSAValue):
            shape = shape_of(argument)
            return Tensor(self, argument, shape, AffineMap.identity(len(shape)))
        # An i1 holds true as -1, which `python_value` knows.
        return float(cast(float, python_value(argument)))

    def constant(self, value: float, shape: Shape) -> "Tensor":
        """A tensor of one value; what float32 cannot hold becomes infinite, as in PyTorch."""
        op = self.add(prim.ConstantOp(_float32(value), TensorType(f32, shape)))
        return self(op.result)

    def add(self, op: _Op) -> _Op:
        """Emit an op under the name and the location of the Torch op."""
        op.location = self.op.location
        for result in op.results:
            result.name_hint = self.op.result.name_hint
        self.ops.append(op)
        return op


def _float32(value: float) -> FloatAttr:
    try:
        return FloatAttr(value, f32)
    except OverflowError:
        return FloatAttr(copysign(inf, value), f32)


@dataclass(frozen=True)
class Tensor:
    """The elements of `source` that `map` names for each coordinate within `shape`."""

    emit: Emitter
    source: SSAValue
    shape: Shape
    map: AffineMap

    @cached_property
    def value(self) -> SSAValue:
        """This tensor in the IR."""
        ranges = [Range.extent(size) for size in self.shape]
        map = simplify_map(self.map, ranges)
        identity = simplify_map(AffineMap.identity(len(self.shape)), ranges)
        if self.shape == shape_of(self.source) and map == identity:
            return self.source
        return self.emit.add(prim.IndexMapOp(self.source, map, self.shape)).result

    # --- Views -------------------------------------------------------------------------------

    def view(self, coordinates: Sequence[AffineExpr], shape: Shape) -> "Tensor":
        """The tensor of `shape` whose elements are mine at `coordinates`."""
        map = AffineMap(len(shape), 0, tuple(coordinates))
        return Tensor(self.emit, self.source, shape, self.map.compose(map))

    def reshape(self, shape: Shape) -> "Tensor":
        """The same elements in row-major order."""
        return self.view(delinearize(linearize(_axes(len(shape)), shape), self.shape), shape)

    def permute(self, dims: Sequence[int]) -> "Tensor":
        """Dimension i of the result is my dimension `dims[i]`."""
        axes = _axes(len(dims))
        coordinates = [axes[dims.index(dim)] for dim in range(len(dims))]
        return self.view(coordinates, tuple(self.shape[dim] for dim in dims))

    def unsqueeze(self, dims: Sequence[int]) -> "Tensor":
        """Dimensions of size 1 which become the dimensions `dims` of the result."""
        sizes, rank = iter(self.shape), len(self.shape) + len(dims)
        shape = tuple(1 if dim in dims else next(sizes) for dim in range(rank))
        return self.view([d for dim, d in enumerate(_axes(rank)) if dim not in dims], shape)

    def broadcast(self, shape: Shape) -> "Tensor":
        """Aligned at the last dimension of `shape`; what has size 1 is repeated."""
        axes = _axes(len(shape))[len(shape) - len(self.shape) :]
        zero = AffineConstantExpr(0)
        return self.view([zero if n == 1 else d for n, d in zip(self.shape, axes)], shape)

    # --- Elementwise -------------------------------------------------------------------------

    def __add__(self, other: "Tensor | float") -> "Tensor":
        return elementwise(ScalarFunction.ADD, self, other)

    def __sub__(self, other: "Tensor | float") -> "Tensor":
        return elementwise(ScalarFunction.SUB, self, other)

    def __mul__(self, other: "Tensor | float") -> "Tensor":
        return elementwise(ScalarFunction.MUL, self, other)

    def __truediv__(self, other: "Tensor | float") -> "Tensor":
        return elementwise(ScalarFunction.DIV, self, other)

    def __radd__(self, other: float) -> "Tensor":
        return elementwise(ScalarFunction.ADD, other, self)

    def __rmul__(self, other: float) -> "Tensor":
        return elementwise(ScalarFunction.MUL, other, self)

    def __rtruediv__(self, other: float) -> "Tensor":
        return elementwise(ScalarFunction.DIV, other, self)

    def __neg__(self) -> "Tensor":
        return elementwise(ScalarFunction.NEG, self)

    def exp(self) -> "Tensor":
        """e to the power of each element."""
        return elementwise(ScalarFunction.EXP, self)

    def rsqrt(self) -> "Tensor":
        """1 / sqrt of each element."""
        return elementwise(ScalarFunction.RSQRT, self)

    # --- Reductions, which drop the dimensions that they reduce ------------------------------

    def reduce(self, monoid: Monoid, dims: Sequence[int]) -> "Tensor":
        """Fold `dims`, ascending, with `monoid`."""
        if not dims:
            return self
        op = self.emit.add(prim.ReduceOp(MonoidAttr(monoid), [self.value], tuple(dims)))
        return self.emit(op.results[0])

    def sum(self, dims: Sequence[int]) -> "Tensor":
        """The sum along `dims`."""
        return self.reduce(Monoid.ADD, dims)

    def max(self, dims: Sequence[int]) -> "Tensor":
        """The largest element along `dims`."""
        return self.reduce(Monoid.MAX, dims)

    def mean(self, dims: Sequence[int]) -> "Tensor":
        """The mean along `dims`; NaN where they are empty."""
        return self.sum(dims) / float(prod(self.shape[dim] for dim in dims))


def elementwise(function: ScalarFunction, *arguments: Tensor | float) -> Tensor:
    """`function` of the elements of `arguments`, at least one a tensor, broadcast to one shape."""
    tensors = [argument for argument in arguments if isinstance(argument, Tensor)]
    emit, shape = tensors[0].emit, broadcast(*(tensor.shape for tensor in tensors))
    values = [
        a.broadcast(shape).value if isinstance(a, Tensor) else emit.constant(a, shape).value
        for a in arguments
    ]
    return emit(emit.add(prim.ElementwiseOp(function, *values)).result)


@overload
def scaled(number: Tensor, factor: float) -> Tensor: ...


@overload
def scaled(number: float, factor: float) -> float: ...


def scaled(number: Tensor | float, factor: float) -> Tensor | float:
    """`number * factor`, without a multiplication by one."""
    return number if factor == 1 else number * factor


def _axes(rank: int) -> list[AffineExpr]:
    return [AffineExpr.dimension(axis) for axis in range(rank)]
