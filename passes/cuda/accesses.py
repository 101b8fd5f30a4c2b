# SPDX-License-Identifier: Apache-2.0
"""
What a kernel's accesses come to, before any of it is written: offsets, masks, and how often each
occurs.
"""

from collections import Counter
from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineExpr,
)

from tilewright.dialects import kernel, loop
from tilewright.dialects.axes import canonical_access, optional_mask, range_of_value
from tilewright.dialects.cuda_types import Comparison
from tilewright.dialects.index import Ranges, Sum, range_of, signed_terms, sum_of
from tilewright.dialects.types import memref_type
from tilewright.passes.cuda.filled_loads import filled_loads

_ZERO = AffineExpr.constant(0)


class Index(NamedTuple):
    """An affine expression of index values, canonical: equal ones compare equal."""

    variable: AffineExpr
    """What varies: the expression without its constant."""
    operands: tuple[SSAValue, ...]
    constant: int = 0

    @staticmethod
    def of(expr: AffineExpr, operands: Sequence[SSAValue]) -> "Index":
        """The canonical form, simplified with the ranges of the operands."""
        map, used = canonical_access([expr], operands)
        variable, constant = split_constant(map.results[0])
        return Index(variable, tuple(used), constant)

    @property
    def ranges(self) -> Ranges:
        """The values that the operands can take."""
        return [range_of_value(v) for v in self.operands]

    def without_constant(self) -> "Index":
        """What varies alone."""
        return self._replace(constant=0)

    def num_terms(self) -> int:
        """How many terms vary."""
        added, subtracted = signed_terms(self.variable)
        return len(added) + len(subtracted) if self.operands else 0

    def num_divisions(self) -> int:
        """How many divisions it takes."""
        return sum(map(is_division, self.variable.dfs()))

    def is_worth_a_name(self) -> bool:
        """Whether it is more than a multiple of what has a name, or may have one."""
        return self.num_terms() > 1 or (bool(self.operands) and is_division(self.variable))

    def parts(self) -> "list[Index]":
        """The quotients and rests that are added up in it; of one alone what it divides."""
        if isinstance(self.variable, AffineBinaryOpExpr) and is_division(self.variable):
            return [Index.of(self.variable.lhs, self.operands).without_constant()]
        terms = [atom for terms in signed_terms(self.variable) for atom, _ in terms]
        return [Index.of(atom, self.operands) for atom in terms if is_division(atom)]


_DIVISIONS = (AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.Mod)


def is_division(expr: AffineExpr) -> bool:
    """Whether `expr` is a quotient or a rest."""
    return isinstance(expr, AffineBinaryOpExpr) and expr.kind in _DIVISIONS


