# SPDX-License-Identifier: Apache-2.0
"""
Counters of the slots of a ring, carried from step to step of a loop.

    for (int k = 0; k < 64; ++k) {
      const int slot = k % 3;
      const int phase = k / 3 % 2;
      ...
    }

becomes

    int slot = 0;
    int phase = 0;
    for (int k = 0; k < 64; ++k) {
      ...
      phase = slot == 2 ? phase ^ 1 : phase;
      slot = slot == 2 ? 0 : slot + 1;
    }

A division by the number of slots takes about seven instructions of a GPU, the counters take five.
If the number of slots is a power of two, each division takes one, and stays.

A short loop of matrix instructions over a ring with mbarriers is unrolled by the number of slots.
All slots are then constants, and addresses of slots become parts of instructions.
"""

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from tilewright.dialects import kernel
from tilewright.dialects.axes import range_of_value
from tilewright.dialects.cuda.expressions import ReadOp
from tilewright.dialects.cuda.operators import BinaryOp, CompareOp, TernaryOp
from tilewright.dialects.cuda.statements import AssignOp, VarOp
from tilewright.dialects.cuda.types import BinaryOperator, Comparison
from tilewright.dialects.faster_xdsl.walk import ops_in, ops_of
from tilewright.dialects.kernel.registers import UNROLL
from tilewright.dialects.kernel.ring import FillOp, RingType, RingWaitOp
from tilewright.passes.cuda.accesses import Accesses
from tilewright.passes.cuda.conversion import Conversion
from tilewright.passes.cuda.index import Index, is_division
from tilewright.passes.cuda.shared_memory import has_mbarriers

_D0 = AffineExpr.dimension(0)

_MOST_UNROLLED = 1 << 10
"""Most instructions of an unrolled loop, estimated as the ops of its unrolled bodies."""


class Counter(NamedTuple):
    """Slot and phase of a fill that advances by one in each step of a loop."""

    slot: Index
    phase: Index | None
    """Parity of the earlier fills of the slot; None if the ring has no mbarriers."""
    first: Index
    """Number of the fill in the first step."""
    depth: int


def counters_of(op: scf.ForOp, accesses: Accesses) -> list[Counter]:
    """Return the counters for the slots that the body of `op`, with step 1 from 0, divides for."""
    named = {accesses.places[i][0].terms[0] for i in ops_of(kernel.IndexOp, op)}
    found: dict[Index, Counter] = {}
    for fill in accesses.fills:
        if not op.is_ancestor(fill) or (counter := _counter(fill, op, accesses)) is None:
            continue
        if has_mbarriers(fill.ring) or counter.slot in named:
            found.setdefault(counter.slot, counter)
    return [*found.values()]


def _counter(fill: FillOp, op: scf.ForOp, accesses: Accesses) -> Counter | None:
    """Return the counter of a fill, or None if its slot needs no division or does not advance."""
    assert isinstance(fill.ring.type, RingType)
    depth = fill.ring.type.depth.data
    slot, phase = accesses.places[fill][0].terms
    if depth & (depth - 1) == 0 or not is_division(slot.variable):
        return None
    if (first := _first_count(fill.count, op)) is None:
        return None
    return Counter(slot, phase if has_mbarriers(fill.ring) else None, first, depth)


def _first_count(count: SSAValue, op: scf.ForOp) -> Index | None:
    """Return `count` in the first step of the loop, or None if it does not grow by 1 each step."""
    counter = op.body.block.args[0]
    index = _known_outside(Index.of(_D0, [count]), op)
    if index.without_constant() == (step := Index.of(_D0, [counter])):
        return Index.of(AffineExpr.constant(index.constant), [])
    if (parts := index.apart(counter)) is None:
        return None
    first, grows = parts
    is_fixed = not any(op.is_ancestor(value.owner) for value in first.operands)
    return first if grows == step and is_fixed else None


def _known_outside(index: Index, op: scf.ForOp) -> Index:
    """Return `index` with the sums that are named in the loop written in full."""
    for at, value in enumerate(index.operands):
        owner = value.owner
        if not isinstance(owner, kernel.IndexOp) or not op.is_ancestor(owner):
            continue
        others = [*index.operands[:at], *index.operands[at + 1 :]]
        dims: list[AffineExpr] = [AffineDimExpr(n) for n in range(len(others) + len(owner.indices))]
        inner = owner.map.data.results[0].replace_dims_and_symbols(dims[len(others) :], [])
        outer = [*dims[:at], inner, *dims[at : len(others)]]
        whole = index.whole().replace_dims_and_symbols(outer, [])
        return _known_outside(Index.of(whole, [*others, *owner.indices]), op)
    return index


