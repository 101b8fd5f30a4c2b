# SPDX-License-Identifier: Apache-2.0
"""`membar` and `fence`. PTX ISA 9.0, section 9.7.13.5."""

from tilewright.codegen.simulator.atomic_order import level_of
from tilewright.codegen.simulator.lanes import Lanes
from tilewright.codegen.simulator.operands import Instruction
from tilewright.codegen.simulator.order import View
from tilewright.codegen.simulator.unit import Builder, Step, Unit, unknown

_SCOPES = ("cta", "cluster", "gpu", "gl", "sys")


def _membar(unit: Unit, instruction: Instruction) -> Step:
    """`membar.cta|gl|sys`, which is `fence.sc` of that scope."""
    scope = instruction.parts[1]
    if scope not in _SCOPES or len(instruction.parts) != 2:
        raise unknown(instruction)
    return lambda lanes: unit.atomics.fence(lanes.numbers(), level_of(scope))


def _fence(unit: Unit, instruction: Instruction) -> Step:
    match instruction.parts[1:]:
        case ["proxy", "async", *_] | ["mbarrier_init", "release", "cluster"]:
            return lambda lanes: _proxied(unit, lanes)
        case ["acq_rel" | "sc" | "acquire" | "release" as what, scope] if scope in _SCOPES:
            level, acquires, releases = level_of(scope), what != "release", what != "acquire"
            return lambda lanes: unit.atomics.fence(
                lanes.numbers(), level, acquires=acquires, releases=releases
            )
        case _:
            raise unknown(instruction)


def _proxied(unit: Unit, lanes: Lanes) -> None:
    """Bulk copies that follow see what the lanes know and have done."""
    unit.order.fence(lanes.numbers(), (View.PROXIED,))


FENCES: dict[str, Builder] = {"membar": _membar, "fence": _fence}
