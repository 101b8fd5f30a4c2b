# SPDX-License-Identifier: Apache-2.0
"""`mbarrier.*` instructions, except for the waiting of `try_wait`. PTX ISA, "mbarrier"."""

from collections.abc import Callable

import numpy as np

from tilewright.codegen.simulator.asking_loops import decides_a_loop
from tilewright.codegen.simulator.instructions.memory_access import addresses
from tilewright.codegen.simulator.lanes import Lanes
from tilewright.codegen.simulator.memory import Access, Mode, Place
from tilewright.codegen.simulator.operands import Instruction, Operand, Sink
from tilewright.codegen.simulator.phase_waits import PhaseWait
from tilewright.codegen.simulator.registers import Values
from tilewright.codegen.simulator.scopes import Level
from tilewright.codegen.simulator.unit import Builder, Step, Unit, modifiers, unknown

_SPACES = ("shared", "shared_cta", "shared_cluster")
_ORDERS = ("acquire", "release", "relaxed", "cta", "cluster")
_SIZE = 8

Places = Callable[[Lanes], list[Place]]


def _places(unit: Unit, instruction: Instruction, operand: Operand, mode: Mode) -> Places:
    """
    Return a function that yields the places of the mbarriers that lanes name, after checks of
    bounds and races.
    """
    where = addresses(unit, operand)
    access = Access(mode, _SIZE, instruction.line)
    named = set(instruction.parts) & set(_SPACES)
    space = unit.shared if named else unit.spaces["generic"]
    return lambda lanes: list(space.places(lanes, where(lanes), access))


def _value(unit: Unit, operands: list[Operand], default: int) -> Values:
    if operands:
        return unit.registers.source(operands[0], "u32")
    return np.broadcast_to(np.uint32(default), unit.registers.lanes)


def _init(unit: Unit, instruction: Instruction) -> Step:
    modifiers(instruction, ("init", *_SPACES))
    where, *rest = instruction.operands
    places = _places(unit, instruction, where, Mode.MAKE)
    count = _value(unit, rest, 0)

    def run(lanes: Lanes) -> None:
        for place in places(lanes):
            counts = count[place.lanes.index].astype(np.int64)
            place.block.items(_SIZE)[place.offsets // _SIZE] = 0
            makers = place.lanes.numbers()
            unit.mbarriers.init(makers, place.offsets, counts, instruction.line)

    return run


def _invalidate(unit: Unit, instruction: Instruction) -> Step:
    modifiers(instruction, ("inval", *_SPACES))
    places = _places(unit, instruction, instruction.operands[0], Mode.MAKE)

    def run(lanes: Lanes) -> None:
        for place in places(lanes):
            unit.mbarriers.invalidate(place.offsets)

    return run


def _expect(unit: Unit, instruction: Instruction) -> Step:
    modifiers(instruction, ("expect_tx", *_SPACES, *_ORDERS))
    where, *rest = instruction.operands
    places = _places(unit, instruction, where, Mode.OBJECT)
    bytes = _value(unit, rest, 0)

    def run(lanes: Lanes) -> None:
        for place in places(lanes):
            expected = bytes[place.lanes.index].astype(np.int64)
            unit.mbarriers.expect(place.lanes.numbers(), place.offsets, expected, instruction.line)

    return run


def _arrive(unit: Unit, instruction: Instruction) -> Step:
    """
    Compile `arrive` or `arrive.expect_tx`, which arrives once; a remote arrival returns nothing.
    """
    parts = modifiers(instruction, ("arrive", "expect_tx", *_SPACES, *_ORDERS))
    target, where, *rest = instruction.operands
    places = _places(unit, instruction, where, Mode.OBJECT)
    state = None if isinstance(target, Sink) else unit.registers.target(target, "b64")
    expects = "expect_tx" in parts
    releases = _level(parts)
    amount = _value(unit, rest, 1)

    def run(lanes: Lanes) -> None:
        for place in places(lanes):
            numbers = place.lanes.numbers()
            count = amount[place.lanes.index].astype(np.int64)
            if expects:
                unit.mbarriers.expect(numbers, place.offsets, count, instruction.line)
                count = np.ones_like(count)
            phase = unit.mbarriers.arrive(numbers, place.offsets, count, instruction.line, releases)
            if state is not None:
                state[place.lanes.index] = phase

    return run


def arrive_after_copies(unit: Unit, instruction: Instruction) -> Step:
    """
    Compile `cp.async.mbarrier.arrive{.noinc}`: it arrives when the thread's `cp.async` have landed.
    """
    parts = modifiers(instruction, ("async", "mbarrier", "arrive", "noinc", "shared", "shared_cta"))
    (where,) = instruction.operands
    places = _places(unit, instruction, where, Mode.OBJECT)
    hand_over, counted = unit.copies.hand_over, "noinc" in parts

    def run(lanes: Lanes) -> None:
        for place in places(lanes):
            where = place.lanes.numbers(), place.offsets
            unit.mbarriers.follow(*where, hand_over, instruction.line, counted=counted)

    return run


def _level(parts: set[str]) -> Level | None:
    """
    Return the level at which an arrival releases or a wait acquires: the block, if none is named.

    It is None for a relaxed instruction.
    """
    if "relaxed" in parts:
        return None
    return Level.CLUSTER if "cluster" in parts else Level.BLOCK


def phase_wait(unit: Unit, instruction: Instruction) -> PhaseWait:
    """
    Return the wait of `test_wait` or `try_wait`, by a phase's parity or by the result of `arrive`.
    """
    place = next(n for n, each in enumerate(unit.kernel.instructions) if each is instruction)
    parts = modifiers(instruction, ("test_wait", "try_wait", "parity", *_SPACES, *_ORDERS))
    target, where, phase, *_ = instruction.operands
    parity = "parity" in parts
    return PhaseWait(
        instruction,
        _places(unit, instruction, where, Mode.OBJECT),
        unit.registers.source(phase, "u32" if parity else "b64"),
        unit.registers.target(target, "pred"),
        parity,
        _level(parts),
        once=not decides_a_loop(unit.kernel, place),
    )


def _test(unit: Unit, instruction: Instruction) -> Step:
    wait = phase_wait(unit, instruction)

    def run(lanes: Lanes) -> None:
        wait.test(unit.mbarriers, lanes)

    return run


_KINDS: dict[str, Builder] = {
    "init": _init,
    "inval": _invalidate,
    "expect_tx": _expect,
    "arrive": _arrive,
    "test_wait": _test,
    "try_wait": _test,
}


def _mbarrier(unit: Unit, instruction: Instruction) -> Step:
    kind = instruction.parts[1]
    if kind not in _KINDS or instruction.type != "b64":
        raise unknown(instruction)
    return _KINDS[kind](unit, instruction)


MBARRIER: dict[str, Builder] = {"mbarrier": _mbarrier}
