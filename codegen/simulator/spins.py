# SPDX-License-Identifier: Apache-2.0
"""
Spin loops, which wait for another thread by polling.

The machine runs groups one at a time, so a polling group must let all others run first. A loop
spins if a branch in it depends on the result of an atomic, a strong load or a test of an mbarrier.
It also spins if it only makes plain loads to decide when it ends (`asking_loops.py`).
"""

from tilewright.codegen.simulator.asking_loops import branch_target, counts, only_loads
from tilewright.codegen.simulator.findings import Findings, Kind
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.kernel import Kernel
from tilewright.codegen.simulator.lanes import Lanes, merge
from tilewright.codegen.simulator.operands import Instruction
from tilewright.codegen.simulator.register_uses import names, targets

_POLLING = ("volatile", "relaxed", "acquire", "test_wait")
_MOST_IDLE_TURNS = 50
"""
Maximum number of consecutive turns without progress: after more, a deadlock is reported.

There is progress if the number of spinning threads changes, another thread runs, or memory changes.
"""
_MOST_CHANGES = 20_000
"""
Number of changes of memory in a launch after which a change no longer counts as progress of polling
threads.
"""


def spinning_branches(kernel: Kernel) -> set[int]:
    """Return the places of branches that close a spin loop."""
    found: set[int] = set()
    for place, instruction in enumerate(kernel.instructions):
        start = branch_target(kernel, instruction)
        if start is None or start > place:
            continue
        if _polls(kernel, start, place) or only_loads(kernel, start, place):
            found.add(place)
    return found


def counted_branches(kernel: Kernel, spinning: set[int]) -> set[int]:
    """
    Return the branches among `spinning` whose loop a counter can end, such as loops that give up
    after a time.
    """
    starts = {place: branch_target(kernel, kernel.instructions[place]) for place in spinning}
    return {
        place
        for place, start in starts.items()
        if start is not None and counts(kernel.instructions[start : place + 1])
    }


def is_in_polling_loop(kernel: Kernel, instruction: Instruction) -> bool:
    """True if an instruction is in a loop that ends when a polled value changes."""
    for end in spinning_branches(kernel):
        start = branch_target(kernel, kernel.instructions[end])
        assert start is not None
        here = any(each is instruction for each in kernel.instructions[start : end + 1])
        if here and _polls(kernel, start, end, ends=True):
            return True
    return False


def endless_branches(kernel: Kernel) -> set[int]:
    """
    Return the places of branches that close a loop that nothing can end.

    A compiler may turn `while (x[0] == 0) {}` into such a loop, as it may read a plain flag only
    once.
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


def _polls(kernel: Kernel, start: int, end: int, *, ends: bool = False) -> bool:
    """
    True if a branch of the loop depends on a polled value.

    With `ends`, only branches count that leave or repeat the loop.
    """
    body = kernel.instructions[start : end + 1]
    answers = set[str]()
    for _ in range(2):
        for instruction in body:
            asks = instruction.root == "atom" or (
                instruction.root in ("ld", "mbarrier") and set(instruction.parts) & set(_POLLING)
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
    """Lanes that spin in polling loops and wait for all other lanes to run."""

    def __init__(self, geometry: Geometry, findings: Findings):
        self._geometry = geometry
        self._findings = findings
        self._waiting: list[tuple[range, Instruction, Lanes]] = []
        self._polled: set[range] = set()
        """Loops in which lanes are running a turn after they have been resumed."""
        self._turns = 0
        self._last = 0
        self._changes = 0
        self._counts = False
        """True if a loop that ends by a counter is among the waiting loops."""

    def come(self, loop: range, instruction: Instruction, lanes: Lanes, *, counts: bool) -> None:
        """
        Set lanes aside that branch back in a spin loop; `counts` is true if a counter can end the
        loop.
        """
        self._waiting.append((loop, instruction, lanes))
        self._counts |= counts

    def others_ran(self) -> None:
        """Record progress: lanes that waited elsewhere continue."""
        self._turns = 0

    def ran(self, place: int, last: int) -> None:
        """
        Record progress if lanes have executed instructions outside of the polling loops, from
        `place` to `last`.
        """
        if self._turns and not any(place in loop and last in loop for loop in self._polled):
            self._turns = 0

    def settle(self, others: int, changes: int) -> list[tuple[int, Lanes]]:
        """
        Resume the waiting lanes for another poll, unless there has been no progress for too long.

        `others` is the number of lanes that continue besides the polling ones; `changes` counts the
        values that strong accesses have changed. Returns the lanes and the places where they
        continue.
        """
        count = sum(lanes.count for _, _, lanes in self._waiting) + others
        changed = self._changes != changes < _MOST_CHANGES
        same = count == self._last and not self._counts and not changed
        self._turns = self._turns + 1 if same else 0
        self._last, self._changes = count, changes
        self._counts = False
        if self._turns > _MOST_IDLE_TURNS:
            return []
        waiting, self._waiting = self._waiting, []
        loops = {loop for loop, _, _ in waiting}
        self._polled = self._polled | loops if self._turns else loops
        return [(loop.start, lanes) for loop, _, lanes in waiting]

    def stuck(self) -> Lanes | None:
        """Report a deadlock, and return the lanes that never continue."""
        for _, instruction, lanes in self._waiting:
            self._findings.add(
                Kind.DEADLOCK,
                instruction.line,
                f"{self._geometry.name(int(lanes.numbers()[0]))} polls forever: "
                "no thread ends its loop",
            )
        lanes = [lanes for _, _, lanes in self._waiting]
        self._waiting = []
        return merge(lanes, self._geometry.lanes) if lanes else None
