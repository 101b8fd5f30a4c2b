# SPDX-License-Identifier: Apache-2.0
"""Lays out the memory of a launch and puts together what the instructions act on."""

import numpy as np

from tilewright.codegen.simulator.async_copies import AsyncCopies
from tilewright.codegen.simulator.counters import Meters
from tilewright.codegen.simulator.findings import Findings
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.global_memory import GlobalMemory
from tilewright.codegen.simulator.instructions.memory_access import space_name
from tilewright.codegen.simulator.kernel import Kernel, Variable
from tilewright.codegen.simulator.memory import Complaints, GenericSpace, LocalSpace
from tilewright.codegen.simulator.operands import TYPES
from tilewright.codegen.simulator.registers import Registers
from tilewright.codegen.simulator.rounding import FusedMultiplyAdd
from tilewright.codegen.simulator.shared_memory import SharedLayout, SharedMemory
from tilewright.codegen.simulator.unit import Unit


def assemble(kernel: Kernel, geometry: Geometry, shared_bytes: int, checks: bool) -> Unit:
    """The unit for a launch; parameters are still to be bound."""
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
        if instruction.root in ("ld", "st")
        and instruction.type in TYPES
        and space_name(instruction) in ("shared", "generic")
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
