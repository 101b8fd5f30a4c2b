# SPDX-License-Identifier: Apache-2.0
"""
A contest: everyone's results are compared with what they should be, then everyone is timed.

What is compared is what is timed: the results that a replay of a recording has written, into memory
that held something else before. Those of the last replay must be as the first ones.
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
from tilewright.tools.bench.contestants import OURS, Prepare, float32_settings, forget_compiled
from tilewright.tools.bench.work import work_of
from tilewright.tools.bench.workload import Inputs, Workload
from tilewright.tools.program import captured_program

RECORDINGS = 2
"""Of each contestant: how far two of the same are apart is the noise."""

Tell = Callable[[str], None]
"""Is told what is begun: `max-autotune: compiling`."""


class DeviceLostError(TilewrightError):
    """A kernel has failed on the device, which this process cannot use any more."""


@dataclass(frozen=True)
class Outcome:
    """What came of a contest."""

    work: Work
    peaks: Peaks
    copies: int
    """How many copies of the inputs a recording goes through."""
    results: dict[str, Result]
    """By contestant, ours first."""
    state: dict[str, Any]
    """Clocks and power of the device as soon as everyone was timed."""
    settings: dict[str, dict[str, Any]]
    """How PyTorch multiplied float32 when a contestant was recorded."""


@dataclass
class Contest:
    """Measures workloads on a device."""

    device: Device
    contestants: Mapping[str, Prepare]
    """Ours, and whom it is compared with."""
    protocol: Protocol = field(default_factory=Protocol)

    def run(
        self, workload: Workload, tell: Tell, left_out: Mapping[str, str] | None = None
    ) -> Outcome:
        """
        Measure everyone but those left out, who are told of with a reason.

        Raises `DeviceLostError` where a kernel fails in a way that ends the process's use of the
        device, after telling whose turn it was.
        """
        forget_compiled()
        work = work_of(workload.captured)
        copies, needs_flush = rotation(work.bytes, workload.bytes, self.device.l2_bytes)
        given = [workload.copy(self.device.torch_device) for _ in range(copies)]
        tell("comparing")
        complaint = _complaint_of(workload)
        problems = dict(left_out or {})
        recordings: dict[str, list[Recording]] = {}
        settings: dict[str, dict[str, Any]] = {}
        for name, prepare in self.contestants.items():
            if name in problems:
                continue
            found = self._recorded(name, prepare, workload, given, tell)
            settings[name] = float32_settings()
            if isinstance(found, str):
                problems[name] = found
                continue
            recordings[name] = found
            if problem := self._compared(name, complaint, found, given):
                problems[name] = problem
        tell("timing")
        samples, state = self._timed(recordings, needs_flush)
        for name, found in recordings.items():
            if name not in problems and (problem := changed(found, complaint)):
                problems[name] = problem
        results = {
            name: Result(
                timing(samples[name], copies) if name in samples else None,
                problems.get(name, ""),
                self._least_us(name, work),
            )
            for name in self.contestants
        }
        return Outcome(work, self.device.peaks, copies, results, state, settings)

    def _timed(
        self, recordings: Mapping[str, Sequence[Recording]], needs_flush: bool
    ) -> tuple[Samples, dict[str, Any]]:
        """How long the replays of all recordings take, and the device's state after them."""
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
        tell: Tell,
    ) -> list[Recording] | str:
        """Return the recordings of a contestant, or why there are none."""
        import torch

        try:
            tell(f"{name}: compiling")
            bind = prepare(workload)
            calls = [bind(inputs) for inputs in given]
            with torch.no_grad():
                calls[0]()
            tell(f"{name}: running")
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
        """What is wrong with results; empty if nothing is."""
        kept = {t.untyped_storage().data_ptr() for inputs in given for t in inputs.values}
        for recording in recordings:
            with losing_device(name):
                replay_over_nan(recording, kept)
                self.device.wait()
            for outputs in different(recording.outputs):
                if problem := complaint(outputs):
                    return f"wrong: {problem}"
        return ""

    def _least_us(self, name: str, work: Work) -> float:
        """Our kernels leave tensor cores alone in float32; PyTorch's may use them."""
        peaks = self.device.peaks
        return peaks.floor_us(work) if name == OURS else peaks.least_us(work)


@contextmanager
def losing_device(name: str) -> Generator[None]:
    """Whatever fails here has failed on the device, at the turn of `name`: `DeviceLostError`."""
    try:
        yield
    except Exception as err:
        raise DeviceLostError(f"{name}: {summary_of(err)}") from err


def _complaint_of(workload: Workload) -> ResultCheck:
    """Compares tensors with what the workload should give."""
    program = captured_program(workload.captured)
    assert program.inputs is not None
    judge = Judge(program, program.inputs)
    return lambda outputs: judge.problem([array_of(output) for output in outputs])
