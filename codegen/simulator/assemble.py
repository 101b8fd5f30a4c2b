# SPDX-License-Identifier: Apache-2.0
"""Assembly of a launch: lays out its memory and builds the unit that its instructions act on."""

import numpy as np

from tilewright.codegen.simulator.async_copies import AsyncCopies
from tilewright.codegen.simulator.atomic_order import AtomicOrder, levels_of, orders_by_atomics
from tilewright.codegen.simulator.counters import Meters
from tilewright.codegen.simulator.findings import Findings
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.global_memory import GlobalMemory
from tilewright.codegen.simulator.instructions.memory_access import space_name
from tilewright.codegen.simulator.kernel import Kernel, Variable
from tilewright.codegen.simulator.local_memory import LocalChecks, LocalSpace
from tilewright.codegen.simulator.lockstep import loads_data
from tilewright.codegen.simulator.mbarriers import MBarriers
from tilewright.codegen.simulator.memory import (
    PARAMETER_WINDOW,
    AddressReports,
    GenericSpace,
)
from tilewright.codegen.simulator.non_coherent import NonCoherentLoads, loads_non_coherently
from tilewright.codegen.simulator.operands import TYPES, Instruction
from tilewright.codegen.simulator.order import Order
from tilewright.codegen.simulator.registers import Registers
from tilewright.codegen.simulator.shared_layout import SharedLayout
from tilewright.codegen.simulator.shared_memory import SharedMemory
from tilewright.codegen.simulator.strong_accesses import are_mixed
from tilewright.codegen.simulator.undefined import Undefined
from tilewright.codegen.simulator.unit import Unit
from tilewright.codegen.simulator.warpgroups import ROOT, Warpgroups
from tilewright.matrix_sums import MatrixSums
from tilewright.rounding import FusedMultiplyAdd

_PARAMETER_ROOM = 4096
"""Distance in bytes between the addresses of two parameters."""


def assemble(
    kernel: Kernel,
    geometry: Geometry,
    shared_bytes: int,
    checks: bool,
    counts: bool,
    matrix_sums: MatrixSums,
) -> Unit:
    """Return the unit for a launch; its parameters are not bound yet."""
    findings = Findings()
    complaints = AddressReports(findings, geometry)
    order = Order(geometry, _uses_rows(kernel, geometry))
    global_memory = GlobalMemory(geometry, order, findings, complaints)
    global_memory.checks = checks
    if loads_non_coherently(kernel):
        global_memory.non_coherent = NonCoherentLoads(geometry, findings)
    variables = list(kernel.variables.values())
    layout = SharedLayout([v for v in variables if v.space == "shared"], shared_bytes)
    shared = SharedMemory(layout, _granule(kernel), geometry, order, findings, complaints)
    shared.checks = checks
    shared.loads_data = any(loads_data(kernel, i) for i in kernel.instructions if i.root == "ld")
    shared.mixes_strong = are_mixed(kernel, {"global"})
    global_memory.races.mixes_strong = are_mixed(kernel, {"shared"})
    addresses = dict(layout.addresses)
    local_bytes = _place_local([v for v in variables if v.space == "local"], addresses)
    for variable in variables:
        if variable.space in ("global", "const"):
            addresses[variable.name] = _place_global(variable, global_memory)
    for number, parameter in enumerate(kernel.parameters):
        addresses[parameter.name] = PARAMETER_WINDOW + number * _PARAMETER_ROOM
    local = LocalSpace(local_bytes, geometry, complaints)
    registers = Registers(geometry.lanes, kernel.registers, addresses)
    registers.set_special(geometry.special_registers())
    undefined = Undefined(kernel, registers, findings, follow=checks and local_bytes > 0)
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
        local=LocalChecks(local, undefined, geometry) if checks else None,
        global_memory=global_memory,
        shared=shared,
        order=order,
        atomics=AtomicOrder(order, levels_of(kernel)),
        mbarriers=MBarriers(geometry, order, shared, findings),
        tensor_maps={},
        copies=AsyncCopies(geometry, shared, global_memory, findings),
        warpgroups=Warpgroups(kernel, geometry, shared, findings),
        meters=Meters(counts, [instruction.line for instruction in kernel.instructions]),
        findings=findings,
        undefined=undefined,
        fma=FusedMultiplyAdd(geometry.lanes),
        matrix_sums=matrix_sums,
    )


def _uses_rows(kernel: Kernel, geometry: Geometry) -> bool:
    """
    True if vector clocks are needed to order threads. The kernel then has clusters, mbarriers,
    fences, acquires, releases, or barriers for parts of a block.
    """
    if geometry.cluster_blocks > 1 or orders_by_atomics(kernel):
        return True
    return any(
        instruction.root in ("mbarrier", ROOT)
        or (instruction.root in ("bar", "barrier") and _is_partial(instruction))
        for instruction in kernel.instructions
    )


def _is_partial(instruction: Instruction) -> bool:
    """True if a barrier instruction may concern only some threads of its block."""
    return "arrive" in instruction.parts or len(instruction.operands) > 1


def _granule(kernel: Kernel) -> int:
    """
    Return the bytes of a cell of shared memory, the unit in which races are found.

    It is the smallest access of the kernel, at most 4 bytes.
    """
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
