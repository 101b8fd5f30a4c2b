# SPDX-License-Identifier: Apache-2.0
"""
Warp collectives: shuffles, votes, reductions and matches. PTX ISA, "shfl.sync" and others.

Each builder names the source values of the lanes, and computes results from the values of all
lanes. The machine waits for the lanes of the member mask (`collectives.py`).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tilewright.codegen.simulator.lanes import WARP
from tilewright.codegen.simulator.meeting import Collective, Meeting
from tilewright.codegen.simulator.operands import TYPES, Instruction, Pair, Sink
from tilewright.codegen.simulator.unit import Unit, modifiers, unknown

_SHUFFLES: dict[str, Callable[[Any, Any, Any, Any], tuple[Any, Any]]] = {
    "up": lambda lane, b, low, high: (lane - b, lane - b >= high),
    "down": lambda lane, b, low, high: (lane + b, lane + b <= high),
    "bfly": lambda lane, b, low, high: (lane ^ b, (lane ^ b) <= high),
    "idx": lambda lane, b, low, high: (low | b, (low | b) <= high),
}
"""
Functions that return the source lane of a shuffle and whether this lane is valid, by shuffle mode.

Arguments are the lane, the operand, and the first and last lane of the segment.
"""
_REDUCTIONS: dict[str, np.ufunc] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
_VOTES = ("all", "any", "uni", "ballot")


def _shuffle(unit: Unit, instruction: Instruction) -> Collective:
    mode = modifiers(instruction, ("sync", *_SHUFFLES)) - {"sync"}
    if len(mode) != 1 or instruction.type != "b32":
        raise unknown(instruction)
    place = _SHUFFLES[mode.pop()]
    target, value, b, clamp, mask = instruction.operands
    both = target if isinstance(target, Pair) else Pair(target, Sink())
    registers = unit.registers
    result, inside = registers.target(both.value, "b32"), registers.target(both.predicate, "pred")

    def meet(meeting: Meeting) -> None:
        lane = meeting.lane_in_warp
        amount, clamps = meeting.mine(1).astype(np.int64), meeting.mine(2).astype(np.int64)
        segment = clamps >> 8 & 31
        last = (lane & segment) | (clamps & 31 & ~segment)
        amount = amount & 31 & ~segment if "idx" in instruction.parts else amount & 31
        source, valid = place(lane, amount, lane & segment, last)
        source = np.where(valid, source, lane) & 31
        meeting.check_source(source)
        result[meeting.index] = meeting.of(0, source)
        inside[meeting.index] = valid

    sources = [registers.source(each, "b32") for each in (value, b, clamp)]
    return Collective(instruction, sources, registers.source(mask, "b32"), meet)


def _vote(unit: Unit, instruction: Instruction) -> Collective:
    (kind,) = modifiers(instruction, ("sync", *_VOTES)) - {"sync"}
    target, value, mask = instruction.operands
    registers = unit.registers
    result = registers.target(target, instruction.type)

    def meet(meeting: Meeting) -> None:
        ballot, members = meeting.ballot(0), meeting.members
        outcome = {
            "ballot": ballot,
            "any": ballot != 0,
            "all": ballot == members,
            "uni": (ballot == members) | (ballot == 0),
        }
        result[meeting.index] = outcome[kind]

    return Collective(
        instruction, [registers.source(value, "pred")], registers.source(mask, "b32"), meet
    )


def _reduce(unit: Unit, instruction: Instruction) -> Collective:
    (operation,) = modifiers(instruction, ("sync", *_REDUCTIONS)) - {"sync"}
    ufunc, dtype = _REDUCTIONS[operation], TYPES[instruction.type]
    bounds = np.iinfo(dtype)
    neutral = {"min": bounds.max, "max": bounds.min, "and": bounds.max if dtype.kind == "u" else -1}
    target, value, mask = instruction.operands
    registers = unit.registers
    result = registers.target(target, dtype)

    def meet(meeting: Meeting) -> None:
        everyone = np.where(meeting.member_table, meeting.table(0), neutral.get(operation, 0))
        result[meeting.index] = ufunc.reduce(everyone.astype(dtype), axis=1, dtype=dtype)

    return Collective(
        instruction, [registers.source(value, dtype)], registers.source(mask, "b32"), meet
    )


def _match(unit: Unit, instruction: Instruction) -> Collective:
    """
    Compile `match.any`: the members with the lane's value; or `match.all`: all members if they
    agree.
    """
    parts = modifiers(instruction, ("sync", "any", "all"))
    target, value, mask = instruction.operands
    both = target if isinstance(target, Pair) else Pair(target, Sink())
    registers = unit.registers
    result, agree = registers.target(both.value, "b32"), registers.target(both.predicate, "pred")

    def meet(meeting: Meeting) -> None:
        equal = (meeting.table(0) == meeting.mine(0)[:, None]) & meeting.member_table
        found = (equal << np.arange(WARP, dtype=np.uint64)).sum(axis=1).astype(np.uint32)
        agrees = found == meeting.members
        result[meeting.index] = np.where(agrees, found, 0) if "all" in parts else found
        agree[meeting.index] = agrees

    return Collective(
        instruction,
        [registers.source(value, instruction.type)],
        registers.source(mask, "b32"),
        meet,
    )


def synchronise(unit: Unit, instruction: Instruction) -> Collective:
    """Compile `bar.warp.sync`, which exchanges no values: it waits, and orders memory."""
    (mask,) = instruction.operands
    return Collective(instruction, [], unit.registers.source(mask, "b32"), lambda _: None, True)


WARP_TOGETHER: dict[str, Callable[[Unit, Instruction], Collective]] = {
    "shfl": _shuffle,
    "vote": _vote,
    "redux": _reduce,
    "match": _match,
}
