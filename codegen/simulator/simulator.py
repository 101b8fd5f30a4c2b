# SPDX-License-Identifier: Apache-2.0
"""Launches: a kernel's PTX on NumPy arrays, batch of blocks by batch of blocks."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator.async_copies import AsyncCopies
from tilewright.codegen.simulator.control import compile_kernel
from tilewright.codegen.simulator.counters import Counters, Meters
from tilewright.codegen.simulator.findings import (
    Finding,
    Findings,
    SimulationTooLarge,
    SimulatorError,
)
from tilewright.codegen.simulator.geometry import LANES_AT_ONCE, Dim3, Geometry
from tilewright.codegen.simulator.global_memory import GlobalMemory
from tilewright.codegen.simulator.machine import Machine, OutOfBudget
from tilewright.codegen.simulator.memory import Complaints, GenericSpace, LocalSpace
from tilewright.codegen.simulator.operands import TYPES
from tilewright.codegen.simulator.ptx import Kernel, Parameter, Variable, parse
from tilewright.codegen.simulator.registers import Registers
from tilewright.codegen.simulator.rounding import FusedMultiplyAdd
from tilewright.codegen.simulator.shared_memory import SharedLayout, SharedMemory
from tilewright.codegen.simulator.unit import Unit

Argument = NDArray[np.generic] | int | float | np.generic
Shape = int | tuple[int, ...]

NO_LIMIT = 1 << 62


@dataclass(frozen=True)
class Report:
    """
    What a launch did.

    `instructions` counts thread-instructions. Counters are empty when checks are off.
    """

    errors: list[Finding]
    instructions: int
    counters: Counters

    @property
    def ok(self) -> bool:
        return not self.errors


def simulate(
    ptx: str,
    kernel: str,
    *,
    grid: Shape,
    block: Shape,
    shared_bytes: int = 0,
    arguments: Sequence[Argument],
    checks: bool = True,
    read_only: Collection[int] = (),
    budget: int | None = None,
) -> Report:
    """
    Run `kernel<<<grid, block, shared_bytes>>>(*arguments)`.

    Arrays are passed by pointer and written in place; numbers by value. `read_only` has the
    numbers of arguments that the kernel must not write. The same array twice is one memory.
    `checks=False` is faster and reports only what would otherwise crash: bounds and alignment,
    barriers and masks.

    Raises `SimulationTooLarge` when the launch needs more than `budget` thread-instructions (as
    soon as that shows: arrays may then be half written), `SimulatorError` for PTX that the
    simulator does not know and for arguments that do not fit the kernel.
    """
    launch = _Launch(ptx, kernel, grid, block, shared_bytes, arguments, checks, read_only)
    return launch.run(NO_LIMIT if budget is None else budget)


def estimate(
    ptx: str,
    kernel: str,
    *,
    grid: Shape,
    block: Shape,
    shared_bytes: int = 0,
    arguments: Sequence[Argument],
) -> int:
    """
    About how many thread-instructions a launch takes: what its first block does, for all blocks.

    Nothing is written. It costs what simulating one block costs.
    """
    launch = _Launch(ptx, kernel, grid, block, shared_bytes, arguments, False, (), lanes_at_once=1)
    launch.unit.global_memory.dry = True
    return launch.run(NO_LIMIT, blocks=1).instructions * launch.unit.geometry.total_blocks


def _dim3(shape: Shape, what: str) -> Dim3:
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if not 1 <= len(sizes) <= 3 or any(size < 1 for size in sizes):
        raise SimulatorError(f"a {what} has one to three positive sizes, not {shape}")
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


class _Launch:
    """One launch: memory laid out, the kernel compiled against it."""

    def __init__(
        self,
        ptx: str,
        name: str,
        grid: Shape,
        block: Shape,
        shared_bytes: int,
        arguments: Sequence[Argument],
        checks: bool,
        read_only: Collection[int],
        lanes_at_once: int = LANES_AT_ONCE,
    ):
        kernel = parse(ptx, name)
        geometry = Geometry(_dim3(grid, "grid"), _dim3(block, "block"), lanes_at_once)
        _check_block(kernel, geometry)
        self.unit = _unit(kernel, geometry, shared_bytes, checks)
        self._bind(arguments, read_only)
        self.machine: Machine = compile_kernel(self.unit)

    def _bind(self, arguments: Sequence[Argument], read_only: Collection[int]) -> None:
        parameters = self.unit.kernel.parameters
        if len(arguments) != len(parameters):
            raise SimulatorError(
                f"{self.unit.kernel.name} has {len(parameters)} parameters, "
                f"but got {len(arguments)} arguments"
            )
        bound = _Arguments(self.unit.global_memory, read_only)
        for number, parameter in enumerate(parameters):
            data = bound.bytes_of(parameter, number, arguments)
            self.unit.parameters[parameter.name] = data

    def run(self, budget: int, blocks: int | None = None) -> Report:
        """Run the first `blocks` blocks, by default all."""
        unit, machine = self.unit, self.machine
        geometry = unit.geometry
        for first in range(0, blocks or geometry.total_blocks, geometry.blocks):
            self._start_batch(first)
            try:
                machine.run(budget)
            except OutOfBudget:
                raise self._too_large(first, budget) from None
            done = min(first + geometry.blocks, geometry.total_blocks)
            if machine.executed / done * geometry.total_blocks > budget:
                raise self._too_large(done, budget)
        return Report(unit.findings.sorted(), machine.executed, unit.meters.counters())

    def _start_batch(self, first: int) -> None:
        unit = self.unit
        unit.geometry.first_block = first
        if first:
            unit.registers.set_special(unit.geometry.special_registers())
        unit.shared.reset()
        unit.copies.reset()
        unit.global_memory.epoch[:] = 1

    def _too_large(self, blocks: int, budget: int) -> SimulationTooLarge:
        total = self.unit.geometry.total_blocks
        needed = self.machine.executed * total // max(1, blocks)
        return SimulationTooLarge(self.unit.kernel.name, budget, needed)


def _check_block(kernel: Kernel, geometry: Geometry) -> None:
    most = min(kernel.max_threads or 1024, 1024)
    if geometry.threads > most:
        raise SimulatorError(
            f"{kernel.name} is launched with {geometry.threads} threads a block, at most {most} run"
        )


def _unit(kernel: Kernel, geometry: Geometry, shared_bytes: int, checks: bool) -> Unit:
    findings = Findings()
    complaints = Complaints(findings, geometry)
    global_memory = GlobalMemory(geometry, findings, complaints)
    global_memory.checks = checks
    global_memory.fenced = any(i.root in ("membar", "fence") for i in kernel.instructions)
    variables = list(kernel.variables.values())
    layout = SharedLayout([v for v in variables if v.space == "shared"], shared_bytes)
    shared = SharedMemory(layout, _granule(kernel), geometry, findings, complaints)
    shared.checks = checks
    addresses = dict(layout.addresses)
    local_bytes = _place_local([v for v in variables if v.space == "local"], addresses)
    for variable in variables:
        if variable.space in ("global", "const"):
            addresses[variable.name] = _place_global(variable, global_memory)
    local = LocalSpace(local_bytes, geometry, complaints)
    registers = Registers(geometry.lanes, kernel.registers, addresses)
    registers.set_special(geometry.special_registers())
    return Unit(
        kernel=kernel,
        geometry=geometry,
        registers=registers,
        parameters={},
        spaces={
            "global": global_memory,
            "const": global_memory,
            "shared": shared,
            "local": local,
            "generic": GenericSpace({0: global_memory, 1: shared, 2: local}),
        },
        global_memory=global_memory,
        shared=shared,
        copies=AsyncCopies(geometry, shared),
        meters=Meters(checks),
        findings=findings,
        fma=FusedMultiplyAdd(geometry.lanes),
    )


def _granule(kernel: Kernel) -> int:
    """The smallest access to shared memory, in bytes, at most 4: races are told apart by it."""
    sizes = [
        TYPES[instruction.type].itemsize
        for instruction in kernel.instructions
        if instruction.root in ("ld", "st") and instruction.type in TYPES
        and ({"shared", "shared_cta"} & set(instruction.parts) or "." not in instruction.opcode)
    ]
    return min([4, *sizes])


def _place_local(variables: list[Variable], addresses: dict[str, int]) -> int:
    end = 0
    for variable in variables:
        addresses[variable.name] = -(-end // variable.align) * variable.align
        end = addresses[variable.name] + variable.size
    return end


def _place_global(variable: Variable, memory: GlobalMemory) -> int:
    data = np.zeros(variable.size, np.uint8)
    data[: len(variable.data)] = np.frombuffer(variable.data, np.uint8)
    return memory.add(data, f"the variable {variable.name}", variable.space == "const")


class _Arguments:
    """Turns a launch's arguments into the bytes of its parameters."""

    def __init__(self, memory: GlobalMemory, read_only: Collection[int]):
        self._memory = memory
        self._read_only = read_only
        self._placed: dict[tuple[int, int], int] = {}

    def bytes_of(
        self, parameter: Parameter, number: int, arguments: Sequence[Argument]
    ) -> NDArray[np.uint8]:
        argument = arguments[number]
        what = f"argument {number}"
        if isinstance(argument, np.ndarray):
            if parameter.type not in ("u64", "b64"):
                raise SimulatorError(f"{what} is an array, but the kernel wants {parameter.type}")
            address = self._place(argument, number, arguments)
            return np.array([address], np.uint64).view(np.uint8)
        return _scalar(argument, parameter, what)

    def _place(
        self, array: NDArray[np.generic], number: int, arguments: Sequence[Argument]
    ) -> int:
        if not array.flags.c_contiguous or not array.dtype.isnative:
            raise SimulatorError(f"argument {number} is not a contiguous array in native order")
        key = (array.ctypes.data, array.nbytes)
        if key not in self._placed or not array.nbytes:
            same = [
                other
                for other, value in enumerate(arguments)
                if isinstance(value, np.ndarray) and (value.ctypes.data, value.nbytes) == key
            ]
            read_only = not array.flags.writeable or any(x in self._read_only for x in same)
            data = array.reshape(-1).view(np.uint8)
            self._placed[key] = self._memory.add(data, f"argument {number}", read_only)
        return self._placed[key]


def _scalar(argument: int | float | np.generic, parameter: Parameter, what: str) -> NDArray[np.uint8]:
    dtype = TYPES.get(parameter.type)
    if dtype is None or parameter.length is not None:
        raise SimulatorError(f"{what}: the simulator cannot pass a {parameter.type} by value")
    value = argument.item() if isinstance(argument, np.generic) else argument
    if dtype.kind == "f":
        return np.array([value], dtype).view(np.uint8)
    bits = 8 * dtype.itemsize
    if not isinstance(value, int) or not -(1 << bits - 1) <= value < 1 << bits:
        raise SimulatorError(f"{what} is {value!r}, which is no {bits}-bit integer")
    return np.array([value & (1 << bits) - 1], f"u{dtype.itemsize}").view(np.uint8)
