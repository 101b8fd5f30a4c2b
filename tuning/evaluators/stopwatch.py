# SPDX-License-Identifier: Apache-2.0
"""
Measurement of a kernel with a schedule on a device: check the results, then time it.

The timed recording is also the one that is checked, as in a contest with PyTorch (`tilewright
bench`). A schedule that is clearly slower than the best is timed once. Others are timed until two
recordings of the same calls agree.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from tilewright.arrays import tensor_of
from tilewright.codegen.runtime.driver import Driver
from tilewright.codegen.runtime.loaded_plan import LoadedPlan
from tilewright.codegen.timing.device import Call, Device, Recording
from tilewright.codegen.timing.look import look, turns_of
from tilewright.codegen.timing.protocol import Protocol
from tilewright.codegen.timing.recorded import ResultCheck, changed, different, replay_over_nan
from tilewright.codegen.timing.rotation import Rotation
from tilewright.codegen.timing.samples import Timing
from tilewright.tuning.evaluators.compiled import Compiled
from tilewright.tuning.evaluators.reference import Reference
from tilewright.tuning.measurement import Measurement

RECORDINGS = 2
"""Recordings of each schedule; the difference between their times is the noise."""

GLANCE = Protocol(warm_up_us=5e3, measured_us=20e3, least_rounds=3, most_rounds=10)
"""Protocol of the first timing, which every schedule gets."""
CLOSE_LOOK = Protocol(warm_up_us=20e3, measured_us=200e3)
"""Protocol for schedules that may be the best."""

LOSES = 1.25
"""Ratio to the best time above which a schedule is not timed again."""
QUIET = 0.02
"""
Largest difference between the times of two recordings, as a share of the time, at which they count
as equal.
"""
MOST_LOOKS = 3


class Job(NamedTuple):
    """A measurement to make."""

    kernel: str
    """Text of the kernel at Loop IR."""
    schedule: str
    compiled: Compiled
    target: str
    best_us: float | None
    """Fastest time so far."""


@dataclass(frozen=True)
class Stopwatch:
    """Timer of kernels on a device."""

    device: Device
    driver: Driver
    glance: Protocol = GLANCE
    close_look: Protocol = CLOSE_LOOK

    def measurement(
        self, job: Job, reference: Reference, report_phase: Callable[[str], None]
    ) -> Measurement:
        """
        Check the results of a job, time it, and return the measurement; wrong results give no time
        but a reason. Errors of the device are raised unchanged. `report_phase` is called with each
        phase.
        """
        plan = job.compiled.plan
        turns = turns_of(plan, self.device.l2_bytes)
        given = [self._copy(reference) for _ in range(turns.copies)]
        report_phase("running")
        recordings = self._recordings(job, given)
        if problem := self._problem(recordings, given, reference.complaint, report_phase):
            return Measurement(job.schedule, None, f"wrong: {problem}")
        report_phase("timing")
        found = self._timed(recordings, turns, job.best_us)
        report_phase("comparing again")
        if problem := changed(recordings, reference.complaint):
            return Measurement(job.schedule, None, problem)
        return Measurement(job.schedule, found.us, spread_us=found.iqr_us)

    def _copy(self, reference: Reference) -> list[Any]:
        """Return a new copy of the inputs on the device."""
        tensors = map(tensor_of, reference.inputs)
        return [tensor.to(self.device.torch_device, copy=True) for tensor in tensors]

    def _recordings(self, job: Job, given: Sequence[list[Any]]) -> list[Recording]:
        loaded = LoadedPlan(job.compiled.plan, self.driver, job.target)

        def call_of(inputs: list[Any]) -> Call:
            return lambda: loaded(inputs)

        calls = [call_of(inputs) for inputs in given]
        calls[0]()
        self.device.wait()
        return [self.device.record(calls) for _ in range(RECORDINGS)]

    def _problem(
        self,
        recordings: Sequence[Recording],
        given: Sequence[list[Any]],
        complaint: ResultCheck,
        report_phase: Callable[[str], None],
    ) -> str:
        """
        Return the error in the results of the first replays, as `complaint` words it; empty if
        there is none.
        """
        kept = {tensor.untyped_storage().data_ptr() for inputs in given for tensor in inputs}
        for recording in recordings:
            replay_over_nan(recording, kept)
            self.device.wait()
            report_phase("comparing")
            for outputs in different(recording.outputs):
                if problem := complaint(outputs):
                    return problem
        return ""

    def _timed(
        self, recordings: Sequence[Recording], turns: Rotation, best_us: float | None
    ) -> Timing:
        """
        Return the time of the recordings: that of a quick look, if it is clearly slower than
        `best_us`. Otherwise take closer looks until one has little noise, and return the one with
        the least noise.
        """
        timer = self.device.timer(turns.needs_flush)
        glance = look(self.glance, recordings, timer, turns.copies)
        if best_us is not None and glance.us > LOSES * best_us:
            return glance
        looks: list[Timing] = []
        while len(looks) < MOST_LOOKS and not any(map(_is_quiet, looks)):
            looks.append(look(self.close_look, recordings, timer, turns.copies))
        return min(looks, key=lambda look: look.aa_us / look.us)


def _is_quiet(look: Timing) -> bool:
    return look.aa_us <= QUIET * look.us
