# SPDX-License-Identifier: Apache-2.0
"""
Loops that wait for another thread by asking again and again.

The machine runs groups one at a time, so a group that asks must let all others go first. A loop is
such a loop if what an atomic, a strong load or a test of an mbarrier says decides whether it ends,
or if a plain load decides it and nothing else does (`asking_loops.py`).
"""

from tilewright.codegen.simulator.asking_loops import branch_target, counts, only_loads
from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.kernel import Kernel
from tilewright.codegen.simulator.lanes import Lanes, merge
from tilewright.codegen.simulator.operands import Instruction
from tilewright.codegen.simulator.register_uses import names, targets

_ASKING = ("volatile", "relaxed", "acquire", "test_wait")
_LAST_CHANCE = 50
"""Consecutive turns without progress: as many threads spin, no other runs, no memory changes."""
_MOST_CHANGES = 20_000
"""Changes of flags, counters and the like by threads that ask, as those that take tickets."""


def spinning_branches(kernel: Kernel) -> set[int]:
    """Return the instructions that branch back in such a loop."""
    found: set[int] = set()
    for place, instruction in enumerate(kernel.instructions):
        start = branch_target(kernel, instruction)
        if start is None or start > place:
            continue
        if _asks(kernel, start, place) or only_loads(kernel, start, place):
            found.add(place)
    return found


def counted_branches(kernel: Kernel, spinning: set[int]) -> set[int]:
    """Return the branches of loops that end by themselves, as those that give up at some time."""
    starts = {place: branch_target(kernel, kernel.instructions[place]) for place in spinning}
    return {
        place
        for place, start in starts.items()
        if start is not None and counts(kernel.instructions[start : place + 1])
    }


def is_asked_again(kernel: Kernel, instruction: Instruction) -> bool:
    """True if an instruction stands in a loop that what others do may end."""
    for end in spinning_branches(kernel):
        start = branch_target(kernel, kernel.instructions[end])
        assert start is not None
        here = any(each is instruction for each in kernel.instructions[start : end + 1])
        if here and _asks(kernel, start, end, ends=True):
            return True
    return False


def endless_branches(kernel: Kernel) -> set[int]:
    """
    Return the instructions that branch back in a loop that nothing can end.

    A compiler makes `while (x[0] == 0) {}` such a loop, for it may read a plain flag once.
    """
    found: set[int] = set()
    for end, instruction in enumerate(kernel.instructions):
        start = branch_target(kernel, instruction)
        if start is not None and start <= end and instruction.predicate is None:
            body = range(start, end + 1)
            if not any(_may_leave(kernel, place, body) for place in body):
                found.add(end)
    return found


def _may_leave(kernel: Kernel, place: int, body: range) -> bool:
    instruction = kernel.instructions[place]
    if instruction.root == "bra":
        return branch_target(kernel, instruction) not in body
    return instruction.root in ("ret", "exit", "trap", "brx")


def _asks(kernel: Kernel, start: int, end: int, *, ends: bool = False) -> bool:
    """True if a branch of the loop depends on an answer; `ends`: one that leaves it or repeats."""
    body = kernel.instructions[start : end + 1]
    answers = set[str]()
    for _ in range(2):
        for instruction in body:
            asks = instruction.root == "atom" or (
                instruction.root in ("ld", "mbarrier") and set(instruction.parts) & set(_ASKING)
            )
            reads = names(instruction.operands[1:])
            if instruction.root != "bra" and (asks or answers.intersection(reads)):
                answers.update(targets(instruction))
    within = range(start + 1, end + 1)
    branches = [
        instruction.predicate
        for instruction in body
        if instruction.root == "bra" and not (ends and branch_target(kernel, instruction) in within)
    ]
    return any(p is not None and p.register.name in answers for p in branches)


class SpinHall:
    """The lanes that go round such a loop, and wait for all others to have run."""

    def __init__(self, geometry: Geometry, findings: Findings):
        self._geometry = geometry
        self._findings = findings
        self._waiting: list[tuple[range, Instruction, Lanes]] = []
        self._asked: set[range] = set()
        """The loops that are in their next turn."""
        self._turns = 0
        self._last = 0
        self._changes = 0
        self._counts = False
        """True if a loop that ends by itself is among those that wait."""

    def come(self, loop: range, instruction: Instruction, lanes: Lanes, *, counts: bool) -> None:
        """The lanes branch back in a loop; `counts` is true if it ends by itself."""
        self._waiting.append((loop, instruction, lanes))
        self._counts |= counts

    def others_ran(self) -> None:
        """Somebody has gone on."""
        self._turns = 0

    def ran(self, place: int, last: int) -> None:
        """Some lanes have executed instructions: those of loops that wait, or others."""
        if self._turns and not any(place in loop and last in loop for loop in self._asked):
            self._turns = 0

    def settle(self, others: int, changes: int) -> list[tuple[int, Lanes]]:
        """
        Ask again, unless nothing has changed for long.

        So many `others` go on between; `changes` counts what strong accesses have changed.
        """
        count = sum(lanes.count for _, _, lanes in self._waiting) + others
        changed = self._changes != changes < _MOST_CHANGES
        same = count == self._last and not self._counts and not changed
        self._turns = self._turns + 1 if same else 0
        self._last, self._changes = count, changes
        self._counts = False
        if self._turns > _LAST_CHANCE:
            return []
        waiting, self._waiting = self._waiting, []
        loops = {loop for loop, _, _ in waiting}
        self._asked = self._asked | loops if self._turns else loops
        return [(loop.start, lanes) for loop, _, lanes in waiting]

    def stuck(self) -> Lanes | None:
        """Report a deadlock; returns the lanes that will never go on."""
        for _, instruction, lanes in self._waiting:
            self._findings.add(
                Kind.DEADLOCK,
                instruction.line,
                f"{self._geometry.name(int(lanes.numbers()[0]))} asks forever for what nobody does",
            )
        lanes = [lanes for _, _, lanes in self._waiting]
        self._waiting = []
        return merge(lanes, self._geometry.lanes) if lanes else None
