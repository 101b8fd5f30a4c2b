# SPDX-License-Identifier: Apache-2.0
"""Spread of the model's errors between schedules, which `tuning/confidence.py` promises."""

import json
from itertools import islice
from math import e
from pathlib import Path

import model_spread
import pytest
from clock_rows import tilings

from tilewright.tuning.confidence import CONFIDENCE, MODEL_SPREAD


def test_the_constant_is_that_of_the_stored_times():
    found = model_spread.products("model")
    assert [len(times) for times in found.values()] == [41, 58]
    assert model_spread.spread(found.values()) == pytest.approx(MODEL_SPREAD, abs=5e-4)


def test_the_stored_times_are_those_of_the_model():
    stored = json.loads(model_spread.STORED.read_text())
    for row in islice(tilings(Path()), 0, None, 40):
        assert model_spread.modelled_us(row) == pytest.approx(stored[row.name], rel=1e-3)


def test_measured_regrets_are_as_promised():
    for times in model_spread.products("model").values():
        assert model_spread.covered(times, MODEL_SPREAD) >= CONFIDENCE


def test_the_mean_error_of_a_product_does_not_count():
    one, other = [(e * 3, 2.0), (e, 2.0 / 3)], [(1.0, 7.0), (e**2, 7.0)]
    # errors -1 and 1 around their mean in the second product, none in the first; two degrees
    assert model_spread.spread([one, other]) == pytest.approx(1)


def test_regret_is_by_how_much_the_first_choice_is_slower():
    assert model_spread.regret([(1.0, 5.0), (2.0, 4.0), (3.0, 6.0)]) == 0.25


def test_a_line_has_the_spread_and_the_share_of_each_product(capsys: pytest.CaptureFixture[str]):
    model_spread.main([])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["model", "0.076"],
        ["clock", "0.113"],
        ["evidence", "0.117"],
    ]
    assert "q_proj.s512 (58): 0.077, covered " in lines[0]
