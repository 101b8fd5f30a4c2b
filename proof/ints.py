# SPDX-License-Identifier: Apache-2.0
"""
Obligations `int` of a kernel in CUDA IR: no index overflows its C++ type, also in between.

    %1 = cuda.binary mul %row, %4096 : i32
    %2 = cuda.binary add %1, %column : i32
    %3 = cuda.address %x[%2]

`%x[%2]` is within the array, which Tile IR has as its obligation `bounds`. The product and the sum
have to fit `int`, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation, SSAValue

from tilewright.dialects.cuda import FuncOp
from tilewright.dialects.cuda.copies import AddressOp
from tilewright.dialects.cuda.expressions import CastOp, ExpressionOp, SubscriptOp
from tilewright.dialects.cuda.operators import BinaryOp, NegOp
from tilewright.dialects.cuda.statements import ForOp, LetOp, StoreOp
from tilewright.dialects.index import Range
from tilewright.dialects.types import size_of
from tilewright.proof.answer import PROVED, Answer, Obligation, Outcome
from tilewright.proof.int_ranges import IntRanges, is_checked_index
from tilewright.proof.solver import Solver


def int_obligation(func: FuncOp) -> Obligation:
    """Return the obligation that the index arithmetic of a kernel fits its types."""
    return Ints("int", f"index arithmetic of {func.sym_name.data} in CUDA", func)


@dataclass(frozen=True)
class Ints(Obligation):
    """
    Statement that each number of which an index is computed fits its C++ type. Ranges of numbers
    decide it. They may be too wide: the statement is proved or unknown.
    """

    def decide(self, solver: Solver) -> Answer:
        assert isinstance(self.op, FuncOp)
        ranges = IntRanges.of_kernel(self.op)
        numbers = _numbers_of_indices(self.op)
        for op in self.op.walk():
            if (reason := _reason_against(op, numbers, ranges)) is not None:
                return Answer(Outcome.UNKNOWN, reason)
        return PROVED


def _numbers_of_indices(func: FuncOp) -> set[SSAValue]:
    """Return the integers of which indices and bounds of loops are computed."""
    pending = [value for op in func.walk() for value in _indices(op)]
    seen = set[SSAValue]()
    while pending:
        value = pending.pop()
        if value in seen or not isinstance(value.type, IntegerType):
            continue
        seen.add(value)
        op = value.owner
        if isinstance(op, Operation) and is_checked_index(op):
            continue
        if isinstance(op, LetOp) or (isinstance(op, ExpressionOp) and op.reads() is None):
            pending += op.operands
    return seen


def _indices(op: Operation) -> Sequence[SSAValue]:
    match op:
        case AddressOp() | SubscriptOp() | StoreOp():
            return op.indices
        case ForOp():
            return op.low, op.high
        case _:
            return ()


def _reason_against(op: Operation, numbers: set[SSAValue], ranges: IntRanges) -> str | None:
    """Reason why a number that `op` computes may not fit its type, or None."""
    if isinstance(op, ForOp):
        return _reason_against_end(op, ranges)
    if not isinstance(op, ExpressionOp) or (number := op.results[0]) not in numbers:
        return None
    if (known := ranges.of(number)) is None:
        return f"an index is computed from data: {op!s}"
    if isinstance(op, BinaryOp | NegOp | CastOp) and not _fits(known, number):
        return f"{op!s} reaches from {known.low} to {known.high}"
    return None


def _fits(known: Range, value: SSAValue) -> bool:
    half = 1 << (8 * size_of(value.type) - 1)
    return -half <= known.low and known.high < half


def _reason_against_end(loop: ForOp, ranges: IntRanges) -> str | None:
    """Reason why a loop's counter may not fit its type after the last step, or None."""
    if (bound := ranges.of(loop.high)) is None:
        return "the bound of a loop is data"
    end = Range(bound.low, bound.high - 1 + loop.step.value.data)
    return None if _fits(end, loop.low) else f"the counter of a loop reaches {end.high}"
