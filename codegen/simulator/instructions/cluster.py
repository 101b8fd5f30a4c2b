# SPDX-License-Identifier: Apache-2.0
"""Instructions for addresses in the shared memory of other blocks of a cluster. PTX ISA, "mapa"."""

import numpy as np

from tilewright.codegen.simulator.lanes import Lanes
from tilewright.codegen.simulator.memory import SHARED_WINDOW
from tilewright.codegen.simulator.operands import Instruction
from tilewright.codegen.simulator.shared_memory import RANK_SHIFT
from tilewright.codegen.simulator.unit import Builder, Step, Unit, modifiers


def _map_address(unit: Unit, instruction: Instruction) -> Step:
    """Compile `mapa`: compute the address of the same place in the block with a given rank."""
    parts = modifiers(instruction, ("shared_cluster",))
    target, source, rank = instruction.operands
    registers = unit.registers
    result = registers.target(target, instruction.type)
    where = registers.source(source, instruction.type)
    block = registers.source(rank, "u32")
    window = 0 if parts else SHARED_WINDOW

    def run(lanes: Lanes) -> None:
        index = lanes.index
        within = where[index].astype(np.int64) & (1 << RANK_SHIFT) - 1
        result[index] = within + (block[index].astype(np.int64) + 1 << RANK_SHIFT) + window

    return run


def _rank(unit: Unit, instruction: Instruction) -> Step:
    """Compile `getctarank`: compute the rank of the block that an address belongs to."""
    modifiers(instruction, ("shared_cluster",))
    target, source = instruction.operands
    result = unit.registers.target(target, "u32")
    width = "u32" if "shared_cluster" in instruction.parts else "u64"
    where = unit.registers.source(source, width)
    own = unit.geometry.rank()

    def run(lanes: Lanes) -> None:
        index = lanes.index
        named = where[index].astype(np.int64) >> RANK_SHIFT & 0xFF
        result[index] = np.where(named > 0, named - 1, own[index])

    return run


CLUSTER: dict[str, Builder] = {"mapa": _map_address, "getctarank": _rank}
