# SPDX-License-Identifier: Apache-2.0
"""`membar` and `fence`. PTX ISA, "membar, fence"."""

from tilewright.codegen.simulator.operands import Instruction
from tilewright.codegen.simulator.order import View
from tilewright.codegen.simulator.scopes import SCOPES, level_of
from tilewright.codegen.simulator.unit import Builder, Step, Unit, unknown

_PROXIED: dict[tuple[str, ...], tuple[View, ...]] = {
    (): (View.PROXIED, View.PROXIED_GLOBAL),
    ("global",): (View.PROXIED_GLOBAL,),
    ("shared_cta",): (View.PROXIED,),
    ("shared_cluster",): (View.PROXIED,),
}
"""
Views that a `fence.proxy.async` for a state space sets: bulk copies started after it see the
accesses in these views.
"""


def _membar(unit: Unit, instruction: Instruction) -> Step:
    """Compile `membar.cta|gl|sys`, which is `fence.sc` of that scope."""
    scope = instruction.parts[1]
    if scope not in SCOPES or len(instruction.parts) != 2:
        raise unknown(instruction)
    return lambda lanes: unit.atomics.fence(lanes.numbers(), level_of(scope))


def _fence(unit: Unit, instruction: Instruction) -> Step:
    match instruction.parts[1:]:
        case ["proxy", "async", *space] if tuple(space) in _PROXIED:
            views = _PROXIED[tuple(space)]
            return lambda lanes: unit.order.fence(lanes.numbers(), views)
        case ["mbarrier_init", "release", "cluster"]:
            return lambda lanes: unit.order.fence(lanes.numbers(), (View.INITIALISED,))
        case ["acq_rel" | "sc" | "acquire" | "release" as what, scope] if scope in SCOPES:
            level, acquires, releases = level_of(scope), what != "release", what != "acquire"
            return lambda lanes: unit.atomics.fence(
                lanes.numbers(), level, acquires=acquires, releases=releases
            )
        case _:
            raise unknown(instruction)


FENCES: dict[str, Builder] = {"membar": _membar, "fence": _fence}
