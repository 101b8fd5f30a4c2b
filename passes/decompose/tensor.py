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
from typing import TypeVar, overload

from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
    bf16,
    f16,
    f32,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr, AffineMap
from xdsl.utils.hints import isa

from tilewright.dialects import prim
from tilewright.dialects.index import (
    Range,
    Ranges,
    delinearize,
    linearize,
    range_of,
    simplify,
    simplify_map,
)
from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.dialects.prim import ScalarFunction, Source
from tilewright.dialects.torch_op import Scalar, python_value
from tilewright.dialects.torch_promotion import FLOATS, compute_type
from tilewright.dialects.torch_shapes import broadcast, element_of, shape_of

_Op = TypeVar("_Op", bound=Operation)

Shape = tuple[int, ...]
Number = int | float
"""A Python number; a bool is an int."""


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
        return Tensor(self, value, shape, AffineMap.identity(len(shape)))

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


def number_attribute(value: Number, type: Attribute) -> FloatAttr | IntegerAttr:
    """
    A Python number in an element type, as PyTorch has it: what a float type cannot hold becomes
    infinite, an integer is cut to its type's bits.
    """
    if isa(type, IntegerType):
        bits = int(bool(value)) if type == i1 else int(value) & (2**type.bitwidth - 1)
        return IntegerAttr(bits, type, truncate_bits=True)
    assert isinstance(type, AnyFloat)
    try:
        return FloatAttr(float(value), type)
    except OverflowError:
        return FloatAttr(copysign(inf, value), type)


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

    @property
    def rank(self) -> int:
        """How many dimensions there are."""
        return len(self.shape)

    # --- Views -------------------------------------------------------------------------------

    def view(self, coordinates: Sequence[AffineExpr], shape: Shape) -> "Tensor":
        """The tensor of `shape` whose elements are mine at `coordinates`."""
        map = AffineMap(len(shape), 0, tuple(coordinates))
        return Tensor(self.emit, self.source, shape, self.map.compose(map))

    def reshape(self, shape: Shape) -> "Tensor":
        """The same elements in row-major order."""
        return self.view(delinearize(linearize(axes_of(len(shape)), shape), self.shape), shape)

    def permute(self, dims: Sequence[int]) -> "Tensor":
        """Dimension i of the result is my dimension `dims[i]`."""
        axes = axes_of(len(dims))
        coordinates = [axes[dims.index(dim)] for dim in range(len(dims))]
        return self.view(coordinates, tuple(self.shape[dim] for dim in dims))

    def unsqueeze(self, dims: Sequence[int]) -> "Tensor":
        """Dimensions of size 1 which become the dimensions `dims` of the result."""
        sizes, rank = iter(self.shape), self.rank + len(dims)
        shape = tuple(1 if dim in dims else next(sizes) for dim in range(rank))
        return self.view([d for dim, d in enumerate(axes_of(rank)) if dim not in dims], shape)

    def broadcast(self, shape: Shape) -> "Tensor":
        """Aligned at the last dimension of `shape`; what has size 1 is repeated."""
        axes = axes_of(len(shape))[len(shape) - self.rank :]
        zero = AffineConstantExpr(0)
        return self.view([zero if n == 1 else d for n, d in zip(self.shape, axes)], shape)

    def slice(self, dim: int, start: int, size: int, step: int = 1) -> "Tensor":
        """`size` elements along `dim`: those at `start`, `start + step`, ..."""
        coordinates = axes_of(self.rank)
        coordinates[dim] = coordinates[dim] * step + start
        return self.view(coordinates, (*self.shape[:dim], size, *self.shape[dim + 1 :]))

    def masked_view(
        self,
        coordinates: Sequence[AffineExpr],
        bounds: Sequence[AffineExpr],
        shape: Shape,
        fill: Number,
    ) -> "Tensor":
        """
        The tensor of `shape` whose elements are mine at `coordinates` where all `bounds` are at
        least 0, and `fill` elsewhere.
        """
        return overlay([(self.view(coordinates, shape), bounds)], fill)

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


