# SPDX-License-Identifier: Apache-2.0
"""
Order of two accesses in a kernel: the condition that no barrier is between them, as a formula.

    scf.for %k ... {
      kernel.barrier
      loop.store %0, %s[%t]         first access, in step k
      %1 = loop.load %s[31 - %t]    second access, in step k'
    }

All threads reach the same barriers in the same order, therefore each access has a place among them.
Here, no barrier is between the accesses if `k' = k`. If the load is first, in step `k`, the barrier
at the begin of step `k + 1` orders them. A barrier in an inner loop orders what is before and after
the loop, if the loop has a step.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineExpr

from tilewright.dialects.kernel import (
    ArriveOp,
    BarrierOp,
    ClusterArriveOp,
    ClusterBarrierOp,
    ClusterWaitOp,
    NamedBarrierOp,
    RingWaitOp,
    WarpBarrierOp,
)
from tilewright.dialects.kernel.ring import RingType
from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.tile import Transport
from tilewright.proof.formulas import (
    All,
    Formula,
    IsZero,
    NonNegative,
    Not,
    Some,
    Variables,
    constant,
)
from tilewright.proof.kernel.points import ThreadPoint, step_of, surroundings
from tilewright.proof.points import NotCoveredError

ALWAYS, NEVER = All(()), Some(())


def both(parts: Iterable[Formula]) -> Formula:
    """Return a conjunction, without parts that are always true."""
    needed = [part for part in parts if part != ALWAYS]
    if NEVER in needed:
        return NEVER
    return needed[0] if len(needed) == 1 else All(tuple(needed))


def either(parts: Iterable[Formula]) -> Formula:
    """Return a disjunction, without parts that are never true."""
    possible = [part for part in parts if part != NEVER]
    if ALWAYS in possible:
        return ALWAYS
    return possible[0] if len(possible) == 1 else Some(tuple(possible))


@dataclass(frozen=True)
class Pair:
    """Points of two accesses, the first of which is earlier in the order of the kernel."""

    first: ThreadPoint
    second: ThreadPoint
    facts: Sequence[Formula]
    """Order of the steps of the loops around both."""
    unordered: Formula
    """Condition that no barrier is between them."""
    is_one_step: bool
    """True if all loops around both are at one step."""


def pairs_of(first: Operation, second: Operation, *, is_of_cluster: bool = False) -> Iterator[Pair]:
    """
    Yield the points of two ops in one block, for each order of their steps; in one cluster, the
    blocks differ.
    """
    case = _Case(first, second, is_of_cluster)
    if case.is_in_order:
        yield case.pair(case.loops, None)
    for at, loop in enumerate(case.loops):
        yield case.pair(case.loops[:at], loop)


def unordered_at_end(op: Operation, at: ThreadPoint) -> Formula:
    """Return the condition that no barrier of the cluster is between an op and the kernel's end."""
    case = _Case(op, op, is_of_cluster=True)
    rest = [after for inner in reversed(path_to(op)) for after in _after(inner)]
    kinds = [type(after) for after in rest if isinstance(after, ClusterArriveOp | ClusterWaitOp)]
    if kinds[:2] == [ClusterArriveOp, ClusterWaitOp]:
        return NEVER
    return both(case.leaving(0, at, _Barriers(at, at, is_of_cluster=True), None))


class _Case:
    """Two ops of a kernel, and the blocks of ops that contain both."""

    def __init__(self, first: Operation, second: Operation, is_of_cluster: bool):
        self._first, self._second = first, second
        self._is_of_cluster = is_of_cluster
        self._above_first, self._above_second = path_to(first), path_to(second)
        common = 0
        for one, other in zip(self._above_first, self._above_second, strict=False):
            if one.parent is not other.parent:
                break
            common += 1
        self._innermost = common - 1
        """Position on both paths of the ops in the innermost block that contains both."""
        around = [op.parent_op() for op in self._above_first[:common]]
        self.loops = [op for op in around if isinstance(op, scf.ForOp)]
        """Loops around both ops, outermost first."""

    @property
    def is_in_order(self) -> bool:
        """True if the first op may precede the second one in one step of all loops around both."""
        one, other = (path[self._innermost] for path in (self._above_first, self._above_second))
        return one is other or one.is_before_in_block(other)

    def pair(self, at_one_step: Sequence[scf.ForOp], wraps: scf.ForOp | None) -> Pair:
        """
        Return the points where some loops are at one step, and `wraps` is at a later one for the
        second op.
        """
        variables = Variables()
        first = ThreadPoint(variables, self._first)
        counters = [loop.body.block.args[0] for loop in at_one_step]
        known: dict[SSAValue, AffineExpr] = {each: first.index(each) for each in counters}
        block = None if self._is_of_cluster else first.block
        second = ThreadPoint(variables, self._second, "'", known, block)
        barriers = _Barriers(first, second, self._is_of_cluster)
        if wraps is None:
            return Pair(first, second, (), both(self._between(first, second, barriers)), True)
        counter = wraps.body.block.args[0]
        ahead = second.index(counter) - first.index(counter)
        is_next = NonNegative(constant(step_of(wraps)) - ahead)
        outer = next(n for n, op in enumerate(self._above_first) if op.parent_op() is wraps)
        unordered = both(
            [
                *self.leaving(outer, first, barriers, None),
                *self._entering(outer, second, barriers),
                barriers.passed(_before(self._above_second[outer]), second),
                either([is_next, barriers.passed(wraps.body.block.ops, None)]),
            ]
        )
        return Pair(first, second, [NonNegative(ahead - constant(1))], unordered, False)

    def _between(
        self, first: ThreadPoint, second: ThreadPoint, barriers: "_Barriers"
    ) -> Iterator[Formula]:
        one, other = (path[self._innermost] for path in (self._above_first, self._above_second))
        if one is not other:  # else both are in one op, or in two branches
            yield from self.leaving(self._innermost, first, barriers, other)
            yield from self._entering(self._innermost, second, barriers)

    def leaving(
        self, outer: int, at: ThreadPoint, barriers: "_Barriers", until: Operation | None
    ) -> Iterator[Formula]:
        """Yield the conditions of all that runs after the first op, up to the op `until`."""
        for position in range(len(self._above_first) - 1, outer, -1):
            op = self._above_first[position]
            yield barriers.passed(_after(op), at)
            if isinstance(loop := op.parent_op(), scf.ForOp):
                counter = loop.body.block.args[0]
                following = at.index(counter) + step_of(loop)
                is_last = NonNegative(following - at.index(loop.ub))
                yield either([is_last, barriers.passed(loop.body.block.ops, None)])
        yield barriers.passed(_after(self._above_first[outer], until), at)

    def _entering(self, outer: int, at: ThreadPoint, barriers: "_Barriers") -> Iterator[Formula]:
        """Yield the conditions of what runs before the second op, within the op around it."""
        for op in self._above_second[outer + 1 :]:
            yield barriers.passed(_before(op), at)
            if isinstance(loop := op.parent_op(), scf.ForOp):
                counter = loop.body.block.args[0]
                is_first = IsZero(at.index(counter) - at.index(loop.lb))
                yield either([is_first, barriers.passed(loop.body.block.ops, None)])