class Carried(NamedTuple):
    """A counter with the variables that hold it."""

    counter: Counter
    slot: SSAValue
    phase: SSAValue | None

    @staticmethod
    def begin(to: Conversion, counter: Counter) -> "Carried":
        """Define the variables ahead of the loop, with the values of its first step."""
        first, depth = counter.first, counter.depth

        def variable(expr: AffineExpr, hint: str) -> SSAValue:
            value = to.indices.value(Index.of(expr, first.operands), hint)
            return _variable(to, value, hint)

        slot = variable(first.whole() % depth, "slot")
        if counter.phase is None:
            return Carried(counter, slot, None)
        return Carried(counter, slot, variable((first.whole() // depth) % 2, "phase"))

    def names(self) -> Iterator[tuple[Index, SSAValue]]:
        """Yield the indices that the variables hold during a step."""
        yield self.counter.slot, self.slot
        if self.counter.phase is not None and self.phase is not None:
            yield self.counter.phase, self.phase

    def advance(self, to: Conversion) -> None:
        """Advance the variables at the end of a step."""
        if (phase := self.phase) is not None:
            flipped = BinaryOp(BinaryOperator.BIT_XOR, _read(phase), to.writer.index(1)).result
            self._assign(to, phase, flipped, _read(phase))
        later = BinaryOp(BinaryOperator.ADD, _read(self.slot), to.writer.index(1)).result
        self._assign(to, self.slot, to.writer.index(0), later)

    def _assign(self, to: Conversion, variable: SSAValue, last: SSAValue, other: SSAValue) -> None:
        """Assign `last` after the ring's last slot, and `other` after any other slot."""
        end = to.writer.index(self.counter.depth - 1)
        is_last = CompareOp(Comparison.EQ, _read(self.slot), end).result
        to.writer.statement(AssignOp(variable, TernaryOp(is_last, last, other).result))


def _variable(to: Conversion, initial: SSAValue, hint: str) -> SSAValue:
    op = VarOp(initial, to.writer.index_type, hint)
    to.writer.statement(op)
    return op.variable


def _read(variable: SSAValue) -> SSAValue:
    return ReadOp(variable).result


def carried_counters(to: Conversion, op: scf.ForOp, step: IntegerAttr) -> list[Carried]:
    """
    Return the counters that a loop carries, and define their variables ahead of it. The loop must
    count from 0 by 1.
    """
    low = to.writer.constants.get(op.lb)
    if not isinstance(low, IntegerAttr) or low.value.data != 0 or step.value.data != 1:
        return []
    return [Carried.begin(to, counter) for counter in counters_of(op, to.accesses)]


_MATRIX = (kernel.MatrixMultiplyOp, kernel.GroupMultiplyOp)


def unrolled_slots(op: scf.ForOp, accesses: Accesses) -> int | None:
    """
    Return the number of slots by which to unroll a loop, or None if it is not unrolled: it has no
    matrix instructions, waits for no mbarriers of its own, is long, or has few steps.
    """
    waits = [f for f in accesses.fills if isinstance(f, RingWaitOp) and f.parent_op() is op]
    rings = {wait.ring for wait in waits if has_mbarriers(wait.ring)}
    if len(rings) != 1 or not any(isinstance(each, _MATRIX) for each in ops_in(op)):
        return None
    (type,) = (ring.type for ring in rings)
    assert isinstance(type, RingType)
    depth, extent = type.depth.data, range_of_value(op.body.block.args[0])
    if depth == 1 or extent is None or extent.high + 1 < 2 * depth:
        return None
    return depth if depth * _instructions(op.body.block) <= _MOST_UNROLLED else None


def _instructions(block: Block) -> int:
    """Return the number of ops in a block, with unrolled bodies counted once for each step."""
    return sum(_steps(op) * sum(map(_instructions, _blocks(op))) or 1 for op in block.ops)


def _blocks(op: Operation) -> Iterator[Block]:
    return (block for region in op.regions for block in region.blocks)


def _steps(op: Operation) -> int:
    """Return the number of copies that unrolling makes of the body of `op`."""
    if isinstance(op, kernel.UnrollOp):
        return prod(op.axis_extents())
    if isinstance(op, scf.ForOp) and UNROLL in op.attributes:
        steps = range_of_value(op.body.block.args[0])
        return 1 if steps is None else steps.high + 1
    return 1
