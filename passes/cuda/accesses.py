# SPDX-License-Identifier: Apache-2.0
"""
What a kernel's accesses come to, before any of it is written: offsets, masks, how often each
occurs, and whether `int` holds them all.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import inf, prod
from typing import NamedTuple

from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType, IntegerType, i32, i64
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineConstantExpr, AffineExpr

from tilewright.dialects import kernel, loop
from tilewright.dialects.axes import canonical_access, optional_mask, range_of_value
from tilewright.dialects.cuda_types import Comparison
from tilewright.dialects.index import Ranges, Sum, linearize, range_of, sum_of
from tilewright.dialects.types import memref_type

_LARGEST_INT = 2**31 - 1


class Index(NamedTuple):
    """Affine expressions of index values, canonical: equal ones compare equal."""

    exprs: tuple[AffineExpr, ...]
    operands: tuple[SSAValue, ...]
    is_mask: bool = False

    @staticmethod
    def of(exprs: Sequence[AffineExpr], operands: Sequence[SSAValue]) -> "Index":
        """The canonical form, simplified with the ranges of the operands."""
        map, used = canonical_access(exprs, operands)
        return Index(map.results, tuple(used))

    @property
    def ranges(self) -> Ranges:
        """The values that the operands can take."""
        return [range_of_value(v) for v in self.operands]

    def variable_part(self) -> "Index":
        """The one expression without its constant."""
        (expr,) = self.exprs
        return Index.of([Sum(sum_of(expr).terms).expr()], self.operands)

    def num_terms(self) -> int:
        """How many terms the one expression has, besides its constant."""
        (expr,) = self.exprs
        return len(sum_of(expr).terms)

    def is_worth_a_name(self) -> bool:
        """Whether it is a mask, or more than a multiple of a name."""
        if self.is_mask:
            return True
        (expr,) = self.exprs
        terms = sum_of(expr).terms
        return len(terms) > 1 or any(isinstance(atom, AffineBinaryOpExpr) for atom in terms)


class Strided(NamedTuple):
    """A subscript, less its constant, and what it is multiplied by."""

    subscript: Index
    stride: int


class Conjunct(NamedTuple):
    """One comparison of a mask, as a person writes it: what is cut off on the left."""

    left: Index
    comparison: Comparison
    right: Index


def conjuncts(mask: Index) -> list[Conjunct]:
    """`[99 - d0]` is `d0 < 100`, `[d0 - d1]` is `d1 <= d0`."""
    return [_conjunct(expr, mask.operands) for expr in mask.exprs]


def _conjunct(expr: AffineExpr, operands: Sequence[SSAValue]) -> Conjunct:
    value = sum_of(expr)
    positive = Sum({atom: factor for atom, factor in value.terms.items() if factor > 0})
    negative = Sum({atom: -factor for atom, factor in value.terms.items() if factor < 0})
    constant = value.constant

    def compare(left: Sum, comparison: Comparison, right: Sum) -> Conjunct:
        return Conjunct(
            Index.of([left.expr()], operands), comparison, Index.of([right.expr()], operands)
        )

    if not negative.terms:
        return compare(positive, Comparison.GE, Sum({}, -constant))
    if constant == 0 and positive.terms:
        return compare(negative, Comparison.LE, positive)
    ranges = [range_of_value(v) for v in operands]
    known = range_of(negative.expr(), ranges)
    if constant == 0 and known is not None and known.low == 0:
        return compare(negative, Comparison.EQ, Sum({}))
    return compare(negative, Comparison.LT, positive + Sum({}, constant + 1))


class Accesses:
    """Offsets and masks of every op of a kernel, and how often each occurs in which block."""

    def __init__(self, function: kernel.FuncOp):
        self.offsets: dict[Operation, Index] = {}
        self.strided: dict[Index, list[Strided]] = {}
        """Offsets, less their constants, as sums of subscripts, where that is no longer."""
        self.masks: dict[Operation, Index] = {}
        self._counts: Counter[tuple[Block, Index]] = Counter()
        self._seen_masks: set[Index] = set()
        for op in function.body.block.walk():
            self._note(op)

    def count(self, index: Index, block: Block) -> int:
        """How often `index` occurs in `block` and in the bodies of its ops."""
        return self._counts[block, index]

    def _note(self, op: Operation) -> None:
        match op:
            case loop.LoadOp() | loop.StoreOp():
                self._note_offset(op, _linear(op), op.indices)
                self._note_subscripts(op)
                self._note_mask(
                    op, () if op.mask is None else op.mask.data.results, op.mask_operands
                )
            case kernel.IndexOp():
                self._note_offset(op, op.map.data.results[0], op.indices)
            case kernel.PredicateOp():
                self._note_mask(op, op.map.data.results, op.indices)
            case _:
                pass

    def _note_offset(self, op: Operation, expr: AffineExpr, operands: Sequence[SSAValue]) -> None:
        self.offsets[op] = Index.of([expr], operands)
        self._occurs(op, self.offsets[op].variable_part())

    def _note_subscripts(self, op: loop.LoadOp | loop.StoreOp) -> None:
        offset = self.offsets[op].variable_part()
        subscripts = [Index.of([expr], op.indices) for expr in op.map.data.results]
        if len(subscripts) < 2 or offset in self.strided:
            return
        if offset.num_terms() < sum(subscript.num_terms() for subscript in subscripts):
            return
        strides = _strides(memref_type(op.memref).get_shape())
        parts = [subscript.variable_part() for subscript in subscripts]
        self.strided[offset] = [Strided(*pair) for pair in zip(parts, strides, strict=True)]
        for part in parts:
            self._occurs(op, part)

    def _note_mask(
        self, op: Operation, exprs: Sequence[AffineExpr], operands: Sequence[SSAValue]
    ) -> None:
        used, map = optional_mask((exprs, operands))
        if map is None:
            return
        mask = self.masks[op] = Index(map.data.results, tuple(used), is_mask=True)
        self._occurs(op, mask)
        if mask in self._seen_masks:  # its comparisons are written once
            return
        self._seen_masks.add(mask)
        for left, _, right in conjuncts(mask):
            self._occurs(op, left.variable_part())
            self._occurs(op, right.variable_part())

    def _occurs(self, op: Operation, index: Index) -> None:
        block = op.parent
        while block is not None and not isinstance(block.parent_op(), kernel.FuncOp):
            self._counts[block, index] += 1
            block = block.parent_block()
        if block is not None:
            self._counts[block, index] += 1


def _linear(op: loop.LoadOp | loop.StoreOp) -> AffineExpr:
    return linearize(op.map.data.results, memref_type(op.memref).get_shape())


def _strides(shape: Sequence[int]) -> list[int]:
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]


def index_type(function: kernel.FuncOp, accesses: Accesses) -> IntegerType:
    """`int` if it holds every index of the kernel and all that is computed on the way to one."""
    reaches = (*_value_reaches(function), *_access_reaches(accesses))
    return i32 if max(reaches, default=0) < _LARGEST_INT else i64


def _value_reaches(function: kernel.FuncOp) -> Iterator[float]:
    for op in function.body.block.walk():
        for value in (*op.results, *(arg for r in op.regions for b in r.blocks for arg in b.args)):
            if isinstance(value.type, IndexType):
                yield _reach(AffineExpr.dimension(0), [range_of_value(value)])
        if isinstance(op, scf.ForOp):  # the counter steps beyond the bound before it stops
            steps = [range_of_value(op.ub), range_of_value(op.step)]
            yield _reach(AffineExpr.dimension(0) + AffineExpr.dimension(1), steps)


def _access_reaches(accesses: Accesses) -> Iterator[float]:
    for index in (*accesses.offsets.values(), *accesses.masks.values()):
        ranges = index.ranges
        yield from (_reach(expr, ranges) for expr in index.exprs)


def _reach(expr: AffineExpr, ranges: Ranges) -> float:
    """No partial sum of `expr`, in whatever order, is larger than this."""
    match expr:
        case AffineConstantExpr(value):
            return abs(value)
        case AffineBinaryOpExpr():
            pass
        case _:
            known = range_of(expr, ranges)
            return inf if known is None else max(abs(known.low), abs(known.high))
    value = sum_of(expr)
    if list(value.terms.values()) == [1] and not value.constant:
        return _reach(expr.lhs, ranges)
    terms = (abs(factor) * _reach(atom, ranges) for atom, factor in value.terms.items())
    return abs(value.constant) + sum(terms)
