# SPDX-License-Identifier: Apache-2.0
"""Affine subscripts and masks as C++ expressions; frequent ones are defined once under a name."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from tilewright.dialects import kernel, loop
from tilewright.dialects.cuda.copies import AddressOp
from tilewright.dialects.cuda.expressions import CallOp
from tilewright.dialects.cuda.operators import BinaryOp, CompareOp, NegOp
from tilewright.dialects.cuda.types import BinaryOperator
from tilewright.dialects.index import signed_terms
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.cuda.accesses import Accesses
from tilewright.passes.cuda.index import Index, Mask, is_division, steps_below_zero
from tilewright.passes.cuda.index_names import IndexNames
from tilewright.passes.cuda.places import Place, Swizzle
from tilewright.passes.cuda.row_addresses import RowAddress, RowStart
from tilewright.passes.cuda.writer import Writer, is_pending

# C++ division rounds to zero, which is right if the dividend cannot be negative. Functions of the
# prelude divide if the dividend's range is unknown.
_DIVISIONS = {
    AffineBinaryOpKind.FloorDiv: (BinaryOperator.DIV, "floor_div"),
    AffineBinaryOpKind.Mod: (BinaryOperator.REM, "floor_mod"),
}


class Indices:
    """Writer of offsets and masks, which gives names to frequent expressions."""

    def __init__(self, writer: Writer, accesses: Accesses):
        self.writer, self.accesses = writer, accesses
        self.names = IndexNames(writer, accesses)

    def scope(self, source: Block) -> AbstractContextManager[None]:
        """Return a context in which the ops of `source` are converted into the writer's block."""
        return self.names.scope(source)

    def subscripts(self, place: Place) -> list[SSAValue]:
        """
        Return the subscripts of an access: one offset, or one value for each axis of a register
        array.
        """
        if place.swizzle is None:
            return [self.value(term) for term in place.terms]
        (offset,) = place.terms
        permuted = self._permuted(place.swizzle)
        if not offset.operands and not offset.constant:
            return [permuted]
        return [BinaryOp(BinaryOperator.ADD, self.value(offset), permuted).result]

    def _permuted(self, swizzle: Swizzle) -> SSAValue:
        key = self._scaled(self._early(swizzle.key, "swizzle"), swizzle.chunk)
        if not swizzle.low.operands and not swizzle.low.constant:
            return key
        return BinaryOp(BinaryOperator.BIT_XOR, self.value(swizzle.low), key).result

    def _early(self, index: Index, hint: str) -> SSAValue:
        """
        Return the value of `index`; its varying part gets a name as soon as its operands are known.
        """
        part = index.without_constant()
        if part.is_worth_a_name() and self.names.known(part) is None:
            self.names.make_early(part, hint, lambda: self._written(part))
        return self.value(index, hint)

    def row(self, memref: SSAValue, row: RowAddress) -> SSAValue:
        """Return the address in bytes of a row in an array in shared memory."""
        address = self.row_start(memref, row)
        address = self._combined(BinaryOperator.BIT_XOR, address, row.flipped)
        address = self._combined(BinaryOperator.ADD, address, row.moved)
        address = self._combined(BinaryOperator.ADD, address, row.stepped)
        if row.swizzle is None:
            return address
        size = size_of(memref_type(memref).element_type)
        permuted = self._scaled(self._permuted(row.swizzle), size)
        return BinaryOp(BinaryOperator.ADD, address, permuted).result

    def row_start(self, memref: SSAValue, row: RowAddress) -> SSAValue:
        """Return the early part of the address of a row, under a name."""
        start, hint = RowStart(memref, row.early), f"{memref.name_hint or 'shared'}_row"
        if (address := self.names.known(start)) is None:
            address = self.names.make_early(start, hint, lambda: self._shared_address(start))
        return address

    def after_start(self, row: RowAddress) -> SSAValue:
        """Return the bytes from the early part to a row that is not swizzled."""
        parts = [part for part in (row.moved, row.stepped) if part.operands or part.constant]
        values = [self.value(part) for part in parts]
        return _joined(BinaryOperator.ADD, values) if values else self.writer.index(0)

    def _shared_address(self, start: RowStart) -> SSAValue:
        first = AddressOp(self.writer.use(start.memref), self.subscripts(start.place)).result
        return CallOp("shared_address", [first], self.writer.index_type).result

    def _combined(self, operator: BinaryOperator, value: SSAValue, index: Index) -> SSAValue:
        """Return `value` combined with `index`; `value` alone if the index is 0."""
        if not index.operands and not index.constant:
            return value
        return BinaryOp(operator, value, self.value(index)).result

    def value(self, index: Index, hint: str = "i") -> SSAValue:
        """Return an expression for `index`; its varying part may have a name."""
        part = index.without_constant()
        if (name := self.names.name(part, hint, lambda: self._written(part))) is None:
            return self._written(index)
        return self._plus(name, index.constant)

    def known(self, op: loop.IndexOp) -> int | None:
        """Return the value of a constant index; None for an index that varies."""
        index = self._of(op)
        return None if index.operands else index.constant

    def named(self, op: kernel.IndexOp) -> SSAValue:
        """
        Return the value of `op` under a name. Later uses of the same sum of indices, unless it has
        a constant, are written as this name.
        """
        index, hint = self._of(op), op.result.name_hint or "i"
        if (held := self.names.holder(index)) is not None:
            return held
        value = self.value(index, hint)
        if is_pending(value):
            value = self.writer.let(value, hint)
        if index.operands and index.constant == 0:
            self.names.add(index, value)
        return value

    def _of(self, op: kernel.IndexOp | loop.IndexOp) -> Index:
        place, *_ = self.accesses.places[op]
        return place.terms[0]

    def condition(self, op: Operation) -> SSAValue | None:
        """Return the condition that the mask of `op` holds, or None if it always holds."""
        if (mask := self.accesses.masks.get(op)) is None:
            return None
        name = self.names.name(mask, "in", lambda: self._conjunction(mask))
        return self._conjunction(mask) if name is None else name

    def _conjunction(self, mask: Mask) -> SSAValue:
        comparisons = [
            CompareOp(comparison, self.value(left), self.value(right)).result
            for left, comparison, right in self.accesses.conjuncts[mask]
        ]
        return _joined(BinaryOperator.AND, comparisons)

    def _written(self, index: Index) -> SSAValue:
        """
        Return an expression for `index` without a name of its own; it uses subscripts if one of
        them has a name.
        """
        if is_division(index.variable):
            return self._plus(self._division(index), index.constant)
        strided = self.accesses.strided.get(index.without_constant(), ())
        names = [self.names.name(s, "i", lambda s=s: self._written(s)) for s, _ in strided]
        if all(name is None for name in names):
            return self._expression(index.whole(), index)
        terms = _Terms([], [])
        for (subscript, stride), name in zip(strided, names, strict=True):
            if name is None:
                terms.extend(self._terms(subscript.variable, subscript, stride))
            else:
                terms.added.append(self._scaled(name, stride))
        return self._plus(terms.sum(), index.constant)

    def _plus(self, value: SSAValue, constant: int) -> SSAValue:
        if constant == 0:
            return value
        operator = BinaryOperator.ADD if constant > 0 else BinaryOperator.SUB
        return BinaryOp(operator, value, self.writer.index(abs(constant))).result

    def _expression(self, expr: AffineExpr, index: Index) -> SSAValue:
        terms = self._terms(expr, index)
        return terms.sum() if terms.added or terms.subtracted else self.writer.index(0)

    def _terms(self, expr: AffineExpr, index: Index, stride: int = 1) -> "_Terms":
        positive, negative = signed_terms(expr)
        added = [self._term(atom, factor * stride, index) for atom, factor in positive]
        subtracted = [self._term(atom, factor * stride, index) for atom, factor in negative]
        return _Terms(added, subtracted)

    def _term(self, atom: AffineExpr, factor: int, index: Index) -> SSAValue:
        if isinstance(atom, AffineConstantExpr):
            return self.writer.index(atom.value * factor)
        return self._scaled(self._atom(atom, index), factor)

    def _scaled(self, value: SSAValue, factor: int) -> SSAValue:
        if factor == 1:
            return value
        return BinaryOp(BinaryOperator.MUL, value, self.writer.index(factor)).result

    def _atom(self, atom: AffineExpr, index: Index) -> SSAValue:
        if isinstance(atom, AffineDimExpr):
            return self.writer.use(index.operands[atom.position])
        return self.value(Index.of(atom, index.operands))

    def _division(self, index: Index) -> SSAValue:
        """
        Return a quotient or a remainder; a dividend that may be negative first gets multiples of
        the divisor added.
        """
        match index.variable:
            case AffineBinaryOpExpr(kind, dividend, AffineConstantExpr(divisor)):
                operator, function = _DIVISIONS[kind]
            case _:
                raise ValueError(f"not canonical: {index.variable}")
        moved = steps_below_zero(dividend, divisor, index.ranges)
        of = Index.of(dividend + (moved or 0) * divisor, index.operands)
        values = self.value(of), self.writer.index(divisor)
        if moved is None:
            return CallOp(function, values, self.writer.index_type).result
        value = BinaryOp(operator, *values).result
        return self._plus(value, -moved) if operator is BinaryOperator.DIV else value


class _Terms(NamedTuple):
    """Terms of a sum that are added, and terms that are subtracted."""

    added: list[SSAValue]
    subtracted: list[SSAValue]

    def extend(self, other: "_Terms") -> None:
        self.added.extend(other.added)
        self.subtracted.extend(other.subtracted)

    def sum(self) -> SSAValue:
        if self.added:
            value, subtracted = _joined(BinaryOperator.ADD, self.added), self.subtracted
        else:
            (first, *subtracted) = self.subtracted
            value = NegOp(first).result
        return _joined(BinaryOperator.SUB, [value, *subtracted])


def _joined(operator: BinaryOperator, values: Sequence[SSAValue]) -> SSAValue:
    first, *rest = values
    for value in rest:
        first = BinaryOp(operator, first, value).result
    return first
