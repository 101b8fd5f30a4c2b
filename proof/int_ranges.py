# SPDX-License-Identifier: Apache-2.0
"""
Ranges of the integers of a kernel in CUDA IR.

    %block = cuda.let %0 : i32                      0 to 7 in a grid of 8 blocks
    %1 = cuda.binary mul %block, %128 : i32         0 to 896
    %2 = cuda.binary add %1, %thread : i32          0 to 1023 in blocks of 128 threads

A range holds all values, and may hold others. That of a number from memory is the one of its type,
unless `checked_index` stops the kernel where the number is not below a size.
"""

from collections.abc import Callable, Mapping

from xdsl.dialects.builtin import IntegerAttr, IntegerType, Signedness
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.utils.hints import isa

from tilewright.dialects.cuda import FuncOp
from tilewright.dialects.cuda.expressions import (
    BuiltinOp,
    CallOp,
    CastOp,
    LiteralOp,
    ReadOp,
    SubscriptOp,
)
from tilewright.dialects.cuda.operators import BinaryOp, CompareOp, NegOp, TernaryOp
from tilewright.dialects.cuda.statements import AssignOp, ForOp, LetOp, VarOp
from tilewright.dialects.cuda.types import BinaryOperator, Builtin, Comparison
from tilewright.dialects.index import Range

_ROUNDS = 32
"""Most rounds in which the ranges of variables may grow."""

Variables = Mapping[SSAValue, Range | None]
"""Ranges of mutable variables; None for those that are not known."""


class IntRanges:
    """Ranges of the integers of a kernel, where mutable variables have given ranges."""

    def __init__(self, func: FuncOp, variables: Variables):
        self._func, self._variables = func, variables
        self._known = dict[SSAValue, Range | None]()

    @staticmethod
    def of_kernel(func: FuncOp) -> "IntRanges":
        """Return the ranges of a kernel. Those of variables grow until they hold all values."""
        first, ops = IntRanges(func, {}), [*func.walk()]
        declared = [op for op in ops if isinstance(op, VarOp)]
        variables: Variables = {op.variable: first.of_initial(op) for op in declared}
        for _ in range(_ROUNDS):
            known = IntRanges(func, variables)
            grown = dict(variables)
            for op in ops:
                if isinstance(op, AssignOp):
                    grown[op.variable] = _either(grown[op.variable], known.of(op.value))
            if grown == variables:
                return known
            variables = grown
        return first

    def of_initial(self, op: VarOp) -> Range | None:
        """Return the range of a variable's first value; None if it has none."""
        return None if op.initial is None else self.of(op.initial)

    def of(self, value: SSAValue) -> Range | None:
        """Return the range of a value, or None if it is not known."""
        if value not in self._known:
            self._known[value] = self._computed(value)
        return self._known[value]

    def _computed(self, value: SSAValue) -> Range | None:
        if not isinstance(value.type, IntegerType):
            return None
        if isinstance(value, BlockArgument):
            return self._counter(value)
        match op := value.owner:
            case LiteralOp(value=IntegerAttr(value=number)):
                return Range(number.data, number.data)
            case BuiltinOp():
                is_block = op.variable.data is Builtin.BLOCK
                return Range.extent((self._func.grid if is_block else self._func.block).value.data)
            case ReadOp():
                return self._variables.get(op.variable)
            case LetOp() | CastOp():
                return self.of(op.value)
            case TernaryOp():
                chosen, others = self.of(op.then_value), self._unless(op)
                return chosen if others is None else _either(chosen, others.of(op.else_value))
            case NegOp():
                return _negative(self.of(op.value))
            case BinaryOp():
                return _function(_BINARY.get(op.operator.data), *map(self.of, op.operands))
            case CallOp():
                if is_checked_index(op):
                    size = self.of(op.arguments[1])
                    return None if size is None else Range.extent(size.high)
                name, known = op.callee.string_value(), [*map(self.of, op.arguments)]
                if name in _WRAPPING:
                    return _wrapped(_function(_BINARY[_WRAPPING[name]], *known), value)
                return _function(_CALLS.get(name), *known)
            case SubscriptOp():
                return _all_of(value)
            case _:
                return None

    def _counter(self, counter: BlockArgument) -> Range | None:
        loop = counter.owner.parent_op()
        if not isinstance(loop, ForOp):
            return None
        low, high = self.of(loop.low), self.of(loop.high)
        return None if low is None or high is None else Range(low.low, max(low.low, high.high - 1))

    def _unless(self, op: TernaryOp) -> "IntRanges | None":
        """
        Return the ranges where the condition of `op` is false, or None if it never is. A counter
        that is not at its last value is below it.
        """
        match op.condition.owner:
            case CompareOp(lhs=lhs, rhs=rhs) as compare if (
                compare.comparison.data is Comparison.EQ
                and isinstance(read := lhs.owner, ReadOp)
                and (last := self.of(rhs)) is not None
                and (known := self.of(lhs)) is not None
                and known.high == last.low == last.high
            ):
                if known.low == known.high:
                    return None
                below = Range(known.low, known.high - 1)
                return IntRanges(self._func, {**self._variables, read.variable: below})
            case _:
                return self


