# SPDX-License-Identifier: Apache-2.0
"""All tilings for a GPU to measure compile, and are printed with the times of the model."""

from concurrent.futures import Future

import pytest
import tilings
from gpu_checks.places import SUITE

from tilewright import api
from tilewright.dialects.loop import KernelOp
from tilewright.dialects.target import target
from tilewright.tools.bench.suite import read_cases
from tilewright.tuning.evaluators.compiled import scheduled
from tilewright.tuning.measurement import Measurement

H100 = target("sm_90a")


def schedule_of(product: tilings.Product, given: str) -> str:
    """Return the complete schedule of a product for a given one, with all options."""
    module = api.lower(scheduled(product.text, given), "tile", "sm_90a")
    (schedule,) = [op.schedule for op in module.ops if isinstance(op, KernelOp)]
    assert schedule is not None
    return schedule.data


def test_the_planners_tiling_comes_first_and_all_started_ones_are_reported(
    monkeypatch: pytest.MonkeyPatch,
):
    case = next(case for case in read_cases(SUITE) if case.name == "matmul.tinyllama.q_proj.s32")
    product = tilings.product_of(case, H100)
    asked: list[str] = []

    def submit(schedule: str) -> Future[Measurement]:
        asked.append(schedule)
        done = Future[Measurement]()
        done.set_result(Measurement(schedule, 20.0 if len(asked) == 1 else 10.0))
        return done

    clock = iter([0.0])  # the time is up once the first ones are submitted
    monkeypatch.setattr(tilings, "monotonic", lambda: next(clock, 2.0))
    rows = [*tilings.measured(product, H100, submit, 1.0)]
    assert len(rows) == len(asked) >= 32
    assert [row["us"] for row in rows[:2]] == [20.0, 10.0]
    default, first, second = (schedule_of(product, given) for given in ("", *asked[:2]))
    assert default == first != second
    assert "the planner's: 20.00 us, 2.00 times the best" in tilings.summary_line("q_proj", rows)
