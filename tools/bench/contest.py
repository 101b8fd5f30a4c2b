# SPDX-License-Identifier: Apache-2.0
"""
Contest between compilers: the results of each are compared with the expected ones, then each is
timed.

The compared results are those of the timed code: a replay of a recording writes them into memory
that held other values before. The results of the last replay must equal those of the first one.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tilewright.arrays import array_of
from tilewright.codegen.timing.device import Device, Recording
from tilewright.codegen.timing.protocol import Protocol, Samples
from tilewright.codegen.timing.recorded import ResultCheck, changed, different, replay_over_nan
from tilewright.codegen.timing.roofline import Peaks, Work
from tilewright.codegen.timing.rotation import rotation
from tilewright.codegen.timing.samples import timing
from tilewright.codegen.timing.verdict import Result
from tilewright.errors import TilewrightError, summary_of
from tilewright.interpreters.judge import Judge
from tilewright.tools.bench.contestants import (
    OURS,
    Prepare,
    allows_tf32,
    float32_settings,
    forget_compiled,
)
from tilewright.tools.bench.work import work_of
from tilewright.tools.bench.workload import Inputs, Workload
from tilewright.tools.program import captured_program

RECORDINGS = 2
"""Number of recordings of each contestant; the difference between equal recordings is the noise."""

ReportPhase = Callable[[str], None]
"""Function that is called with the name of each phase, such as `max-autotune: compiling`."""


class DeviceLostError(TilewrightError):
    """Error for a kernel failure after which this process cannot use the device any longer."""


@dataclass(frozen=True)
class Outcome:
    """Result of a contest: times, problems and settings of all contestants."""

    work: Work
    peaks: Peaks
    copies: int
    """Number of copies of the inputs that a recording cycles through."""
    results: dict[str, Result]
    """Results by contestant, Tilewright first."""
    state: dict[str, Any]
    """Clocks and power of the device directly after the timing."""
    settings: dict[str, dict[str, Any]]
    """Settings of PyTorch's float32 products at the time of each recording."""

    @property
    def floor_us(self) -> float:
        """Minimum time of Tilewright's kernels in microseconds (`Peaks.floor_us`)."""
        return _floor_us(self.peaks, self.work, self.settings.get(OURS, {}))


@dataclass
class Contest:
    """Contest that measures workloads on a device."""

    device: Device
    contestants: Mapping[str, Prepare]
    """Tilewright and its competitors, by name."""
    protocol: Protocol = field(default_factory=Protocol)

    def run(
        self,
        workload: Workload,
        report_phase: ReportPhase,
        left_out: Mapping[str, str] | None = None,
    ) -> Outcome:
        """
        Measure all contestants, and return the results of the contest. `left_out` maps the names of
        excluded contestants to reasons.

        Raises `DeviceLostError` if a kernel failure makes the device unusable. The last phase
        passed to `report_phase` then names the contestant.
        """
        forget_compiled()
        work = work_of(workload.captured)
        copies, needs_flush = rotation(work.bytes, workload.bytes, self.device.l2_bytes)
        given = [workload.copy(self.device.torch_device) for _ in range(copies)]
        report_phase("comparing")
        complaint = _complaint_of(workload)
        problems = dict(left_out or {})
        recordings: dict[str, list[Recording]] = {}
        settings: dict[str, dict[str, Any]] = {}
        for name, prepare in self.contestants.items():
            if name in problems:
                continue
            found = self._recorded(name, prepare, workload, given, report_phase)
            settings[name] = float32_settings()
            if isinstance(found, str):
                problems[name] = found
                continue
            recordings[name] = found
            if problem := self._compared(name, complaint, found, given):
                problems[name] = problem
        report_phase("timing")
        samples, state = self._timed(recordings, needs_flush)
        for name, found in recordings.items():
            if name not in problems and (problem := changed(found, complaint)):
                problems[name] = problem
        results = {
            name: Result(
                timing(samples[name], copies) if name in samples else None,
                problems.get(name, ""),
                self._least_us(name, work, settings.get(name, {})),
            )
            for name in self.contestants
        }
        return Outcome(work, self.device.peaks, copies, results, state, settings)

    def _timed(
        self, recordings: Mapping[str, Sequence[Recording]], needs_flush: bool
    ) -> tuple[Samples, dict[str, Any]]:
        """
        Time the replays of all recordings; return the times by contestant, and the device's state
        afterwards.
        """
        replays = {name: [r.replay for r in found] for name, found in recordings.items()}
        with losing_device("timing"):
            samples = self.protocol.measure(replays, self.device.timer(needs_flush))
            state = self.device.state()
            self.device.wait()
        return samples, state

    def _recorded(
        self,
        name: str,
        prepare: Prepare,
        workload: Workload,
        given: Sequence[Inputs],
        report_phase: ReportPhase,
    ) -> list[Recording] | str:
        """
        Compile a workload for a contestant; return its recordings, one call on each of `given`, or
        the reason for a failure.
        """
        import torch

        try:
            report_phase(f"{name}: compiling")
            bind = prepare(workload)
            calls = [bind(inputs) for inputs in given]
            with torch.no_grad():
                calls[0]()
            report_phase(f"{name}: running")
            found = [self.device.record(calls) for _ in range(RECORDINGS)]
        except Exception as err:
            with losing_device(name):
                self.device.wait()
            return f"failed: {summary_of(err)}"
        return found

    def _compared(
        self,
        name: str,
        complaint: ResultCheck,
        recordings: Iterable[Recording],
        given: Sequence[Inputs],
    ) -> str:
        """
        Replay the recordings of a contestant; return a text on the first wrong result, or an empty
        text if all are right.
        """
        kept = {t.untyped_storage().data_ptr() for inputs in given for t in inputs.values}
        for recording in recordings:
            with losing_device(name):
                replay_over_nan(recording, kept)
                self.device.wait()
            for outputs in different(recording.outputs):
                if problem := complaint(outputs):
                    return f"wrong: {problem}"
        return ""

    def _least_us(self, name: str, work: Work, settings: Mapping[str, Any]) -> float:
        """
        Return the lower bound of a contestant's time in microseconds. The bound for Tilewright
        assumes that its kernels do all multiplications, which PyTorch's need not do.
        """
        peaks = self.device.peaks
        return _floor_us(peaks, work, settings) if name == OURS else peaks.least_us(work)


@contextmanager
def losing_device(name: str) -> Generator[None]:
    """Turn any exception in the block into a `DeviceLostError` with the name of the contestant."""
    try:
        yield
    except Exception as err:
        raise DeviceLostError(f"{name}: {summary_of(err)}") from err


def _floor_us(peaks: Peaks, work: Work, settings: Mapping[str, Any]) -> float:
    return peaks.floor_us(work, allows_tf32=allows_tf32(settings))


def _complaint_of(workload: Workload) -> ResultCheck:
    """
    Return a function that compares tensors with the expected results of the workload, and returns a
    text on the first problem.
    """
    program = captured_program(workload.captured)
    assert program.inputs is not None
    judge = Judge(program, program.inputs)
    return lambda outputs: judge.problem([array_of(output) for output in outputs])
