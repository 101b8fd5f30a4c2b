# SPDX-License-Identifier: Apache-2.0
"""
Order in which a warp executes the instructions of a kernel, with a few steps of each loop.

    prologue, step 1 of the loop, ..., step n of the loop, epilogue

Both sides of a condition are executed, as in the report's estimate, with these exceptions:

* code that starts TMA copies or makes mbarriers is executed by the first warp of a block only;
* slow paths (calls of functions), and versions of a loop that the estimate does not count, are
  skipped;
* loops that wait are executed once, because the simulation of the wait takes their time;
* blocks that share a result by `last_block`: only the last one executes the code behind the exit of
  the others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tilewright.codegen.report.clock.places import Action, Place
from tilewright.codegen.report.instruction import Category, Code, Instruction
from tilewright.codegen.report.loops import Loop, loop_around, loops

_MOST_PLACES = 60_000
"""Limit of a route's length; codes of this size are truncated."""


@dataclass
class Route:
    """Places that the first warp of a block executes, and those of the other warps."""

    first: list[int]
    others: list[int]
    steps: dict[Loop, int]
    """Steps of each loop in the route."""
    producing: frozenset[int] = field(default_factory=frozenset[int])
    """Places that only the first warp executes."""
    exit_first: int | None = None
    """
    Length of `first` up to the exit of blocks that leave the rest to the last block; None if all
    blocks execute all.
    """
    exit_others: int | None = None


def route_of(
    code: Code, places: Sequence[Place], trips: Mapping[Loop, float], most_steps: int
) -> Route:
    """
    Return the route of the warps of a block, with at most `most_steps` steps of each loop at a
    time. `trips` are the steps of the counted loops in the whole kernel.
    """
    return Routes(code, places, trips).route(most_steps)


def _producing(code: Code, places: Sequence[Place]) -> frozenset[int]:
    """
    Return the places that a forward branch skips and that start TMA copies or make mbarriers, which
    only one thread of a block does.
    """
    found: set[int] = set()
    for place in range(len(code.instructions)):
        skipped = _skipped(code, place)
        if any(
            places[inside].action in (Action.BOX, Action.EXPECT)
            or code.instructions[inside].opcode.startswith("SYNCS.EXCH")
            for inside in skipped
        ):
            # The smallest of these branches is around the copies, others are around their loop.
            inner = [p for p in skipped if _starts(code, p, skipped)]
            if not inner:
                found.update(skipped)
    return frozenset(found)


def _starts(code: Code, place: int, around: range) -> bool:
    """True if a forward branch at `place` skips a part of `around` that copies boxes."""
    skipped = _skipped(code, place)
    return skipped.stop <= around.stop and any(
        code.instructions[inside].category is Category.TMA for inside in skipped
    )


def _skipped(code: Code, place: int) -> range:
    """
    Return the places that a conditional forward branch skips. The range is empty for other
    instructions, and for branches to rare code behind the end of the kernel.
    """
    instruction = code.instructions[place]
    target = instruction.target
    if target is None or not instruction.falls_through or not instruction.opcode.startswith("BRA"):
        return range(0)
    skipped = range(place + 1, target)
    is_end = any(
        code.instructions[inside].opcode == "EXIT" and not code.instructions[inside].predicate
        for inside in skipped
    )
    return range(0) if is_end else skipped


def boxes_of_fills(places: Sequence[Place], first: Sequence[int]) -> dict[int, int]:
    """
    Return the number of TMA copies that follow each arrival that opens a group, by the arrival's
    index in the route of the first warp.
    """
    found: dict[int, int] = {}
    latest = None
    for index, number in enumerate(first):
        if places[number].action is Action.EXPECT:
            latest = index
            found[latest] = 0
        elif places[number].action is Action.BOX and latest is not None:
            found[latest] += 1
    return found