def gather(source: Tensor, subscripts: Sequence[Tensor | AffineExpr], shape: Shape) -> Tensor:
    """
    The elements of `source` at `subscripts`, one a dimension: affine expressions of the result's
    coordinates, or tensors of i32 or i64 that broadcast to `shape`.
    """
    indices, map = _indexed(subscripts, shape)
    return source.emit.result(prim.GatherOp(source.value, indices, map, shape))


def scatter(
    base: Tensor,
    subscripts: Sequence[Tensor | AffineExpr],
    updates: Tensor,
    combiner: Monoid | None = None,
) -> Tensor:
    """`base` with `updates` put, or joined by `combiner`, at `subscripts`, as in `gather`."""
    indices, map = _indexed(subscripts, updates.shape)
    attribute = None if combiner is None else MonoidAttr(combiner)
    op = prim.ScatterOp(updates.value, base.value, indices, map, attribute)
    return base.emit.result(op)


def _indexed(
    subscripts: Sequence[Tensor | AffineExpr], shape: Shape
) -> tuple[list[SSAValue], AffineMap]:
    """Tensors of subscripts, and a map in which symbols stand for their values."""
    indices: list[SSAValue] = []
    exprs: list[AffineExpr] = []
    for subscript in subscripts:
        if isinstance(subscript, Tensor):
            exprs.append(AffineExpr.symbol(len(indices)))
            indices.append(subscript.broadcast(shape).value)
        else:
            exprs.append(subscript)
    return indices, AffineMap(len(shape), len(indices), tuple(exprs))


Piece = tuple[Tensor, Sequence[AffineExpr]]
"""A view, and expressions of its coordinates that are all at least 0 where it is to be read."""


def overlay(pieces: Sequence[Piece], fill: Number = 0) -> Tensor:
    """
    Each element from the first of `pieces`, of one shape and type, that is to be read there; where
    none is, `fill`.
    """
    first, _ = pieces[0]
    emit, shape, ranges = first.emit, first.shape, [Range.extent(size) for size in first.shape]
    sources: list[Source] = []
    for view, bounds in pieces:
        mask = _mask(bounds, ranges)
        if 0 in (*shape, *shape_of(view.source)) or mask is None:
            continue
        sources.append(Source(view.source, simplify_map(view.map, ranges), mask))
        if not mask.results:
            break
    if not sources:
        return emit.constant(fill, shape, first.element)
    if not sources[0].mask.results:
        return Tensor(emit, sources[0].tensor, shape, sources[0].map)
    rest = number_attribute(fill, first.element) if sources[-1].mask.results else None
    return emit.result(prim.IndexMapOp(sources, shape, rest))


def _mask(bounds: Sequence[AffineExpr], ranges: Ranges) -> AffineMap | None:
    """Those of `bounds` that say something about coordinates within `ranges`; None: never all."""
    kept: dict[AffineExpr, None] = {}
    for bound in bounds:
        known = range_of(bound, ranges)
        if known is None or known.low < 0:
            kept[simplify(bound, ranges)] = None
        if known is not None and known.high < 0:
            return None
    return AffineMap(len(ranges), 0, tuple(kept))


def concatenate(tensors: Sequence[Tensor], dim: int) -> Tensor:
    """The tensors one after another along `dim`; they are alike but for their sizes there."""
    first, end, pieces = tensors[0], 0, list[Piece]()
    total = sum(tensor.shape[dim] for tensor in tensors)
    shape = (*first.shape[:dim], total, *first.shape[dim + 1 :])
    axis = AffineExpr.dimension(dim)
    for tensor in tensors:
        start, end = end, end + tensor.shape[dim]
        coordinates = axes_of(len(shape))
        coordinates[dim] = axis - start
        pieces.append((tensor.view(coordinates, shape), [axis - start, axis * -1 + (end - 1)]))
    return overlay(pieces)


def axes_of(rank: int) -> list[AffineExpr]:
    """The coordinates of a tensor of `rank`."""
    return [AffineExpr.dimension(axis) for axis in range(rank)]
