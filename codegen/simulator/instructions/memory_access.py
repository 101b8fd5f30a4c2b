# SPDX-License-Identifier: Apache-2.0
"""`ld` and `st` in all spaces. PTX ISA, "ld" and "st"."""

from collections.abc import Callable

import numpy as np

from tilewright.codegen.simulator.atomic_order import strength_of
from tilewright.codegen.simulator.counters import Meter
from tilewright.codegen.simulator.instructions.elementwise import same, step
from tilewright.codegen.simulator.lanes import Integers, Lanes
from tilewright.codegen.simulator.lockstep import loads_data
from tilewright.codegen.simulator.memory import Access, Block, Mode, Place, Space
from tilewright.codegen.simulator.non_coherent import is_non_coherent
from tilewright.codegen.simulator.operands import (
    TYPES,
    Address,
    Instruction,
    Operand,
    Symbol,
    Vector,
)
from tilewright.codegen.simulator.register_uses import names
from tilewright.codegen.simulator.registers import Values
from tilewright.codegen.simulator.scopes import scope_of
from tilewright.codegen.simulator.unit import Builder, Step, Unit, modifiers, unknown

_SPACES = ("global", "shared", "shared_cta", "shared_cluster", "local", "const", "param")
_HINTS = (
    *("nc", "volatile", "relaxed", "weak", "acquire", "release", "cta", "cluster", "gpu", "sys"),
    *("ca", "cg", "cs", "lu", "cv", "wb", "wt", "L2_64B", "L2_128B", "L2_256B"),
    *("L1_evict_normal", "L1_evict_last", "L1_evict_first", "L1_no_allocate", "L1_evict_unchanged"),
    *("L2_evict_normal", "L2_evict_last", "L2_evict_first", "L2_cache_hint"),
)
"""Modifiers of loads and stores that have no effect here, because caches are not simulated."""
_VECTORS = {"v2": 2, "v4": 4}


def addresses(unit: Unit, operand: Operand) -> Callable[[Lanes], Integers]:
    """Return a function that computes the addresses `[base + offset]` that lanes name."""
    if not isinstance(operand, Address):
        raise ValueError(f"{operand} is no address")
    offset = np.int64(operand.offset)
    width = unit.registers.width(operand.base)
    base = unit.registers.source(operand.base, "u32" if width == 4 else "s64")

    def compute(lanes: Lanes) -> Integers:
        return np.add(base[lanes.index], offset, dtype=np.int64)

    return compute


def space_name(instruction: Instruction) -> str:
    """Return the state space that the opcode names; `generic` if it names none."""
    names = [part for part in instruction.parts[1:] if part in _SPACES]
    return names[0].partition("_")[0] if names else "generic"


class Port:
    """
    Port of one instruction to a state space: it computes addresses, checks them, and counts the
    accesses.
    """

    def __init__(self, unit: Unit, instruction: Instruction, operand: Operand, access: Access):
        name = space_name(instruction)
        self._addresses = addresses(unit, operand)
        self._space: Space = unit.spaces[name]
        self._access = access
        self._meter: Meter | None = unit.meters.meter(
            instruction.line, name, instruction.root, access.size
        )
        self._watch = unit.local.watch(instruction) if unit.local is not None else None
        self._atomics = unit.atomics
        self._strength = strength_of(instruction) if access.strong else None

    def places(self, lanes: Lanes) -> list[Place]:
        """
        Return the places of the lanes' valid accesses; report invalid accesses and races, and count
        the cost.
        """
        found = list(self._space.places(lanes, self._addresses(lanes), self._access))
        if self._meter is not None:
            for place in found:
                self._meter.add(place.lanes, place.offsets)
        if self._watch is not None:
            for place in found:
                self._watch(place)
        if self._strength is None:
            return found
        if self._strength.updates:
            found = [self._atomics.in_turn(place) for place in found]
        for place in found:
            self._atomics.access(place, self._strength)
        return found


def _shape(instruction: Instruction) -> tuple[int, int]:
    """Return the number of elements per lane, and the bytes of an element."""
    parts = modifiers(instruction, (*_SPACES, *_HINTS, *_VECTORS))
    vector = [count for name, count in _VECTORS.items() if name in parts]
    count, size = (vector or [1])[0], TYPES[instruction.type].itemsize
    if count * size > 16:
        raise unknown(instruction)
    return count, size


