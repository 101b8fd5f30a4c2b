# SPDX-License-Identifier: Apache-2.0
"""
Random attention at three levels of IR and in the simulator, with all its checks. The results are
compared with PyTorch's in float64, by the rules of `tilewright run`.

Each case has the planner's schedule, and random tilings of the planner, with multiply-adds and with
matrix instructions. Long heads are in one kernel even if the model stores their scores.
"""

import pytest
from needs import needs_nvrtc

from .attention_runs import LONG_SEEDS, SEEDS, problems

MANY, MANY_LONG = 400, 40


@needs_nvrtc
@pytest.mark.one_in(6)
@pytest.mark.parametrize("seed", SEEDS)
def test_drawn_attention(seed: int) -> None:
    assert not [*problems(seed)]


@pytest.mark.one_in(4)
@needs_nvrtc
@pytest.mark.usefixtures("every_case")
@pytest.mark.parametrize("seed", sorted({*range(MANY)} - {*SEEDS}))
def test_more_attention(seed: int) -> None:
    assert not [*problems(seed)]


@needs_nvrtc
@pytest.mark.parametrize("seed", LONG_SEEDS)
def test_drawn_attention_in_slices(seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert not [*problems(seed, is_long=True)]
    assert "share-scores{slice=" in capsys.readouterr().out


@needs_nvrtc
@pytest.mark.usefixtures("every_case")
@pytest.mark.parametrize("seed", sorted({*range(MANY_LONG)} - {*LONG_SEEDS}))
def test_more_long_attention(seed: int) -> None:
    assert not [*problems(seed, is_long=True)]
