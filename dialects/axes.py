# SPDX-License-Identifier: Apache-2.0
"""
What ops that step, address and mask have in common: axes, the ranges of indices, canonical
subscripts and `where` masks.
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
"""Affine expressions and the values of their dimensions."""


class Role(StrEnum):
    """What an axis is to a contraction; written down when the axis is made."""

    FREE = "free"
    BATCH = "batch"
    M = "m"
    N = "n"
    K = "k"
    ROW = "row"
    SPLIT = "split"


@irdl_attr_definition
class RoleAttr(EnumAttribute[Role], SpacedOpaqueSyntaxAttribute):
    """The role of an axis."""

    name = "loop.role"


class AxesOp(BuiltOp, ABC):
    """An op whose block arguments are axes: indices from 0 up to a constant extent."""

    @abstractmethod
    def axis_extents(self) -> Sequence[int]:
        """Return the extent of each block argument."""

    def axis_extent(self, at: int) -> int:
        """Return the extent of the block argument at that position."""
        return self.axis_extents()[at]


def extents_attribute(extents: Sequence[int]) -> DenseArrayBase[IntegerType]:
    """Extents of axes as an array of i64."""
    return _packed(tuple(extents))


@lru_cache(maxsize=1 << 10)  # there are few different ones
def _packed(extents: tuple[int, ...]) -> DenseArrayBase[IntegerType]:
    return DenseArrayBase.from_list(i64, extents)


def extents_in(array: DenseArrayBase[IntegerType]) -> tuple[int, ...]:
    """Return the extents of axes that an op has as an array of i64."""
    return _unpacked(array.data.data)


@lru_cache(maxsize=1 << 10)  # they are asked for whenever the range of an axis is
def _unpacked(extents: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(extents) // 8}q", extents)


def extent_of(axis: SSAValue) -> int | None:
    """How many steps `axis` takes, if it is an axis."""
    if not isinstance(axis, BlockArgument) or not isinstance(op := axis.owner.parent_op(), AxesOp):
        return None
    return op.axis_extent(axis.index)


class RangedIndex(ABC):
    """An op with one index result that knows which values it can take."""

    @abstractmethod
    def result_range(self) -> Range | None:
        """Return the values of the result, or None when nothing is known."""


_Known = dict[SSAValue, Range | None]

_known: ContextVar[_Known | None] = ContextVar("known ranges", default=None)


@contextmanager
def remembered_ranges(known: Mapping[SSAValue, Range] | None = None) -> Generator[None]:
    """
    Inside, the range of a value is found out once, if it is not `known` before. Nothing that has
    been asked about may change meanwhile: this is for what only reads its source.
    """
    token = _known.set({**(known or {})})
    try:
        yield
    finally:
        _known.reset(token)


def range_of_value(value: SSAValue) -> Range | None:
    """Return the values an index can take, or None when nothing is known of it."""
    if (known := _known.get()) is None:
        return _found_range(value)
    if value not in known:
        known[value] = _found_range(value)
    return known[value]


def _found_range(value: SSAValue) -> Range | None:
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
    """Return the smaller of two values, or the larger."""
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
    Return the map and operands of a list of expressions, simplified with the ranges of its
    operands. Operands are distinct, used, and in order of first appearance: equal accesses compare
    equal.
    """
    dims, distinct, ranges = _numbered(operands)
    canonical, used = _canonical(tuple(exprs), dims, ranges)
    return canonical, [distinct[p] for p in used]


def _numbered(
    operands: Sequence[SSAValue],
) -> tuple[tuple[int, ...], list[SSAValue], tuple[Range | None, ...]]:
    """Which value each operand is, by its number; the values, and the range of each."""
    numbers: dict[SSAValue, int] = {}
    dims = tuple([numbers.setdefault(value, len(numbers)) for value in operands])
    return dims, [*numbers], tuple(map(range_of_value, numbers))


@lru_cache(maxsize=1 << 14)
def map_attr(map: AffineMap) -> AffineMapAttr:
    """Return the map as an attribute, which is made and verified once."""
    return AffineMapAttr(map)


