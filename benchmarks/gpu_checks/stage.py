# SPDX-License-Identifier: Apache-2.0
"""The stages, in their order: what each looks at, and how much time it may take."""

from collections.abc import Callable
from dataclasses import dataclass

from gpu_checks import (
    bitwise,
    correctness,
    counters,
    drivers,
    environment,
    estimates,
    frontend,
    micro,
    occupancy,
    sanitizer,
)
from gpu_checks.device import Device
from gpu_checks.outcome import Outcome
from gpu_checks.suite import DOZEN, WHOLE, Suite


@dataclass(frozen=True)
class Stage:
    """Checks of one kind."""

    name: str
    items: Callable[[Device], list[str]]
    """The names of the checks that there are for a device."""
    check: Callable[[Device, str], Outcome]
    """Does one; called in a worker. What it raises is told as wrong."""
    share: float
    """Of the time that is left when the stage begins: no check begins later."""
    limit_s: float
    """What takes longer is killed."""
    jobs: int = 8
    """At most so many checks at a time."""
    needs_gpu: bool = True
    """True if there is nothing to be seen without the device."""


PARTS: tuple[Stage | Suite, ...] = (
    Stage("environment", environment.items, environment.check, 0.2, 120, 1, needs_gpu=False),
    Stage("frontend", frontend.items, frontend.check, 0.25, 120, needs_gpu=False),
    Stage("drivers", drivers.items, drivers.check, 0.25, 120),
    Stage("correctness", correctness.items, correctness.check, 0.5, 90),
    Stage("bitwise", bitwise.items, bitwise.check, 0.3, 90),
    Stage("occupancy", occupancy.items, occupancy.check, 0.2, 90),
    Stage("micro", micro.items, micro.check, 0.2, 60, 1),
    DOZEN,
    Stage("counters", counters.items, counters.check, 0.35, 120, 4),
    Stage("sanitizer", sanitizer.items, sanitizer.check, 0.4, 180, 5),
    Stage("estimates", estimates.items, estimates.check, 0.2, 90),
    *WHOLE,
)
"""In their order: what tells most in the least time comes first."""

STAGES = [part for part in PARTS if isinstance(part, Stage)]


def stage_named(name: str) -> Stage:
    """One of them."""
    return next(stage for stage in STAGES if stage.name == name)
