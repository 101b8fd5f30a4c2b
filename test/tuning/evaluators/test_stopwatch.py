# SPDX-License-Identifier: Apache-2.0
"""Measurements of schedules without a GPU: kernels run in the simulator, with a scripted clock."""

from collections.abc import Callable, Sequence

import pytest
from needs import needs_nvrtc
from scripted_device import ScriptedDevice, ScriptedTimer

from tilewright.codegen.runtime.simulated_driver import SimulatedDriver
from tilewright.codegen.timing.device import Call, Recording
from tilewright.codegen.timing.protocol import Protocol
from tilewright.tuning.evaluators.compiled import Compiled, compiled
from tilewright.tuning.evaluators.reference import Reference, Where
from tilewright.tuning.evaluators.stopwatch import Job, Stopwatch
from tilewright.tuning.measurement import Measurement

pytestmark = needs_nvrtc

SCHEDULE = "tileify,blockify-launch{n=64},register-tile{vector=1 items=1 min_blocks=0},mark-unroll"
DOUBLE = """
loop.kernel @double(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %v = loop.load %x[%i] : memref<64xf32>
    %w = arith.addf %v, %v : f32
    loop.store %w, %out[%i] : memref<64xf32>
  }
}
"""
"""Kernel that takes little time to simulate."""
WHERE = Where(SimulatedDriver(), "sm_90a")


@pytest.fixture(scope="module")
def double() -> Compiled:
    """The kernel, compiled."""
    found = compiled(DOUBLE, SCHEDULE, "sm_90a")
    assert isinstance(found, Compiled)
    return found


def measured(
    double: Compiled,
    device: ScriptedDevice,
    best_us: float | None = None,
    kernel: str = DOUBLE,
    report: Callable[[str], None] = lambda phase: None,
) -> Measurement:
    """Measure the schedule: one round at first, and two rounds for each closer measurement."""
    once, twice = Protocol(0, 0, least_rounds=1), Protocol(0, 0, least_rounds=2)
    stopwatch = Stopwatch(device, SimulatedDriver(), once, twice)
    reference = Reference(kernel, double.plan.inputs, WHERE)
    return stopwatch.measurement(
        Job(kernel, SCHEDULE, double, "sm_90a", best_us), reference, report
    )


def test_possibly_best_schedules_are_measured_again(double: Compiled) -> None:
    # Two recordings of two copies of the inputs: the first measurement has two times, a closer one
    # four.
    device = ScriptedDevice(lambda n: 10.0 if n < 2 else 12.0, l2_bytes=64)
    phases: list[str] = []
    found = measured(double, device, best_us=5.0, report=phases.append)
    assert found == Measurement(SCHEDULE, 6.0)
    assert (len(device.clock.asked), device.flushes) == (6, [False])
    assert phases == ["running", "comparing", "comparing", "timing", "comparing again"]


def test_clearly_slower_schedules_are_measured_once(double: Compiled) -> None:
    device = ScriptedDevice(lambda n: 10.0, l2_bytes=64)
    assert measured(double, device, best_us=3.9) == Measurement(SCHEDULE, 5.0)
    assert len(device.clock.asked) == 2


def test_measurements_are_repeated_until_one_is_quiet(double: Compiled) -> None:
    # By number: the first measurement, one whose recordings are 4 us apart, and one where they
    # agree.
    times = [10.0, 10.0, *(12.0, 20.0, 20.0, 12.0), *(11.0, 11.0, 11.0, 11.0)]
    device = ScriptedDevice(lambda n: times[n], l2_bytes=64)
    assert measured(double, device) == Measurement(SCHEDULE, 5.5)
    noisy = ScriptedDevice(lambda n: [12.0, 20.0][n // 2 % 2 ^ n % 2], l2_bytes=64)
    assert measured(double, noisy) == Measurement(SCHEDULE, 8.0, spread_us=4.0)
    assert len(noisy.clock.asked) == 2 + 3 * 4


def test_small_kernels_are_measured_with_a_flushed_cache(double: Compiled) -> None:
    device = ScriptedDevice(lambda n: 32.0, l2_bytes=2**20)
    assert measured(double, device) == Measurement(SCHEDULE, 1.0)  # of 32 copies
    assert device.flushes == [True]


def test_wrong_results_have_no_time(double: Compiled) -> None:
    other = DOUBLE.replace("addf", "mulf")
    found = measured(double, ScriptedDevice(l2_bytes=64), kernel=other)
    assert found.us is None
    assert found.problem.startswith("wrong: the error is ")


class Forgetful(ScriptedDevice):
    """Device that changes one of the results while it is timed."""

    def record(self, calls: Sequence[Call]) -> Recording:
        self.recorded = super().record(calls)
        return self.recorded

    def timer(self, flush: bool) -> ScriptedTimer:
        self.recorded.outputs[1][0][3] = 7.0
        return super().timer(flush)


def test_results_that_become_wrong_have_no_time(double: Compiled) -> None:
    found = measured(double, Forgetful(l2_bytes=64))
    assert found.us is None
    assert found.problem.startswith("wrong after many runs: the error is ")


@pytest.mark.parametrize(
    ("schedule", "problem"),
    [
        ("tileify,no-such-pass", "unknown pass 'no-such-pass'"),
        (
            "tileify,blockify-launch{n=2048},mark-unroll",
            "2048 threads a block",
        ),
    ],
)
def test_reasons_against_compilation_are_reported(schedule: str, problem: str) -> None:
    found = compiled(DOUBLE, schedule, "sm_90a")
    assert isinstance(found, str)
    assert problem in found
    assert not found.startswith("error")


def test_inputs_are_the_same_in_every_process(double: Compiled) -> None:
    one, two = (Reference(DOUBLE, double.plan.inputs, WHERE) for _ in range(2))
    assert (one.inputs[0] == two.inputs[0]).all()
