# SPDX-License-Identifier: Apache-2.0
"""
Loops of a kernel's code: natural loops, each a backward jump to a place through which every way to
the jump leads, and all that lies between.

The jump alone is not enough: compilers lay rare code behind the kernel, and it jumps back too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce

from tilewright.codegen.report.instruction import Category, Code

_ARITHMETIC = {
    Category.FFMA,
    Category.FLOAT,
    Category.HALF,
    Category.DOUBLE,
    Category.MATRIX,
    Category.SPECIAL,
}
"""What a kernel computes with."""

_WORK = _ARITHMETIC | {
    Category.ATOMIC,
    Category.LDG,
    Category.STG,
    Category.LDS,
    Category.STS,
    Category.LDGSTS,
    Category.TMA,
}
"""What a kernel is there to do; the rest serves it."""

_STEPS_INSIDE = 8
"""How often an inner loop runs for one step of the outer one, where nothing is known."""


@dataclass(frozen=True)
class Loop:
    """A loop; places count instructions from the kernel's start."""

    start: int
    """The place that it jumps back to."""
    body: frozenset[int]
    """The places of its own: not those of loops inside, unless these only wait."""
    whole: frozenset[int]
    """All places."""
    depth: int
    """Loops around it."""


@lru_cache(maxsize=8)  # asked several times of one kernel, then never again
def reachable(code: Code) -> frozenset[int]:
    """
    Return the places that the kernel itself gets to: neither functions that it calls nor padding.
    """
    return frozenset(_order(code))


@lru_cache(maxsize=8)
def loops(code: Code) -> tuple[Loop, ...]:
    """Return all loops but those that only wait, by their starts, outer loops first."""
    working = {
        start: whole
        for start, whole in _natural_loops(code).items()
        if any(code.instructions[place].category in _WORK for place in whole)
    }
    found: list[Loop] = []
    for start, whole in working.items():
        inside = [other for other in working.values() if other < whole]
        around = [other for other in working.values() if other > whole]
        found.append(Loop(start, whole.difference(*inside), whole, len(around)))
    return tuple(sorted(found, key=lambda loop: (loop.start, loop.depth)))


def main_loop(code: Code) -> Loop | None:
    """
    Return the loop that most of the work is in, as far as the code tells; None without loops.

    Where something is computed, that is the work: a loop that copies a slab for each step of the
    loop that computes is not the main one, though it is the inner one.
    """

    def weight(loop: Loop) -> tuple[int, int]:
        kinds = [code.instructions[place].category for place in loop.body]
        times = _STEPS_INSIDE**loop.depth
        computed, done = (sum(k in some for k in kinds) for some in (_ARITHMETIC, _WORK))
        return times * computed, times * done

    return max(loops(code), key=weight, default=None)


def _successors(code: Code, place: int) -> list[int]:
    instruction = code.instructions[place]
    follows = [place + 1] if instruction.falls_through else []
    jumps = [] if instruction.target is None else [instruction.target]
    return [next_place for next_place in follows + jumps if next_place < len(code.instructions)]


def _order(code: Code) -> list[int]:
    """Return the places that are reached from the start, each before what only it leads to."""
    finished: list[int] = []
    seen = {0}
    stack = [(0, iter(_successors(code, 0)))]
    while stack:
        place, successors = stack[-1]
        new = next((s for s in successors if s not in seen), None)
        if new is None:
            finished.append(place)
            stack.pop()
        else:
            seen.add(new)
            stack.append((new, iter(_successors(code, new))))
    return finished[::-1]


def _predecessors(code: Code, order: Sequence[int]) -> dict[int, list[int]]:
    """Return the places that lead to each place."""
    found: dict[int, list[int]] = {place: [] for place in order}
    for place in order:
        for next_place in _successors(code, place):
            found[next_place].append(place)
    return found


def _natural_loops(code: Code) -> dict[int, frozenset[int]]:
    """Return the places of each loop by its start; jumps back to one place make one loop."""
    order = _order(code)
    predecessors = _predecessors(code, order)
    rank = {place: number for number, place in enumerate(order)}
    above = _dominators(rank, predecessors)
    found: dict[int, frozenset[int]] = {}
    for start, before in predecessors.items():
        for jump in before:
            # Whatever dominates a place stands before it in the order.
            if rank[start] <= rank[jump] and _dominates(start, jump, above):
                body = _between(start, jump, predecessors)
                found[start] = found.get(start, frozenset()) | body
    return found


def _between(start: int, jump: int, predecessors: Mapping[int, list[int]]) -> frozenset[int]:
    """What leads to `jump` without passing `start`, and both."""
    body, waiting = {start}, [jump]
    while waiting:
        place = waiting.pop()
        if place not in body:
            body.add(place)
            waiting.extend(predecessors[place])
    return frozenset(body)


def _dominators(rank: Mapping[int, int], predecessors: Mapping[int, list[int]]) -> dict[int, int]:
    """
    For each place the nearest other one through which every way from the start leads.

    `rank` numbers places in their order. Cooper, Harvey, Kennedy: "A Simple, Fast Dominance
    Algorithm".
    """
    above = {0: 0}

    def common(a: int, b: int) -> int:
        while a != b:
            a, b = (above[a], b) if rank[a] > rank[b] else (a, above[b])
        return a

    changed = True
    while changed:
        changed = False
        for place in (place for place in rank if place):
            nearest = reduce(common, (p for p in predecessors[place] if p in above))
            changed |= above.get(place) != nearest
            above[place] = nearest
    return above


def _dominates(start: int, place: int, above: Mapping[int, int]) -> bool:
    while place not in (start, 0):
        place = above[place]
    return place == start
