# SPDX-License-Identifier: Apache-2.0
"""Findings of tuning one kernel, or the fusion of one program."""

from dataclasses import dataclass, field
from typing import Any

from tilewright.tools.tune.kernels import Kernel, Program
from tilewright.tuning.confidence import MODEL_SPREAD, worst_regret
from tilewright.tuning.measurement import Measurement
from tilewright.tuning.search.frame import microseconds


@dataclass
class Findings:
    """Measurements of a kernel or program, in the order in which they were made."""

    kernel: Kernel | Program
    how: str = ""
    """Suffix of the title, on the fusion or the evaluator, if it is not the default."""
    evaluator: str = "gpu"
    """Source of the times, as in keys of the database."""
    measurements: list[Measurement] = field(default_factory=list[Measurement])
    measured: int = 0
    """Number of new measurements; the others were already in the database."""

    @property
    def title(self) -> str:
        """Name of the kernel or program in the output."""
        return f"{self.kernel.name} {self.how}".rstrip()

    def add(self, measurement: Measurement, is_new: bool) -> None:
        """Add a measurement; `is_new` is False if it was already in the database."""
        self.measurements.append(measurement)
        self.measured += is_new

    @property
    def default(self) -> Measurement | None:
        """Measurement of the planner's schedule, which is the first one."""
        return self.measurements[0] if self.measurements else None

    @property
    def ranking(self) -> list[Measurement]:
        """Measurements with a time, fastest first; equal times keep their order."""
        return sorted(self._timed, key=microseconds)

    @property
    def failed(self) -> list[Measurement]:
        """Measurements without a time."""
        return [each for each in self.measurements if each.us is None]

    @property
    def best(self) -> Measurement | None:
        """Fastest measurement, or None; the default, if it is as fast within the noise."""
        default, fastest = self.default, min(self._timed, key=microseconds, default=None)
        if default is not None and fastest is not None and default.is_as_fast_as(fastest):
            return default
        return fastest

    def leading(self, count: int) -> list[Measurement]:
        """
        Return the `count` fastest measurements, followed by the default if it is not among them.
        """
        leading, default = self.ranking[:count], self.default
        if default is None or default.us is None or default in leading:
            return leading
        return [*leading, default]

    @property
    def _timed(self) -> list[Measurement]:
        return [each for each in self.measurements if each.us is not None]

    @property
    def speedup(self) -> float | None:
        """Speedup of the best schedule over the default; None if either has no time."""
        default, best = self.default, self.best
        if default is None or best is None or not default.us or not best.us:
            return None
        return default.us / best.us

    @property
    def worst_regret(self) -> float | None:
        """
        Share by which the best schedule is slower at most than the truly fastest one, by the error
        of the model (`tuning/confidence.py`); None if another evaluator made the times.
        """
        times = [each.us for each in self._timed if each.us]
        if self.evaluator != "model" or not times:
            return None
        return worst_regret(times, MODEL_SPREAD)

    @property
    def as_json(self) -> dict[str, Any]:
        """Entry of the JSON, with all measurements."""
        return {
            "kernel": self.kernel.name,
            "how": self.how,
            "digest": self.kernel.digest,
            "origin": self.kernel.origin,
            "pinned": self.kernel.pinned,
            "measured": self.measured,
            "default": None if self.default is None else self.default._asdict(),
            "best": None if self.best is None else self.best._asdict(),
            "speedup": self.speedup,
            "worst_regret": self.worst_regret,
            "measurements": [measurement._asdict() for measurement in self.measurements],
        }
