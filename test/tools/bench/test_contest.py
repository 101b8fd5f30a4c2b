# SPDX-License-Identifier: Apache-2.0
"""
Contests on the CPU with a scripted clock: which contestants are right, and the reported ratios.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
import torch
from needs import needs_nvrtc
from scripted_device import ScriptedDevice

from tilewright.codegen.runtime.simulated_driver import SimulatedDriver
from tilewright.codegen.timing.protocol import Protocol
from tilewright.codegen.timing.rotation import LEAST
from tilewright.frontend.expression import parse_expression
from tilewright.tools.bench import contestants
from tilewright.tools.bench.contest import Contest, DeviceLostError, Outcome
from tilewright.tools.bench.contestants import Bind, Ours, Prepare, eager
from tilewright.tools.bench.row import Row, measured
from tilewright.tools.bench.workload import Inputs, Workload, workload_of_expression

ONE_ROUND = Protocol(warm_up_us=0, least_rounds=1, most_rounds=1)


def right(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """Return relu(x @ w), the expected result."""
    return torch.relu(x @ w)


@cache
def workload() -> Workload:
    """Return a product of fixed numbers."""
    generator = torch.Generator().manual_seed(0)
    x, w = (torch.randn(shape, generator=generator) for shape in ((8, 16), (16, 8)))
    return Workload(right, (x, w))


def computing(function: Any) -> Prepare:
    """Return a contestant that computes `function`, right or wrong."""

    def prepare(workload: Workload) -> Bind:
        return lambda inputs: lambda: [function(*inputs.leaves)]

    return prepare


def wrong(x: Any, w: Any) -> Any:
    """Return a result that is off by a rounding to half precision, as tensor cores' would be."""
    return torch.relu(x.half().float() @ w)


def hold(names: Mapping[str, Prepare], device: ScriptedDevice | None = None) -> Outcome:
    """Run a contest; each replay takes 100 us unless the device has another script."""
    contest = Contest(device or ScriptedDevice(l2_bytes=600), names, ONE_ROUND)
    return contest.run(workload(), lambda phase: None)


def row_of(names: Mapping[str, Prepare], device: ScriptedDevice | None = None) -> Row:
    return measured(hold(names, device))


@needs_nvrtc
def test_ours_against_pytorch_without_a_gpu() -> None:
    phases: list[str] = []
    device = ScriptedDevice(l2_bytes=600)
    found = {"ours": Ours(SimulatedDriver(), "sm_90a"), "eager": eager}
    outcome = Contest(device, found, ONE_ROUND).run(workload(), phases.append)
    assert phases == [
        "comparing",
        *("ours: compiling", "ours: running", "eager: compiling", "eager: running"),
        "timing",
    ]
    assert outcome.copies == 2
    assert outcome.state == measured(outcome)["state"] == {"sm_mhz": 1000}
    assert device.flushes == [False]
    assert [result.reason_against for result in outcome.results.values()] == ["", ""]
    # Each of two contestants has two recordings, each run once for the comparison; the clock runs
    # none.
    assert device.replays == 4
    assert len(device.clock.asked) == 4


def test_the_float32_precision_of_each_contestant_is_kept() -> None:
    def rough(workload: Workload) -> Bind:
        torch.set_float32_matmul_precision("high")
        return eager(workload)

    before = torch.get_float32_matmul_precision()
    try:
        row = row_of({"ours": eager, "eager": rough})
    finally:
        torch.set_float32_matmul_precision(before)
    kept = {name: found["float32"]["matmul"] for name, found in row["contestants"].items()}
    assert kept == {"ours": before, "eager": "high"}


@needs_nvrtc
def test_ours_with_parameters_that_are_permuted_when_they_are_loaded() -> None:
    layer = torch.nn.Linear(16, 8)
    contest = Contest(ScriptedDevice(l2_bytes=600), {"ours": Ours(SimulatedDriver(), "sm_90a")})
    outcome = contest.run(Workload(layer, (torch.randn(8, 16),)), lambda phase: None)
    assert outcome.results["ours"].reason_against == ""