def is_checked_index(op: Operation) -> bool:
    """True if an op is a call that stops the kernel unless a number from memory is an index."""
    return isinstance(op, CallOp) and op.callee.string_value() == "checked_index"


def _all_of(value: SSAValue) -> Range:
    """
    Return the range of all numbers of a value's type. Types without a sign of fewer than 32 bits
    may be unsigned in C++.
    """
    type = value.type
    assert isa(type, IntegerType)
    half = 1 << (type.width.data - 1)
    is_signed = type.signedness.data is Signedness.SIGNED or (
        type.signedness.data is Signedness.SIGNLESS and type.width.data >= 32
    )
    return Range(-half, half - 1 if is_signed else 2 * half - 1)


def _wrapped(known: Range | None, result: SSAValue) -> Range:
    """Return the range of a result that is reduced modulo a power of two if it does not fit."""
    every = _all_of(result)
    return known if known is not None and known in every else every


Function = Callable[[Range, Range], Range | None]


def _function(function: Function | None, *known: Range | None) -> Range | None:
    """Return the range of a function of two numbers, or None if one of the three is not known."""
    ranges = [each for each in known if each is not None]
    return function(*ranges) if function is not None and len(ranges) == len(known) == 2 else None


def _negative(known: Range | None) -> Range | None:
    return None if known is None else Range(-known.high, -known.low)


def _either(one: Range | None, other: Range | None) -> Range | None:
    if one is None or other is None:
        return None
    return Range(min(one.low, other.low), max(one.high, other.high))


def _product(one: Range, other: Range) -> Range:
    ends = [a * b for a in one for b in other]
    return Range(min(ends), max(ends))


def _quotient(one: Range, other: Range) -> Range | None:
    """Return the range of a quotient, which C++ rounds towards zero."""
    if other.low <= 0:
        return None
    ends = [abs(a) // b * (1 if a >= 0 else -1) for a in one for b in other]
    return Range(min(ends), max(ends))


def _remainder(one: Range, other: Range) -> Range | None:
    """Return the range of a remainder, which has the sign of the dividend in C++."""
    if other.low <= 0:
        return None
    most = other.high - 1
    return Range(max(min(one.low, 0), -most), min(max(one.high, 0), most))


def _bits(one: Range, other: Range) -> Range | None:
    """Return the range of a bitwise operator on numbers that are not negative."""
    if one.low < 0 or other.low < 0:
        return None
    return Range(0, (1 << max(one.high, other.high).bit_length()) - 1)


_BINARY: Mapping[BinaryOperator, Function] = {
    BinaryOperator.ADD: lambda a, b: Range(a.low + b.low, a.high + b.high),
    BinaryOperator.SUB: lambda a, b: Range(a.low - b.high, a.high - b.low),
    BinaryOperator.MUL: _product,
    BinaryOperator.DIV: _quotient,
    BinaryOperator.REM: _remainder,
    BinaryOperator.BIT_AND: _bits,
    BinaryOperator.BIT_OR: _bits,
    BinaryOperator.BIT_XOR: _bits,
}

_WRAPPING: Mapping[str, BinaryOperator] = {
    "wrapping_add": BinaryOperator.ADD,
    "wrapping_sub": BinaryOperator.SUB,
    "wrapping_mul": BinaryOperator.MUL,
}
"""Calls of functions on numbers that are data, which may overflow."""

_CALLS: Mapping[str, Function] = {
    "min": lambda a, b: Range(min(a.low, b.low), min(a.high, b.high)),
    "max": lambda a, b: Range(max(a.low, b.low), max(a.high, b.high)),
}
"""Ranges of calls of functions."""