def steps_below_zero(dividend: AffineExpr, divisor: int, ranges: Ranges) -> int | None:
    """By how many divisors the dividend may be below 0, rounded up; None if that is unknown."""
    known = range_of(dividend, ranges)
    return None if known is None else max(0, -(known.low // divisor))


def split_constant(expr: AffineExpr) -> tuple[AffineExpr, int]:
    """A canonical expression, whose constant comes last, in two."""
    match expr:
        case AffineConstantExpr(value):
            return _ZERO, value
        case AffineBinaryOpExpr(AffineBinaryOpKind.Add, variable, AffineConstantExpr(value)):
            return variable, value
        case _:
            return expr, 0


class Mask(NamedTuple):
    """Affine expressions, canonical, that are all to be at least 0."""

    exprs: tuple[AffineExpr, ...]
    operands: tuple[SSAValue, ...]


class Strided(NamedTuple):
    """A subscript, less its constant, and what it is multiplied by."""

    subscript: Index
    stride: int


class Conjunct(NamedTuple):
    """One comparison of a mask, as a person writes it: what is cut off on the left."""

    left: Index
    comparison: Comparison
    right: Index


def _conjunct(expr: AffineExpr, operands: Sequence[SSAValue]) -> Conjunct:
    """`99 - d0` is `d0 < 100`, `d0 - d1` is `d1 <= d0`."""
    value = sum_of(expr)
    positive = Sum({atom: factor for atom, factor in value.terms.items() if factor > 0})
    negative = Sum({atom: -factor for atom, factor in value.terms.items() if factor < 0})
    constant = value.constant

    def compare(left: Sum, comparison: Comparison, right: Sum) -> Conjunct:
        return Conjunct(
            Index.of(left.expr(), operands), comparison, Index.of(right.expr(), operands)
        )

    if not negative.terms:
        return compare(positive, Comparison.GE, Sum({}, -constant))
    if constant == 0 and positive.terms:
        return compare(negative, Comparison.LE, positive)
    known = range_of(negative.expr(), [range_of_value(v) for v in operands])
    if constant == 0 and known is not None and known.low == 0:
        return compare(negative, Comparison.EQ, Sum({}))
    return compare(negative, Comparison.LT, positive + Sum({}, constant + 1))


class Accesses:
    """
    Offsets and masks of every op of a kernel, and how often each occurs in which block.

    The copies of an access that unrolling makes differ in constants only, so what varies is
    simplified once for all of them.
    """

    def __init__(self, function: kernel.FuncOp):
        self.offsets: dict[Operation, Index] = {}
        self.masks: dict[Operation, Mask] = {}
        self.conjuncts: dict[Mask, list[Conjunct]] = {}
        self.strided: dict[Index, list[Strided]] = {}
        """Offsets, less their constants, as sums of subscripts, where that is no longer."""
        self._counts: Counter[tuple[Block, Index | Mask]] = Counter()
        self._parts: dict[Index, list[Index]] = {}
        self._linear: dict[_Subscripts, Index] = {}
        self._simplified: dict[Mask, Mask | None] = {}
        self.filled = filled_loads(function)
        for op in function.body.block.walk():
            if op not in self.filled.gone:
                self._note(op)

    def count(self, what: Index | Mask, block: Block) -> int:
        """How often that occurs in `block` and in the bodies of its ops."""
        return self._counts[block, what]

    def joins_previous_store(self, op: Operation) -> bool:
        """Whether `op` and the op before it store under one mask: one `if` does for both."""
        previous = op.prev_op
        if not isinstance(op, loop.StoreOp) or not isinstance(previous, loop.StoreOp):
            return False
        return op in self.masks and self.masks[op] == self.masks.get(previous)

    def _note(self, op: Operation) -> None:
        match op:
            case loop.LoadOp() | loop.StoreOp():
                self._note_offset(op, memref_type(op.memref).get_shape())
                if op.mask is not None:
                    self._note_mask(op, Mask(op.mask.data.results, tuple(op.mask_operands)))
            case kernel.IndexOp() | loop.IndexOp():
                self.offsets[op] = Index.of(op.map.data.results[0], op.indices)
                self._occurs(op, self.offsets[op].without_constant())
            case loop.PredicateOp():
                self._note_mask(op, Mask(op.map.data.results, tuple(op.indices)))
            case loop.ToIndexOp() if op.mask is not None:
                self._note_mask(op, Mask(op.mask.data.results, tuple(op.mask_operands)))
            case _:
                pass

    def _note_offset(self, op: loop.LoadOp | loop.StoreOp, shape: Sequence[int]) -> None:
        strides = _strides(shape)
        split = [split_constant(expr) for expr in op.map.data.results]
        subscripts = _Subscripts(
            tuple(variable for variable, _ in split), tuple(op.indices), tuple(strides)
        )
        constant = sum(value * stride for (_, value), stride in zip(split, strides, strict=True))
        if (linear := self._linear.get(subscripts)) is None:
            linear = self._linear[subscripts] = subscripts.linear()
            self._note_strided(op, linear.without_constant(), subscripts)
        self.offsets[op] = linear._replace(constant=linear.constant + constant)
        self._occurs(op, linear.without_constant())

    def _note_strided(self, op: Operation, offset: Index, subscripts: "_Subscripts") -> None:
        strided = subscripts.apart()
        subscripts_alone = [subscript for subscript, _ in strided]
        is_longer = sum(map(Index.num_terms, subscripts_alone)) > offset.num_terms()
        divides_more = sum(map(Index.num_divisions, subscripts_alone)) > offset.num_divisions()
        is_split = all(s.num_terms() < offset.num_terms() for s in subscripts_alone)
        if not is_split or is_longer or divides_more or offset in self.strided:
            return
        self.strided[offset] = strided
        for subscript, _ in strided:
            self._occurs(op, subscript)

    def _note_mask(self, op: Operation, written: Mask) -> None:
        if written not in self._simplified:
            operands, map = optional_mask(written)
            mask = None if map is None else Mask(map.data.results, tuple(operands))
            self._simplified[written] = mask
        if (mask := self._simplified[written]) is None:
            return
        self.masks[op] = mask
        if not self.joins_previous_store(op):
            self._occurs(op, mask)
        if mask in self.conjuncts:  # its comparisons are written once
            return
        self.conjuncts[mask] = [_conjunct(expr, mask.operands) for expr in mask.exprs]
        for left, _, right in self.conjuncts[mask]:
            self._occurs(op, left.without_constant())
            self._occurs(op, right.without_constant())

    def _occurs(self, op: Operation, what: Index | Mask) -> None:
        block = op.parent
        while block is not None:
            self._count(block, what)
            is_outermost = isinstance(block.parent_op(), kernel.FuncOp)
            block = None if is_outermost else block.parent_block()

    def _count(self, block: Block, what: Index | Mask) -> None:
        """Parts are written as often as the whole: once where that gets a name."""
        self._counts[block, what] += 1
        if not isinstance(what, Index) or what in self.strided:
            return
        if self._counts[block, what] > 1 and what.is_worth_a_name():
            return
        if what not in self._parts:
            self._parts[what] = what.parts()
        for part in self._parts[what]:
            self._count(block, part)


class _Subscripts(NamedTuple):
    """Subscripts, less their constants, and their strides."""

    exprs: tuple[AffineExpr, ...]
    operands: tuple[SSAValue, ...]
    strides: tuple[int, ...]

    def linear(self) -> Index:
        """The row-major offset."""
        offset: AffineExpr = _ZERO
        for expr, stride in zip(self.exprs, self.strides, strict=True):
            offset = offset + expr * stride
        return Index.of(offset, self.operands)

    def apart(self) -> list[Strided]:
        """Each subscript with its stride."""
        subscripts = [Index.of(expr, self.operands).without_constant() for expr in self.exprs]
        return [Strided(*pair) for pair in zip(subscripts, self.strides, strict=True)]


def _strides(shape: Sequence[int]) -> list[int]:
    """Row-major."""
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]