def path_to(op: Operation) -> list[Operation]:
    """Return the ops around `op` below its kernel, outermost first, and `op` itself."""
    return [inner for _, inner in reversed(surroundings(op))]


def _after(op: Operation, until: Operation | None = None) -> list[Operation]:
    found, after = list[Operation](), op.next_op
    while after is not None and after is not until:
        found.append(after)
        after = after.next_op
    return found


def _before(op: Operation) -> list[Operation]:
    found, before = list[Operation](), op.prev_op
    while before is not None:
        found.insert(0, before)
        before = before.prev_op
    return found


class _Barriers:
    """Barriers between the accesses of two threads."""

    def __init__(self, first: ThreadPoint, second: ThreadPoint, is_of_cluster: bool):
        self._first, self._second, self._is_of_cluster = first, second, is_of_cluster

    def passed(self, ops: Iterable[Operation], at: ThreadPoint | None) -> Formula:
        """
        Return the condition that no barrier in `ops` orders the accesses. Without a point, it holds
        for all steps of the loop that the ops are the body of.
        """
        executed, parts = [*ops], list[Formula]()
        for number, op in enumerate(executed):
            if isinstance(op, ClusterWaitOp):
                has_arrived = any(isinstance(each, ClusterArriveOp) for each in executed[:number])
                parts.append(NEVER if has_arrived else ALWAYS)
            else:
                parts.append(self._of(op, at))
        return both(parts)

    def _of(self, op: Operation, at: ThreadPoint | None) -> Formula:
        match op:
            case scf.ForOp():
                return self._of_loop(op, at)
            case scf.IfOp():
                return self._of_branch(op, at)
            case ClusterBarrierOp():
                return NEVER
            case _ if self._is_of_cluster:
                return ALWAYS
            case WarpBarrierOp():
                warps = [at.thread // WARP_SIZE for at in (self._first, self._second)]
                return Not(IsZero(warps[0] - warps[1]))
            case NamedBarrierOp():
                return self._of_group(op)
            case _:
                return NEVER if is_barrier(op) else ALWAYS

    def _of_group(self, op: NamedBarrierOp) -> Formula:
        """Return that both threads come to a named barrier with different ids."""
        try:
            ids = [point.index(op.id) for point in (self._first, self._second)]
        except NotCoveredError:
            return ALWAYS
        return Not(IsZero(ids[0] - ids[1]))

    def _of_loop(self, loop: scf.ForOp, at: ThreadPoint | None) -> Formula:
        body = self.passed(loop.body.block.ops, None)
        if body == ALWAYS:
            return ALWAYS
        try:
            point = self._first if at is None else at
            low, high = point.index(loop.lb), point.index(loop.ub)
        except NotCoveredError:
            return ALWAYS
        if isinstance(low, AffineConstantExpr) and isinstance(high, AffineConstantExpr):
            return body if low.value < high.value else ALWAYS
        return ALWAYS if at is None else either([body, NonNegative(low - high)])

    def _of_branch(self, op: scf.IfOp, at: ThreadPoint | None) -> Formula:
        sides = [self.passed(_ops_of(region.blocks), at) for region in op.regions]
        if at is None or sides == [ALWAYS, ALWAYS]:
            return either(sides)
        try:
            condition = at.condition(op.cond)
        except NotCoveredError:
            return either(sides)
        return either([both([condition, sides[0]]), both([Not(condition), sides[1]])])


def _ops_of(blocks: Iterable[Block]) -> list[Operation]:
    return [op for block in blocks for op in block.ops]


def is_barrier(op: Operation) -> bool:
    """True if all threads of the block wait at `op` for each other."""
    if isinstance(op, RingWaitOp):
        assert isinstance(op.ring.type, RingType)
        return op.ring.type.transport.data is not Transport.TMA
    return isinstance(op, BarrierOp | ClusterBarrierOp | ArriveOp)