def test_a_graph_compiler_of_pytorch_takes_part() -> None:
    def prepare(workload: Workload) -> Bind:
        function = torch.compile(  # pyright: ignore[reportUnknownMemberType]
            workload.function, backend="eager", fullgraph=True
        )
        return contestants.flat(workload, function)

    text = "def f(x): return F.relu(x)\nf(nn.Linear(16, 8)(torch.randn(8, 16)))"
    layer = workload_of_expression(parse_expression(text))
    outcome = Contest(ScriptedDevice(l2_bytes=600), {"ours": eager, "compile": prepare}).run(
        layer, lambda phase: None
    )
    assert [result.reason_against for result in outcome.results.values()] == ["", ""]


def test_a_row_has_the_figures() -> None:
    # The first contestant's two recordings take 20 and 22 us, the second one's 60 and 64.
    device = ScriptedDevice(lambda n: [20.0, 22.0, 60.0, 64.0][n], l2_bytes=600)
    row = row_of({"ours": eager, "eager": eager}, device)
    assert (row["us"], row["eager_us"], row["compile_us"]) == (10.5, 31.0, None)
    assert (row["vs_eager"], row["vs_compile"]) == (31.0 / 10.5, None)
    assert row["why"] == {"vs_eager": "", "vs_compile": "the other: not measured"}
    assert row["flops"] == 2 * 8 * 16 * 8
    assert row["bytes"] == 4 * (128 + 128 + 64)
    assert row["floor_us"] == pytest.approx(2048e-6)
    assert row["roofline"] == pytest.approx(2048e-6 / 10.5)
    assert row["tflops"] == pytest.approx(2048e-6 / 10.5)
    assert row["contestants"]["ours"]["aa_us"] == 1.0
    assert row["contestants"]["eager"]["samples"] == 2


def test_the_best_mode_of_the_compiler_counts() -> None:
    device = ScriptedDevice(lambda n: [20, 20, 60, 60, 30, 30, 40, 40][n], l2_bytes=600)
    four = {"ours": eager, "eager": eager, "compile": eager, "max-autotune": eager}
    row = row_of(four, device)
    assert (row["compile_us"], row["compile_mode"], row["vs_compile"]) == (15.0, "compile", 1.5)
    device = ScriptedDevice(lambda n: [20, 20, 60, 60, 30, 30, 40, 40][n], l2_bytes=600)
    row = row_of({**four, "compile": computing(wrong)}, device)
    assert (row["compile_us"], row["compile_mode"]) == (20.0, "max-autotune")


@pytest.mark.parametrize("contestant", ["ours", "eager"])
def test_no_ratio_where_results_do_not_match(contestant: str) -> None:
    script = ScriptedDevice(lambda n: [20, 20, 60, 60][n], l2_bytes=600)
    row = row_of({"ours": eager, "eager": eager, contestant: computing(wrong)}, script)
    assert row["vs_eager"] is None
    assert "wrong: the error is " in row["why"]["vs_eager"]
    assert bool(row["problem"]) == (contestant == "ours")
    assert (row["us"] is None) == (contestant == "ours")


def test_results_must_be_written_at_every_replay() -> None:
    device = ScriptedDevice(l2_bytes=600)
    kept: list[Any] = []

    def once(x: Any, w: Any) -> Any:
        kept.append(torch.relu(x @ w)) if not kept else None
        return kept[0]

    row = row_of({"ours": computing(once)}, device)
    assert "is nan" in row["problem"]


def test_later_errors_are_found() -> None:
    runs = 0

    def tiring(x: Any, w: Any) -> Any:
        nonlocal runs
        runs += 1
        return torch.relu(x @ w) + (runs > 12)

    class Clock(ScriptedDevice):
        """Device whose clock runs the replays that it measures."""

        def timer(self, flush: bool) -> Any:
            timer = super().timer(flush)

            class Running:
                def times(self, replays: Any) -> list[float]:
                    for replay in replays:
                        replay()
                    return timer.times(replays)

            return Running()

    row = row_of({"ours": computing(tiring)}, Clock(l2_bytes=600))
    assert row["problem"].startswith("wrong after many runs: the error is ")