def items_of(operand: Operand) -> tuple[Operand, ...]:
    """Return the operands in a vector operand; of any other operand, the operand itself."""
    return operand.items if isinstance(operand, Vector) else (operand,)


def _load(unit: Unit, instruction: Instruction) -> Step:
    target, source, *_ = instruction.operands
    if space_name(instruction) == "param":
        return _load_parameter(unit, instruction)
    count, size = _shape(instruction)
    strong = scope_of(instruction)
    access = Access(
        Mode.LOAD,
        count * size,
        instruction.line,
        strong,
        coherent=not is_non_coherent(instruction),
        observes=strong is not None,
        data=loads_data(unit.kernel, instruction),
        vector=count,
        dropped=_dropped(unit, target),
    )
    port = Port(unit, instruction, source, access)
    targets = [unit.registers.widened(item, instruction.type) for item in items_of(target)]
    element = TYPES[instruction.type]
    if count == 1:
        return _load_one(port, targets[0], element)

    def run(lanes: Lanes) -> None:
        for place in port.places(lanes):
            items = gather(place.block, place.offsets, access.size)
            elements = items.view(element).reshape(-1, count)
            for number, register in enumerate(targets):
                register[place.lanes.index] = elements[:, number]

    return run


def _dropped(unit: Unit, target: Operand) -> tuple[int, ...]:
    """Return the numbers of the elements of a vector operand that no instruction reads."""
    if not isinstance(target, Vector):
        return ()
    return tuple(n for n, item in enumerate(target.items) if unit.read.isdisjoint(names([item])))


def _load_one(port: Port, target: Values, element: np.dtype) -> Step:
    size = element.itemsize
    direct = target.view(f"u{size}") if target.itemsize == size else None

    def run(lanes: Lanes) -> None:
        for place in port.places(lanes):
            if direct is not None and place.lanes.whole:
                index = place.offsets // size
                np.take(place.block.items(size), index, out=direct, mode="clip")
                continue
            target[place.lanes.index] = gather(place.block, place.offsets, size).view(element)

    return run


def gather(block: Block, offsets: Integers, size: int) -> Values:
    """
    Return the items of `size` bytes at offsets that are already checked.

    The mode `clip` is no check; it only makes NumPy faster.
    """
    return np.take(block.items(size), offsets // size, mode="clip")


def _load_parameter(unit: Unit, instruction: Instruction) -> Step:
    """Compile a load of a parameter, a constant: each lane's register gets the same bytes."""
    target, source = instruction.operands
    assert isinstance(source, Address)
    if not isinstance(source.base, Symbol) or source.base.name not in unit.parameters:
        raise unknown(instruction)
    dtype = TYPES[instruction.type]
    steps: list[Step] = []
    for number, item in enumerate(items_of(target)):
        start = source.offset + number * dtype.itemsize
        data = unit.parameters[source.base.name][start : start + dtype.itemsize]
        value = np.broadcast_to(data.view(dtype)[0], unit.registers.lanes)
        steps.append(step(same, unit.registers.widened(item, instruction.type), value))

    def run(lanes: Lanes) -> None:
        for each in steps:
            each(lanes)

    return run


def _store(unit: Unit, instruction: Instruction) -> Step:
    target, source, *_ = instruction.operands
    count, size = _shape(instruction)
    scope = scope_of(instruction)
    access = Access(Mode.STORE, count * size, instruction.line, scope, vector=count)
    port = Port(unit, instruction, target, access)
    element = np.dtype(f"u{size}")
    values = [unit.registers.source(item, element) for item in items_of(source)]

    def run(lanes: Lanes) -> None:
        for place in port.places(lanes):
            index = place.lanes.index
            elements = np.empty((place.lanes.count, count), element)
            for number, value in enumerate(values):
                elements[:, number] = value[index]
            items = place.block.items(access.size)
            new = elements.view(items.dtype)[:, 0]
            if scope is not None:
                unit.atomics.changes += bool((items[place.offsets // access.size] != new).any())
            items[place.offsets // access.size] = new

    return run


MEMORY_ACCESS: dict[str, Builder] = {"ld": _load, "ldu": _load, "st": _store}
