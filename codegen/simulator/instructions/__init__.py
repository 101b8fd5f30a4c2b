# SPDX-License-Identifier: Apache-2.0
"""
Instructions that act on each lane by itself: a table from opcode roots to builders.

To add an instruction, add a builder to a file of this package and a row to the file's table.
Instructions that move control or make lanes wait are in `control.py` of the simulator.
"""

from tilewright.codegen.simulator.instructions.async_copy import ASYNC_COPY
from tilewright.codegen.simulator.instructions.atomics import ATOMICS
from tilewright.codegen.simulator.instructions.bits import BITS
from tilewright.codegen.simulator.instructions.carry import build_carry, has_carry
from tilewright.codegen.simulator.instructions.cluster import CLUSTER
from tilewright.codegen.simulator.instructions.convert import CONVERT
from tilewright.codegen.simulator.instructions.fences import FENCES
from tilewright.codegen.simulator.instructions.floating import FLOATING
from tilewright.codegen.simulator.instructions.integer import INTEGER
from tilewright.codegen.simulator.instructions.mbarrier import MBARRIER
from tilewright.codegen.simulator.instructions.memory_access import MEMORY_ACCESS
from tilewright.codegen.simulator.instructions.select import SELECT
from tilewright.codegen.simulator.operands import Instruction
from tilewright.codegen.simulator.unit import Builder, Step, Unit, unknown


def _nothing(unit: Unit, instruction: Instruction) -> Step:
    return lambda lanes: None


_NO_EFFECT = ("nanosleep", "prefetch", "prefetchu", "pmevent", "createpolicy", "griddepcontrol")
"""
Instructions without effect in the simulator: each access acts at once, and `order.py` decides which
accesses are known.
"""
_PLAIN: dict[str, Builder] = {
    **BITS,
    **CONVERT,
    **SELECT,
    **MEMORY_ACCESS,
    **ATOMICS,
    **ASYNC_COPY,
    **MBARRIER,
    **FENCES,
    **CLUSTER,
    **dict.fromkeys(_NO_EFFECT, _nothing),
}


def build(unit: Unit, instruction: Instruction) -> Step:
    """Compile one instruction. Raises `SimulatorError` if it is unknown."""
    if has_carry(instruction):
        return build_carry(unit, instruction)
    by_type = FLOATING if instruction.type in ("f32", "f64") else INTEGER
    builder = _PLAIN.get(instruction.root) or by_type.get(instruction.root)
    if builder is None:
        raise unknown(instruction)
    return builder(unit, instruction)