class Routes:
    """Walk through the code of a kernel as a warp does it, for several numbers of steps."""

    def __init__(self, code: Code, places: Sequence[Place], trips: Mapping[Loop, float]):
        self.code = code
        self.trips = trips
        self.producing = _producing(code, places)
        self.by_start = {loop.start: loop for loop in trips}
        self.uncounted = {loop.start for loop in loops(code)} - set(self.by_start)
        self.is_endless = {loop: _is_endless(code, loop) for loop in trips}
        instructions = code.instructions
        self.atomics = {n for n, i in enumerate(instructions) if i.category is Category.ATOMIC}
        self._straight: dict[int, tuple[int, list[int]]] = {}
        """End of the straight code that begins at a place, and the places that are executed."""

    def route(self, most_steps: int) -> Route:
        """Return the route with at most `most_steps` steps of each loop at a time."""
        first, steps = self._walk(most_steps, skips_producing=False)
        others = first
        if self.producing:
            others, _ = self._walk(most_steps, skips_producing=True)
        return Route(first, others, steps, self.producing, self._exit(first), self._exit(others))

    def _exit(self, walked: Sequence[int]) -> int | None:
        """
        Return the length of a route up to its first conditional exit behind an atomic operation;
        None without one.
        """
        counted = (index for index, place in enumerate(walked) if place in self.atomics)
        if not self.atomics or (first := next(counted, None)) is None:
            return None
        for index in range(first, len(walked)):
            instruction = self.code.instructions[walked[index]]
            if instruction.opcode == "EXIT" and instruction.predicate:
                return index + 1
        return None

    def _walk(self, most_steps: int, *, skips_producing: bool) -> tuple[list[int], dict[Loop, int]]:
        """Return the places in the order of execution, and the steps of each loop."""
        steps = dict.fromkeys(self.trips, 0)
        left: dict[Loop, int] = {}
        found: list[int] = []
        instructions = self.code.instructions
        place, before = 0, -1
        while 0 <= place < len(instructions) and len(found) < _MOST_PLACES:
            if loop := self.by_start.get(place):
                if before not in loop.whole:
                    goal = min(most_steps, max(1, round(_at_a_time(loop, self.trips))))
                    left[loop] = goal + self.is_endless[loop]
                left[loop] -= 1
                steps[loop] += 1
            end, executed = self._straight_from(place)
            found += executed
            before = end - 1
            place = self._next(before, instructions[before], left, skips_producing)
        return found[:_MOST_PLACES], steps

    def _straight_from(self, place: int) -> tuple[int, list[int]]:
        """
        Return the end of the code that a warp executes from `place` on without a jump and without
        the start of another loop, and the places there that are executed.
        """
        if place not in self._straight:
            instructions, end = self.code.instructions, place + 1
            while (
                instructions[end - 1].target is None
                and instructions[end - 1].falls_through
                and end < len(instructions)
                and end not in self.by_start
            ):
                end += 1
            executed = [n for n in range(place, end) if not _is_polling(instructions[n])]
            self._straight[place] = end, executed
        return self._straight[place]

    def _next(
        self, place: int, instruction: Instruction, left: Mapping[Loop, int], skips_producing: bool
    ) -> int:
        """Return the place after `place`; -1 at the end."""
        target, after = instruction.target, place + 1
        if target is None or not instruction.opcode.startswith(("BRA", "JMP")):
            return after if instruction.falls_through else -1
        if target <= place:
            loop = self.by_start.get(target)
            if loop is None:
                return after  # polls, or is a version of a loop that does not count
            return target if left[loop] > 0 else after
        if not instruction.falls_through:
            return target
        inside = [loop for loop in left if place in loop.whole and target not in loop.whole]
        if inside:  # leaves a loop whose back edge is unconditional
            is_last = all(left[loop] <= 0 for loop in inside)
            return target if is_last and self.is_endless[inside[0]] else after
        return target if self._skips(_skipped(self.code, place), skips_producing) else after

    def _skips(self, skipped: range, skips_producing: bool) -> bool:
        """True if a forward branch over the places `skipped` is taken."""
        if skipped and skipped[0] in self.producing:
            return skips_producing
        instructions = self.code.instructions
        has_call = any(instructions[place].opcode.startswith("CALL") for place in skipped)
        has_version = any(place in self.uncounted for place in skipped)
        has_counted = any(place in self.by_start for place in skipped)
        if not has_counted and self._has_loop_beside(skipped):
            return True
        return (has_call or has_version) and not has_counted

    def _has_loop_beside(self, skipped: range) -> bool:
        """True if a counted loop is on the other side of the condition that skips these places."""
        if not skipped:
            return False
        end = self.code.instructions[skipped[-1]]
        if end.target is None or end.falls_through or not end.opcode.startswith("BRA"):
            return False
        return any(place in self.by_start for place in range(skipped.stop, end.target))


def _at_a_time(loop: Loop, trips: Mapping[Loop, float]) -> float:
    """Return the steps that a loop runs each time that it is entered."""
    outer = loop_around(loop, trips)
    return trips[loop] / (trips[outer] if outer else 1)


def _is_endless(code: Code, loop: Loop) -> bool:
    """True if a back edge of a loop is unconditional, and the loop ends in its middle."""
    return any(
        code.instructions[place].target == loop.start and not code.instructions[place].falls_through
        for place in loop.whole
    )


def _is_polling(instruction: Instruction) -> bool:
    """True for the second test of an mbarrier and the pause before it, after a failed first one."""
    return instruction.opcode.startswith("NANOSLEEP") or (
        instruction.opcode.startswith("SYNCS.PHASECHK") and "TRYWAIT" not in instruction.opcode
    )
