# SPDX-License-Identifier: Apache-2.0
"""Closed forms order kernels as the clock does, in stored results and live."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import static_ranks
from gpu_checks.places import RESULTS
from needs import needs_nvdisasm, needs_nvrtc
from suite84 import cases

from tilewright.tools.bench.static_rows import rows_of

STORED = RESULTS / "static" / "suite84-sm_90a.json"

LEAST = 0.95
"""Least correlation of ranks over suite84."""

MOST_CPU_S = 2.0
"""Most CPU seconds that the clock may take for a kernel."""

LIVE = (
    *("rmsnorm.tinyllama.s32", "softmax.tinyllama.s32", "silu_mul.tinyllama.s32"),
    "matmul.tinyllama.kv_proj.s32",
)
"""Cases of four ops that compile fast."""


def kernel(case: str, us: float | None, clock: float | None) -> dict[str, Any]:
    """Return a kernel in the form of the JSON."""
    times = {"planner_us": us, "estimate_us": us, "clock_us": clock, "clock_cpu_s": 0.5}
    return {"case": case, "kernel": "k", **times}


@pytest.fixture(scope="module")
def stored() -> list[static_ranks.Kernel]:
    """The kernels in the stored results, which must all have both times."""
    kernels = json.loads(STORED.read_text())["kernels"]
    for model in static_ranks.MODELS:
        assert static_ranks.timed_by_both(kernels, model) == kernels
    return kernels


def test_stored_results_are_those_of_the_whole_suite(stored: list[static_ranks.Kernel]):
    content = json.loads(STORED.read_text())
    assert content["failures"] == {}
    assert content["environment"]["target"] == "sm_90a"
    assert {each["case"] for each in stored} == {case.name for case in cases()}


@pytest.mark.parametrize("model", static_ranks.MODELS)
def test_stored_results_are_ordered_alike(stored: list[static_ranks.Kernel], model: str):
    assert static_ranks.correlation(stored, model) >= LEAST


def test_the_clock_took_little_time(stored: list[static_ranks.Kernel]):
    assert max(each["clock_cpu_s"] for each in stored) <= MOST_CPU_S


@needs_nvrtc
@needs_nvdisasm
def test_kernels_compiled_now_fit_into_the_order(stored: list[static_ranks.Kernel]):
    # A few kernels alone are no sample: a swap of two of six makes a correlation of 0.94.
    live = [each for name in LIVE for each in kernels_of(name)]
    rest = [each for each in stored if each["case"] not in LIVE]
    for model in static_ranks.MODELS:
        assert static_ranks.correlation([*rest, *live], model) >= LEAST
    for each in live:
        check_times(each)


@needs_nvrtc
@needs_nvdisasm
@pytest.mark.usefixtures("every_case")
@pytest.mark.parametrize("op", static_ranks.by_op([{"case": case.name} for case in cases()]))
def test_kernels_of_an_op_take_about_as_long_as_estimated(op: str):
    for case in cases(f"{op}."):
        for each in kernels_of(case.name):
            check_times(each)


def check_times(found: static_ranks.Kernel) -> None:
    """Check that a kernel's times from machine code differ by less than a factor of two."""
    assert 0.5 < found["clock_us"] / found["estimate_us"] < 2
    assert found["clock_cpu_s"] <= MOST_CPU_S


def kernels_of(name: str) -> list[static_ranks.Kernel]:
    """Return the kernels of a case of suite84, compiled now."""
    (case,) = (case for case in cases(name) if case.name == name)
    return [asdict(row) for row in rows_of(case, "sm_90a", db=False)]


def test_opposite_orders_are_found():
    kernels = [kernel("a.s1", 1, 30), kernel("a.s2", 2, 20), kernel("b.s1", 3, 10)]
    assert static_ranks.correlation(kernels, "planner") == pytest.approx(-1)
    assert [*static_ranks.by_op(kernels)] == ["a", "b"]


def test_kernels_without_a_time_are_left_out():
    kernels = [kernel("a", 1, 2), kernel("b", 1, None), kernel("c", None, 1)]
    assert static_ranks.timed_by_both(kernels, "estimate") == kernels[:1]


def test_lines_name_the_kernel_that_differs_most(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    times = [(1.0, 1.0), (2.0, 2.0), (3.0, 9.0), (4.0, 3.0), (5.0, 4.0)]
    kernels = [kernel(f"op.s{n}", *pair) for n, pair in enumerate(times)]
    path = tmp_path / "rows.json"
    path.write_text(json.dumps({"kernels": kernels}))
    static_ranks.main([str(path)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "planner; ratio: clock / planner"
    whole = "all 5 kernels, rank correlation 0.700, ratio 0.75 to 3.00"
    assert lines[1].split() == whole.split()
    assert lines[3] == "  op.s2, k: 3.0 us, clock 9.0 us"
    assert lines[-1] == "most CPU of the clock: 0.50 s"


def test_a_file_without_times_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "rows.json"
    path.write_text(json.dumps({"kernels": [kernel("a", 1, None)]}))
    with pytest.raises(SystemExit):
        static_ranks.main([str(path)])
    assert "no kernel of the file has times by all models" in capsys.readouterr().err
