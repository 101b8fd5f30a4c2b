# SPDX-License-Identifier: Apache-2.0
"""What came of tuning one kernel, or the fusion of one program."""

from dataclasses import dataclass, field
from typing import Any

from tilewright.tools.tune.kernels import Kernel, Program
from tilewright.tuning.measurement import Measurement
from tilewright.tuning.search.frame import microseconds


@dataclass
class Findings:
    """All that is known of a kernel or program, in the order in which it came."""

    kernel: Kernel | Program
    how: str = ""
    """By whom it was measured, if that is not said elsewhere."""
    measurements: list[Measurement] = field(default_factory=list[Measurement])
    measured: int = 0
    """The others were known before."""

    @property
    def title(self) -> str:
        """What people call it."""
        return f"{self.kernel.name} {self.how}".rstrip()

    def add(self, measurement: Measurement, is_new: bool) -> None:
        """One more, which was measured now or known before."""
        self.measurements.append(measurement)
        self.measured += is_new

    @property
    def default(self) -> Measurement | None:
        """The planner's schedule, which comes first."""
        return self.measurements[0] if self.measurements else None

    @property
    def ranking(self) -> list[Measurement]:
        """Those with a time, the fastest first; of equals the first to come."""
        return sorted(self._timed, key=microseconds)

    @property
    def failed(self) -> list[Measurement]:
        """Those without a time."""
        return [each for each in self.measurements if each.us is None]

    @property
    def best(self) -> Measurement | None:
        """The fastest, if any has a time; the default if that is as fast but for noise."""
        default, fastest = self.default, min(self._timed, key=microseconds, default=None)
        if default is not None and fastest is not None and default.is_as_fast_as(fastest):
            return default
        return fastest

    def leading(self, count: int) -> list[Measurement]:
        """So many of the fastest, and behind them the default, if it is none of them."""
        leading, default = self.ranking[:count], self.default
        if default is None or default.us is None or default in leading:
            return leading
        return [*leading, default]

    @property
    def _timed(self) -> list[Measurement]:
        return [each for each in self.measurements if each.us is not None]

    @property
    def speedup(self) -> float | None:
        """How many times as fast as the default the best is; None where one has no time."""
        default, best = self.default, self.best
        if default is None or best is None or not default.us or not best.us:
            return None
        return default.us / best.us

    @property
    def as_json(self) -> dict[str, Any]:
        """All of it."""
        return {
            "kernel": self.kernel.name,
            "how": self.how,
            "digest": self.kernel.digest,
            "origin": self.kernel.origin,
            "measured": self.measured,
            "default": None if self.default is None else self.default._asdict(),
            "best": None if self.best is None else self.best._asdict(),
            "speedup": self.speedup,
            "measurements": [measurement._asdict() for measurement in self.measurements],
        }
