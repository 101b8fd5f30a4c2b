# SPDX-License-Identifier: Apache-2.0
"""
Parts that ops with axes, subscripts or masks share: index ranges, canonical subscripts and `where`
masks.
"""

import struct
from abc import ABC, abstractmethod
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

from xdsl.dialects import scf
from xdsl.dialects.arith import ConstantOp, MaxSIOp, MinSIOp
from xdsl.dialects.builtin import (
    AffineMapAttr,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, BlockArgument, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineExpr,
    AffineMap,
)
from xdsl.irdl import irdl_attr_definition, opt_prop_def, var_operand_def
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.faster_xdsl.built_op import BuiltOp
from tilewright.dialects.faster_xdsl.segments import SegmentedOp
from tilewright.dialects.index import (
    Range,
    Ranges,
    dims_as_written,
    range_of,
    simplify,
    sum_of,
)
from tilewright.dialects.types import memref_type

Access = tuple[Sequence[AffineExpr], Sequence[SSAValue]]
"""
Subscripts or conditions: affine expressions, and the SSA value that each of their dimensions stands
for.
"""


class Role(StrEnum):
    """Role of an axis in a contraction or a reduction; it is recorded when the axis is created."""

    FREE = "free"
    BATCH = "batch"
    M = "m"
    N = "n"
    K = "k"
    ROW = "row"
    SPLIT = "split"


@irdl_attr_definition
class RoleAttr(EnumAttribute[Role], SpacedOpaqueSyntaxAttribute):
    """Attribute for the role of an axis."""

    name = "loop.role"


class AxesOp(BuiltOp, ABC):
    """An op whose block arguments are axes: each counts from 0 up to a constant extent."""

    @abstractmethod
    def axis_extents(self) -> Sequence[int]:
        """Return the extents of all block arguments, in order."""

    def axis_extent(self, at: int) -> int:
        """Return the extent of the block argument at position `at`."""
        return self.axis_extents()[at]


def extents_attribute(extents: Sequence[int]) -> DenseArrayBase[IntegerType]:
    """Return the extents of axes as an array attribute of i64."""
    return _packed(tuple(extents))


@lru_cache(maxsize=1 << 10)  # few distinct extents occur
def _packed(extents: tuple[int, ...]) -> DenseArrayBase[IntegerType]:
    return DenseArrayBase.from_list(i64, extents)


def extents_in(array: DenseArrayBase[IntegerType]) -> tuple[int, ...]:
    """Return the extents of axes from an op's array attribute of i64."""
    return _unpacked(array.data.data)


