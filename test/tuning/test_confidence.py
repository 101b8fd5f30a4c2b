# SPDX-License-Identifier: Apache-2.0
"""Quantiles of the regret of a model's first choice."""

from math import exp, sqrt
from random import Random
from statistics import NormalDist

import pytest

from tilewright.tuning.confidence import CONFIDENCE, MODEL_SPREAD, worst_regret

TIMES = [1.0, 1.02, 1.05, 1.2, 1.5]


def test_one_schedule_has_no_regret():
    assert worst_regret([3.0], 0.1) == 0


@pytest.mark.parametrize("spread", [0.01, 0.076, 0.3])
@pytest.mark.parametrize("ratio", [1.0, 1.05])
def test_two_schedules_differ_by_the_difference_of_two_errors(spread: float, ratio: float):
    # The logarithm of true times' ratio is normal, with the variance of both errors.
    quantile = NormalDist(sigma=spread * sqrt(2)).inv_cdf(CONFIDENCE)
    expected = max(0.0, exp(quantile) / ratio - 1)
    assert worst_regret([ratio, 1.0], spread) == pytest.approx(expected, rel=2e-3)


def test_far_slower_schedules_do_not_matter():
    assert worst_regret([10.0, 20.0, 30.0], 0.076) == 0
    assert worst_regret([1.0, 1.01, 90.0], 0.05) == worst_regret([1.0, 1.01], 0.05)


def test_regret_grows_with_the_spread_and_with_the_number_of_schedules():
    by_spread = [worst_regret(TIMES, spread) for spread in (0.02, 0.05, 0.1, 0.2)]
    by_number = [worst_regret(TIMES[:number], 0.1) for number in (1, 2, 3, 4)]
    by_many = [worst_regret([1.0] * number, 0.1) for number in (2, 20, 1000)]
    for found in (by_spread, by_number, by_many):
        assert found == sorted(set(found))


def test_unit_and_order_do_not_matter():
    assert worst_regret([each * 64 for each in reversed(TIMES)], 0.1) == worst_regret(TIMES, 0.1)


def test_drawn_errors_have_this_quantile():
    draw = Random(0)
    within = 0
    bound = worst_regret(TIMES, MODEL_SPREAD)
    for _ in range(4000):
        true = [time * exp(draw.gauss(0, MODEL_SPREAD)) for time in TIMES]
        within += true[0] / min(true) - 1 <= bound
    assert within / 4000 == pytest.approx(CONFIDENCE, abs=0.015)


def test_the_example_of_the_docstring():
    assert round(worst_regret([50.0, 51.0, 80.0], MODEL_SPREAD), 2) == 0.13
