# SPDX-License-Identifier: Apache-2.0
"""Stages in their order, with their checks and time limits."""

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
    """Stage of the check: a group of checks with limits of time and concurrency."""

    name: str
    items: Callable[[Device], list[str]]
    """Function that returns the names of the checks for a device."""
    check: Callable[[Device, str], Outcome]
    """Function that runs a check in a worker; an exception makes the outcome wrong."""
    share: float
    """Share of the remaining time after which no further check of the stage begins."""
    limit_s: float
    """Time in seconds after which a check is killed."""
    jobs: int = 8
    """Maximum number of concurrent checks."""
    needs_gpu: bool = True
    """True if the stage is skipped when there is no GPU."""


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
"""Stages in their order: those with the most information per time come first."""

STAGES = [part for part in PARTS if isinstance(part, Stage)]


def stage_named(name: str) -> Stage:
    """Return the stage with this name."""
    return next(stage for stage in STAGES if stage.name == name)