@lru_cache(maxsize=1 << 10)  # every range query of an axis reads its extent
def _unpacked(extents: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(extents) // 8}q", extents)


def extent_of(axis: SSAValue) -> int | None:
    """Return the trip count of `axis`; None if the value is not an axis."""
    if not isinstance(axis, BlockArgument) or not isinstance(op := axis.owner.parent_op(), AxesOp):
        return None
    return op.axis_extent(axis.index)


class RangedIndex(ABC):
    """An op with one index result whose range of values can be computed."""

    @abstractmethod
    def result_range(self) -> Range | None:
        """Return the range of the result, or None if it is unknown."""


_Known = dict[SSAValue, Range | None]

_known: ContextVar[_Known | None] = ContextVar("known ranges", default=None)


@contextmanager
def cached_ranges(known: Mapping[SSAValue, Range] | None = None) -> Generator[None]:
    """
    Cache the range of each value inside the `with` block; `known` ranges are given in advance.

    Values that have been queried must not change inside the block: use it around code that only
    reads the IR.
    """
    token = _known.set({**(known or {})})
    try:
        yield
    finally:
        _known.reset(token)


def range_of_value(value: SSAValue) -> Range | None:
    """Return the range of an index value, or None if it is unknown."""
    if (known := _known.get()) is None:
        return _compute_range(value)
    if value not in known:
        known[value] = _compute_range(value)
    return known[value]


def _compute_range(value: SSAValue) -> Range | None:
    if isinstance(value, BlockArgument):
        op = value.block.parent_op()
        if isinstance(op, AxesOp):
            return _steps(op.axis_extent(value.index))
        return _range_of_scf_index(value)
    if isinstance(owner := value.owner, RangedIndex):
        return owner.result_range()
    if isinstance(owner, ConstantOp) and isinstance(owner.value, IntegerAttr):
        return Range(owner.value.value.data, owner.value.value.data)
    return _range_of_choice(owner) if isinstance(owner, MinSIOp | MaxSIOp) else None


@lru_cache(maxsize=1 << 10)
def _steps(extent: int) -> Range:
    return Range.extent(extent)


def _range_of_choice(op: MinSIOp | MaxSIOp) -> Range | None:
    """
    Return the range of an `arith.minsi` or `arith.maxsi`; None if the range of an operand is
    unknown.
    """
    lhs, rhs = range_of_value(op.lhs), range_of_value(op.rhs)
    if lhs is None or rhs is None:
        return None
    choose = min if isinstance(op, MinSIOp) else max
    return Range(choose(lhs.low, rhs.low), choose(lhs.high, rhs.high))


def _range_of_scf_index(value: BlockArgument) -> Range | None:
    if value.index != 0 or not isinstance(loop := value.owner.parent_op(), scf.ForOp):
        return None
    low, high = range_of_value(loop.lb), range_of_value(loop.ub)
    if low is None or high is None:
        return None
    return Range(low.low, max(low.low, high.high - 1))


def canonical_access(
    exprs: Sequence[AffineExpr], operands: Sequence[SSAValue]
) -> tuple[AffineMap, list[SSAValue]]:
    """
    Return the map and the operands of a list of subscripts, simplified with the operands' ranges.

    Operands are distinct, used, and in order of first appearance, which makes equal accesses
    compare equal.
    """
    dims, distinct, ranges = _numbered(operands)
    canonical, used = _canonical(tuple(exprs), dims, ranges)
    return canonical, [distinct[p] for p in used]


def _numbered(
    operands: Sequence[SSAValue],
) -> tuple[tuple[int, ...], list[SSAValue], tuple[Range | None, ...]]:
    """
    Number the distinct operands; return each operand's number, the distinct values, and their
    ranges.
    """
    numbers: dict[SSAValue, int] = {}
    dims = tuple([numbers.setdefault(value, len(numbers)) for value in operands])
    known = _known.get() or {}
    ranges = [known[value] if value in known else range_of_value(value) for value in numbers]
    return dims, [*numbers], tuple(ranges)


@lru_cache(maxsize=1 << 14)
def map_attr(map: AffineMap) -> AffineMapAttr:
    """Return `map` as an attribute; equal maps share one attribute, verified once."""
    return AffineMapAttr(map)


@lru_cache(maxsize=1 << 14)  # passes ask for the same accesses many times
def _canonical(
    exprs: tuple[AffineExpr, ...], values: tuple[int, ...], ranges: tuple[Range | None, ...]
) -> tuple[AffineMap, tuple[int, ...]]:
    """
    Return the map of canonical expressions, and the numbers of the values that the map takes.

    `values` holds the number of the value behind each dimension of `exprs`; `ranges` holds the
    range of each value. Equal accesses return the identical map object, which makes later cache
    lookups fast.
    """
    merged = exprs if _is_in_order(values) else _renamed(exprs, values)
    simple = tuple(simplify(e, ranges) for e in merged)
    order = tuple(dict.fromkeys(p for e in simple for p in dims_as_written(e)))
    if not _is_in_order(order):
        numbers = {old: new for new, old in enumerate(order)}
        renamed = _renamed(simple, [numbers.get(p, p) for p in range(len(ranges))])
        simple = tuple(map(simplify, renamed))
    return AffineMap(len(order), 0, simple), order


def _is_in_order(numbers: Sequence[int]) -> bool:
    return [*numbers] == [*range(len(numbers))]


def _renamed(exprs: Sequence[AffineExpr], numbers: Sequence[int]) -> list[AffineExpr]:
    """Return the expressions with each dimension `d` renumbered to `numbers[d]`."""
    dims = [AffineExpr.dimension(number) for number in numbers]
    return [expr.replace_dims_and_symbols(dims, ()) for expr in exprs]


def optional_mask(mask: Access | None) -> tuple[list[SSAValue], AffineMapAttr | None]:
    """
    Return the operands and the canonical map of a mask; the map is None without a mask.

    Conditions are dropped if other conditions or the ranges of the operands imply them.
    """
    if mask is None:
        return [], None
    exprs, operands = mask
    dims, distinct, ranges = _numbered(operands)
    map, used = _needed(tuple(exprs), dims, ranges)
    return [distinct[p] for p in used], map


def conditions_of(mask: Access | None) -> set[tuple[AffineMapAttr, tuple[SSAValue, ...]]]:
    """Return the conditions of a mask as a set, each in canonical form with its own operands."""
    exprs, operands = mask or ((), ())
    found = (optional_mask(([expr], operands)) for expr in exprs)
    return {(map, tuple(values)) for values, map in found if map is not None}


@lru_cache(maxsize=1 << 14)
def _needed(
    exprs: tuple[AffineExpr, ...], values: tuple[int, ...], ranges: tuple[Range | None, ...]
) -> tuple[AffineMapAttr | None, tuple[int, ...]]:
    """
    Return what `_canonical` returns for a mask without its implied conditions; the map is None if
    no condition remains.
    """
    map, used = _canonical(exprs, values, ranges)
    known = tuple([ranges[p] for p in used])
    needed = _strictest([e for e in map.results if not _is_proven(e, known)])
    if not needed:
        return None, ()
    map, among = _canonical(tuple(needed), tuple(range(len(used))), known)
    return map_attr(map), tuple([used[p] for p in among])


def _strictest(exprs: Sequence[AffineExpr]) -> list[AffineExpr]:
    """
    Return the expressions without those that another one implies as conditions `>= 0`. Of `99 - d0`
    and `89 - d0`, the second is kept.
    """
    if len(exprs) < 2:
        return [*exprs]
    least: dict[frozenset[tuple[AffineExpr, int]], tuple[int, AffineExpr]] = {}
    for expr in exprs:
        value = sum_of(expr)
        terms = frozenset(value.terms.items())
        if terms not in least or value.constant < least[terms][0]:
            least[terms] = value.constant, expr
    return [expr for _, expr in least.values()]


def _is_proven(expr: AffineExpr, ranges: Ranges) -> bool:
    known = range_of(expr, ranges)
    return known is not None and known.low >= 0


class MaskedOp(SegmentedOp, ABC):
    """An op with an optional mask: it acts where every expression of the mask is at least 0."""

    mask_operands = var_operand_def(IndexType)
    mask = opt_prop_def(AffineMapAttr)

    def __init__(
        self,
        operands: Sequence[SSAValue | Sequence[SSAValue]],
        where: Access | None,
        properties: Mapping[str, Attribute],
        result_types: Sequence[Attribute] = (),
    ):
        """
        Initialize the op; `operands` lists the operands of each field except the mask's, which are
        last.
        """
        mask_operands, mask = optional_mask(where)
        super().__init__(
            operands=[*operands, mask_operands],
            properties={"mask": mask, **properties},
            result_types=result_types,
        )

    @property
    def where(self) -> Access | None:
        """The expressions of the mask and their operands; None without a mask."""
        return None if self.mask is None else (self.mask.data.results, self.mask_operands)

    def verify_mask(self) -> None:
        """Raise `VerifyException` unless the mask is affine with one operand for each dimension."""
        dims = 0 if self.mask is None else self.mask.data.num_dims
        if dims != len(self.mask_operands):
            raise VerifyException(f"the mask takes {dims} operands, got {len(self.mask_operands)}")
        if self.mask is not None:
            verify_affine(self.mask.data)


def verify_subscripts(memref: SSAValue, map: AffineMap, indices: Sequence[SSAValue]) -> None:
    """
    Raise `VerifyException` unless each memref axis has one subscript, and each map dimension one
    index.
    """
    type, given = memref_type(memref), len(map.results)
    if given != type.get_num_dims():
        raise VerifyException(f"{type} takes {type.get_num_dims()} subscripts, got {given}")
    if map.num_dims != len(indices):
        raise VerifyException(f"the map takes {map.num_dims} indices, got {len(indices)}")
    verify_affine(map)


def verify_affine(map: AffineMap) -> None:
    """
    Raise `VerifyException` if the map has symbols, or divides by anything but a positive constant.
    """
    if map.num_symbols:
        raise VerifyException("subscripts and masks use dimensions only, not symbols")
    for expr in (inner for result in map.results for inner in result.dfs()):
        match expr:
            case AffineBinaryOpExpr(AffineBinaryOpKind.Add | AffineBinaryOpKind.Mul):
                pass
            case AffineBinaryOpExpr(_, _, AffineConstantExpr(divisor)) if divisor > 0:
                pass
            case AffineBinaryOpExpr():
                raise VerifyException(f"the divisor in '{expr}' must be a positive constant")
            case _:
                pass
