# SPDX-License-Identifier: Apache-2.0
"""Measurements of schedules, with threads as executors and a function as the GPU."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from needs import needs_no_gpu, needs_nvrtc
from scripted_device import ScriptedDevice

from tilewright.codegen.runtime.driver import DriverError
from tilewright.codegen.runtime.simulated_driver import SimulatedDriver
from tilewright.codegen.timing.isolated import WorkerLost
from tilewright.codegen.timing.protocol import Protocol
from tilewright.errors import TilewrightError
from tilewright.tuning.evaluators import gpu
from tilewright.tuning.evaluators.compiled import Compiled
from tilewright.tuning.evaluators.gpu import Executors, GpuEvaluator, Measure, measured_on_gpu
from tilewright.tuning.evaluators.stopwatch import Job, Stopwatch
from tilewright.tuning.executors.child import SpoiledError
from tilewright.tuning.executors.isolated import IsolatedExecutor
from tilewright.tuning.measurement import Measurement

PLAN: Any = None


@pytest.fixture
def evaluator(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Measure], GpuEvaluator]]:
    """A function that makes an evaluator; schedules without `tileify` do not compile."""

    def compiled(kernel: str, schedule: str, target: str) -> Compiled | str:
        assert (kernel, target) == ("kernel", "sm_90a")
        if schedule == "crash":
            raise WorkerLost("the process ended with code -11: it said nothing")
        return Compiled(PLAN, {}) if schedule.startswith("tileify") else "there are no threads"

    monkeypatch.setattr(gpu, "compiled", compiled)
    with ThreadPoolExecutor(2) as compiling, ThreadPoolExecutor(1) as measuring:
        executors = Executors(compiling, measuring)
        yield lambda measure: GpuEvaluator("kernel", "sm_90a", executors, measure)


def test_each_job_has_the_best_time_so_far(
    evaluator: Callable[[Measure], GpuEvaluator],
) -> None:
    best_times: list[float | None] = []

    def measure(job: Job) -> Measurement:
        best_times.append(job.best_us)
        return Measurement(job.schedule, [20.0, 30.0, None, 10.0, 15.0][len(best_times) - 1])

    evaluate = evaluator(measure)
    found = [evaluate.submit(f"tileify{n}").result() for n in range(5)]
    assert [each.us for each in found] == [20.0, 30.0, None, 10.0, 15.0]
    assert [each.schedule for each in found] == [f"tileify{n}" for n in range(5)]
    assert best_times == [None, 20.0, 20.0, 20.0, 10.0]


def test_failures_of_a_schedule_are_its_problem(
    evaluator: Callable[[Measure], GpuEvaluator],
) -> None:
    def measure(job: Job) -> Measurement:
        if job.schedule == "tileify,hang":
            raise WorkerLost("killed: no sign of life for 60 s (timing)")
        return Measurement(job.schedule, 1.0)

    schedules = ["split", "crash", "tileify,hang", "tileify"]
    evaluate = evaluator(measure)
    assert [evaluate.submit(schedule).result() for schedule in schedules] == [
        Measurement("split", None, "does not compile: there are no threads"),
        Measurement("crash", None, "compiling: the process ended with code -11: it said nothing"),
        Measurement("tileify,hang", None, "killed: no sign of life for 60 s (timing)"),
        Measurement("tileify", 1.0),
    ]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (TilewrightError("there is no GPU"), "^there is no GPU$"),
        (ConnectionError("gone"), "^a schedule was not measured: ConnectionError: gone$"),
    ],
)
def test_other_failures_are_raised(
    evaluator: Callable[[Measure], GpuEvaluator], error: Exception, message: str
) -> None:
    def measure(job: Job) -> Measurement:
        raise error

    with pytest.raises(TilewrightError, match=message):
        evaluator(measure).submit("tileify").result()


ONE = """
loop.kernel @one() -> (%x: memref<1xf32>) {
  %c = arith.constant 1.0 : f32
  loop.store %c, %x[0] : memref<1xf32>
}
"""


@needs_nvrtc
@needs_no_gpu
def test_processes_compile_and_miss_a_gpu() -> None:
    with IsolatedExecutor(1, 60) as compiling, IsolatedExecutor(1, 60) as measuring:
        evaluate = GpuEvaluator(ONE, "sm_90a", Executors(compiling, measuring))
        refused = evaluate.submit("tileify,no-such-pass").result()
        assert "unknown pass 'no-such-pass'" in refused.problem
        with pytest.raises(TilewrightError, match="there is no GPU to run on"):
            evaluate.submit("tileify,mark-unroll").result()


class Failing(ScriptedDevice):
    """Stand-in for a device on which all kernels fail, and which recovers unless `is_lost`."""

    is_lost = False

    def record(self, calls: Any) -> Any:
        raise DriverError("an illegal address")

    def wait(self) -> None:
        if self.is_lost:
            raise DriverError("an illegal address")


@needs_nvrtc
def test_only_a_device_that_is_lost_ends_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    device = Failing()
    stopwatch = Stopwatch(device, SimulatedDriver(), Protocol(0, 0, 1), Protocol(0, 0, 1))
    monkeypatch.setattr(gpu, "_stopwatch", lambda target: stopwatch)  # pyright: ignore
    found = gpu.compiled(ONE, "tileify,mark-unroll", "sm_90a")
    assert isinstance(found, Compiled)
    job = Job(ONE, "tileify,mark-unroll", found, "sm_90a", None)
    problem = "failed: DriverError: an illegal address"
    assert measured_on_gpu(job) == Measurement("tileify,mark-unroll", None, problem)
    device.is_lost = True
    with pytest.raises(SpoiledError, match=f"^{problem}$"):
        measured_on_gpu(job)