@pytest.mark.parametrize(
    ("us", "dtype", "precision", "problem"),
    [
        (0.5, torch.float32, "highest", "not possible"),  # 524288 operations at 1 TFLOP/s
        (0.5, torch.float32, "high", ""),  # TF32: 2 TFLOP/s
        (0.2, torch.float32, "high", "not possible"),
        (0.2, torch.bfloat16, "highest", ""),  # tensor cores: 4 TFLOP/s
        (0.1, torch.bfloat16, "highest", "not possible"),
    ],
)
def test_what_tensor_cores_can_do_is_possible(
    us: float, dtype: torch.dtype, precision: str, problem: str
) -> None:
    x, w = (torch.ones(64, 64, dtype=dtype) for _ in range(2))
    device = ScriptedDevice(lambda n: LEAST * us, l2_bytes=1)
    before = torch.get_float32_matmul_precision()
    try:
        torch.set_float32_matmul_precision(precision)
        contest = Contest(device, {"ours": eager}, ONE_ROUND)
        outcome = contest.run(Workload(torch.matmul, (x, w)), lambda phase: None)
    finally:
        torch.set_float32_matmul_precision(before)
    assert outcome.copies == LEAST
    assert problem in outcome.results["ours"].reason_against
    assert bool(problem) == bool(outcome.results["ours"].reason_against)


def test_a_time_that_is_not_possible_gives_no_ratio() -> None:
    device = ScriptedDevice(lambda n: [1e-3, 1e-3, 60, 60][n], l2_bytes=600)
    row = row_of({"ours": eager, "eager": eager}, device)
    assert row["us"] is row["vs_eager"] is row["roofline"] is None
    assert row["problem"].endswith(" us is the least")


def test_a_failing_contestant_does_not_stop_the_others() -> None:
    def fails(workload: Workload) -> Bind:
        raise RuntimeError("no such kernel\nand more")

    row = row_of({"ours": eager, "eager": fails})
    assert row["why"]["vs_eager"] == "the other: failed: RuntimeError: no such kernel"
    assert row["us"] == 50.0


def test_left_out_contestants_are_reported() -> None:
    contest = Contest(ScriptedDevice(l2_bytes=600), {"ours": eager, "compile": eager}, ONE_ROUND)
    outcome = contest.run(workload(), lambda phase: None, {"compile": "killed: it hung"})
    assert measured(outcome)["why"]["vs_compile"] == "the other: compile: killed: it hung"


def test_a_device_that_is_lost_ends_the_contest() -> None:
    class Broken(ScriptedDevice):
        def wait(self) -> None:
            raise RuntimeError("an illegal memory access was encountered")

    with pytest.raises(DeviceLostError, match=r"^ours: RuntimeError: an illegal memory access"):
        hold({"ours": eager}, Broken(l2_bytes=600))


def test_outputs_that_are_inputs_are_unchanged() -> None:
    def passes_on(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x, x + 1

    both = Workload(passes_on, (torch.ones(4, 4),))
    outcome = Contest(ScriptedDevice(l2_bytes=600), {"ours": eager}, ONE_ROUND).run(
        both, lambda phase: None
    )
    assert outcome.results["ours"].reason_against == ""


def test_inputs_are_copies() -> None:
    given: list[Inputs] = []

    def prepare(workload: Workload) -> Bind:
        def bind(inputs: Inputs) -> Any:
            given.append(inputs)
            return lambda: [torch.relu(inputs.leaves[0] @ inputs.leaves[1])]

        return bind

    device = ScriptedDevice(l2_bytes=3000)
    outcome = hold({"ours": prepare}, device)
    assert outcome.copies == len({inputs.leaves[0].data_ptr() for inputs in given}) == 10
