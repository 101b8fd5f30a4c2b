# SPDX-License-Identifier: Apache-2.0
"""Context in which instructions are compiled: registers, memory and the shape of the launch."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tilewright.codegen.simulator.async_copies import AsyncCopies
from tilewright.codegen.simulator.atomic_order import AtomicOrder
from tilewright.codegen.simulator.counters import Meters
from tilewright.codegen.simulator.findings import Findings, SimulatorError
from tilewright.codegen.simulator.geometry import Geometry
from tilewright.codegen.simulator.global_memory import Array, GlobalMemory
from tilewright.codegen.simulator.kernel import Kernel
from tilewright.codegen.simulator.lanes import Lanes
from tilewright.codegen.simulator.local_memory import LocalChecks
from tilewright.codegen.simulator.mbarriers import MBarriers
from tilewright.codegen.simulator.memory import Space
from tilewright.codegen.simulator.operands import Instruction
from tilewright.codegen.simulator.order import Order
from tilewright.codegen.simulator.register_uses import read_registers
from tilewright.codegen.simulator.registers import Registers
from tilewright.codegen.simulator.shared_memory import SharedMemory
from tilewright.codegen.simulator.tensor_map import TensorMap
from tilewright.codegen.simulator.undefined import Undefined
from tilewright.codegen.simulator.warpgroups import Warpgroups
from tilewright.matrix_sums import MatrixSums
from tilewright.rounding import FusedMultiplyAdd

Step = Callable[[Lanes], None]
"""One compiled instruction; the call executes it for a group of lanes."""


@dataclass(frozen=True)
class Unit:
    """All state that the instructions of a kernel act on during one launch."""

    kernel: Kernel
    geometry: Geometry
    registers: Registers
    parameters: dict[str, NDArray[np.uint8]]
    spaces: dict[str, Space]
    """Address spaces by PTX name; `generic` serves instructions that name no space."""
    local: LocalChecks | None
    global_memory: GlobalMemory
    shared: SharedMemory
    order: Order
    atomics: AtomicOrder
    mbarriers: MBarriers
    tensor_maps: dict[int, tuple[TensorMap, Array]]
    """Tensor maps with the arrays they describe, by the generic address of the parameter."""
    copies: AsyncCopies
    warpgroups: Warpgroups
    meters: Meters
    findings: Findings
    undefined: Undefined
    fma: FusedMultiplyAdd
    matrix_sums: MatrixSums

    @cached_property
    def read(self) -> frozenset[str]:
        """Names of the registers whose values some instruction reads."""
        return read_registers(self.kernel)


Builder = Callable[[Unit, Instruction], Step]
"""Function that compiles one instruction for a unit: it returns a step."""


def unknown(instruction: Instruction) -> SimulatorError:
    """Return the error for an instruction that the simulator does not know."""
    where = f"line {instruction.line}" if instruction.line else ""
    return SimulatorError(f"the simulator does not know {instruction.opcode!r}", where=where)


def modifiers(instruction: Instruction, allowed: Collection[str], types: int = 1) -> set[str]:
    """
    Return the modifiers of an instruction: the parts of the opcode between its root and its last
    `types` parts.

    Raises `SimulatorError` for a part that is not in `allowed`.
    """
    parts = set(instruction.parts[1:-types] if types else instruction.parts[1:])
    if not parts <= set(allowed):
        raise unknown(instruction)
    return parts
