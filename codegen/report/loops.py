# SPDX-License-Identifier: Apache-2.0
"""
Natural loops of a kernel's code.

A natural loop is a backward jump to a place that dominates it, with all places on paths between
them. A jump backward in the text is not enough: compilers put rare code behind the kernel, and this
code jumps back too.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce

from tilewright.codegen.report.instruction import Category, Code, Instruction

_ARITHMETIC = {
    Category.FFMA,
    Category.FLOAT,
    Category.HALF,
    Category.DOUBLE,
    Category.HMMA,
    Category.MATRIX,
    Category.SPECIAL,
}
"""Categories of instructions that compute the kernel's results."""

_WORK = _ARITHMETIC | {
    Category.ATOMIC,
    Category.LDG,
    Category.STG,
    Category.LDS,
    Category.LDSM,
    Category.STS,
    Category.LDGSTS,
    Category.TMA,
}
"""
Categories of instructions that do a kernel's actual work, arithmetic and memory accesses; other
instructions only serve them.
"""

_STEPS_INSIDE = 8
"""Assumed number of steps of an inner loop for each step of the loop around it."""

_KERNELS = 128
"""
Kernels whose loops are memoised. A report reads the loops of all kernels, and then their clocks do.
"""


@dataclass(frozen=True)
class Loop:
    """A loop of a kernel's code. Places count instructions from the kernel's start."""

    start: int
    """Place that the loop's back edge jumps to."""
    body: frozenset[int]
    """Places of the loop except those of inner loops; inner loops that only wait are included."""
    whole: frozenset[int]
    """Places of the loop, those of inner loops included."""
    depth: int
    """Number of loops around this loop."""


def loop_around(loop: Loop, candidates: Iterable[Loop]) -> Loop | None:
    """Return the smallest of `candidates` that contains `loop`, or None."""
    around = (other for other in candidates if loop.whole < other.whole)
    return min(around, key=lambda other: len(other.whole), default=None)


@lru_cache(maxsize=_KERNELS)
def reachable(code: Code) -> frozenset[int]:
    """
    Return the places that are reachable from the kernel's start: neither called functions nor
    padding.
    """
    return frozenset(_order(code))


@lru_cache(maxsize=_KERNELS)
def loops(code: Code) -> tuple[Loop, ...]:
    """Return all loops except those that only wait, sorted by start, outer loops first."""
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
    Return the loop with most of the work, as estimated from the code; None without loops.

    Arithmetic counts first, other work breaks ties. An inner loop that only copies a slab is
    therefore not the main one; the loop that computes is. A matrix instruction counts as its
    multiply-adds.
    """

    def weight(loop: Loop) -> tuple[float, int]:
        body = [code.instructions[place] for place in loop.body]
        times = _STEPS_INSIDE**loop.depth
        computed = sum(_computed(each) for each in body)
        return times * computed, times * sum(each.category in _WORK for each in body)

    return max(loops(code), key=weight, default=None)


def _computed(instruction: Instruction) -> float:
    """Return the arithmetic of an instruction in a thread, where a multiply-add counts as one."""
    if instruction.matrix is not None:
        return instruction.matrix.flops / 2
    return instruction.category in _ARITHMETIC


def _successors(code: Code, place: int) -> list[int]:
    instruction = code.instructions[place]
    follows = [place + 1] if instruction.falls_through else []
    jumps = [] if instruction.target is None else [instruction.target]
    return [next_place for next_place in follows + jumps if next_place < len(code.instructions)]


def _order(code: Code) -> list[int]:
    """Return the reachable places in reverse postorder of a depth-first search."""
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
    """Return the predecessors of each place."""
    found: dict[int, list[int]] = {place: [] for place in order}
    for place in order:
        for next_place in _successors(code, place):
            found[next_place].append(place)
    return found


def _natural_loops(code: Code) -> dict[int, frozenset[int]]:
    """Return the places of each loop by its start; back edges to the same start form one loop."""
    order = _order(code)
    predecessors = _predecessors(code, order)
    rank = {place: number for number, place in enumerate(order)}
    above = _dominators(rank, predecessors)
    found: dict[int, frozenset[int]] = {}
    for start, before in predecessors.items():
        for jump in before:
            # A place's dominators precede it in reverse postorder.
            if rank[start] <= rank[jump] and _dominates(start, jump, above):
                body = _between(start, jump, predecessors)
                found[start] = found.get(start, frozenset()) | body
    return found


def _between(start: int, jump: int, predecessors: Mapping[int, list[int]]) -> frozenset[int]:
    """
    Return `start`, `jump`, and all places from which a path leads to `jump` without passing
    `start`.
    """
    body, waiting = {start}, [jump]
    while waiting:
        place = waiting.pop()
        if place not in body:
            body.add(place)
            waiting.extend(predecessors[place])
    return frozenset(body)


def _dominators(rank: Mapping[int, int], predecessors: Mapping[int, list[int]]) -> dict[int, int]:
    """
    Return the immediate dominator of each place; the start's is itself.

    `rank` numbers places in reverse postorder. Algorithm: Cooper, Harvey, Kennedy, "A Simple, Fast
    Dominance Algorithm".
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