@lru_cache(maxsize=1 << 14)  # passes ask for the same accesses again and again
def _canonical(
    exprs: tuple[AffineExpr, ...], values: tuple[int, ...], ranges: tuple[Range | None, ...]
) -> tuple[AffineMap, tuple[int, ...]]:
    """
    Return the map of canonical expressions, and the values that it takes by number; `values` says
    by its number which value each dimension of `exprs` is, and `ranges` what range each value has.
    Equal accesses get one map: what looks for it later finds it by identity.
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
    return all(number == at for at, number in enumerate(numbers))


def _renamed(exprs: Sequence[AffineExpr], numbers: Sequence[int]) -> list[AffineExpr]:
    """Return the expressions with the dimensions that `numbers` says in the place of theirs."""
    dims = [AffineExpr.dimension(number) for number in numbers]
    return [expr.replace_dims_and_symbols(dims, ()) for expr in exprs]


def optional_mask(mask: Access | None) -> tuple[list[SSAValue], AffineMapAttr | None]:
    """
    Return the operands and the map of a mask, canonical: without what another part of it or the
    ranges of its operands prove. Nothing for no mask.
    """
    if mask is None:
        return [], None
    exprs, operands = mask
    dims, distinct, ranges = _numbered(operands)
    map, used = _needed(tuple(exprs), dims, ranges)
    return [distinct[p] for p in used], map


@lru_cache(maxsize=1 << 14)
def _needed(
    exprs: tuple[AffineExpr, ...], values: tuple[int, ...], ranges: tuple[Range | None, ...]
) -> tuple[AffineMapAttr | None, tuple[int, ...]]:
    """What `_canonical` finds, of the conditions that nothing else proves; None for none."""
    map, used = _canonical(exprs, values, ranges)
    known = tuple([ranges[p] for p in used])
    needed = _strictest([e for e in map.results if not _is_proven(e, known)])
    if not needed:
        return None, ()
    map, among = _canonical(tuple(needed), tuple(range(len(used))), known)
    return map_attr(map), tuple([used[p] for p in among])


def _strictest(exprs: Sequence[AffineExpr]) -> list[AffineExpr]:
    """Those of `exprs` that others do not imply: of `99 - d0` and `89 - d0`, the second."""
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
    """An op that may carry a mask: it acts where every expression of the mask is at least 0."""

    mask_operands = var_operand_def(IndexType)
    mask = opt_prop_def(AffineMapAttr)

    def __init__(
        self,
        operands: Sequence[SSAValue | Sequence[SSAValue]],
        where: Access | None,
        properties: Mapping[str, Attribute],
        result_types: Sequence[Attribute] = (),
    ):
        """`operands` are those of each field, the mask's left out, which come last."""
        mask_operands, mask = optional_mask(where)
        super().__init__(
            operands=[*operands, mask_operands],
            properties={"mask": mask, **properties},
            result_types=result_types,
        )

    @property
    def where(self) -> Access | None:
        """The expressions of the mask and their operands, None where there is no mask."""
        return None if self.mask is None else (self.mask.data.results, self.mask_operands)

    def verify_mask(self) -> None:
        """One operand for each dimension of the mask."""
        dims = 0 if self.mask is None else self.mask.data.num_dims
        if dims != len(self.mask_operands):
            raise VerifyException(f"the mask takes {dims} operands, got {len(self.mask_operands)}")
        if self.mask is not None:
            verify_affine(self.mask.data)


def verify_subscripts(memref: SSAValue, map: AffineMap, indices: Sequence[SSAValue]) -> None:
    """One subscript for each axis of the memref, one index for each dimension of the map."""
    type, given = memref_type(memref), len(map.results)
    if given != type.get_num_dims():
        raise VerifyException(f"{type} takes {type.get_num_dims()} subscripts, got {given}")
    if map.num_dims != len(indices):
        raise VerifyException(f"the map takes {map.num_dims} indices, got {len(indices)}")
    verify_affine(map)


def verify_affine(map: AffineMap) -> None:
    """Dimensions only, and divisors that are positive constants."""
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
