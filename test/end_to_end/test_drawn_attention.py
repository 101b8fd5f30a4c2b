# SPDX-License-Identifier: Apache-2.0
"""
Random attention at three levels of IR and in the simulator, with all its checks. The results are
compared with PyTorch's in float64, by the rules of `tilewright run`.

Each case has the planner's schedule, and random tilings of the planner, with multiply-adds and with
matrix instructions.
"""

import pytest
from needs import needs_nvrtc

from .attention_runs import SEEDS, problems

MANY = 400


@needs_nvrtc
@pytest.mark.one_in(2)
@pytest.mark.parametrize("seed", SEEDS)
def test_drawn_attention(seed: int) -> None:
    assert not [*problems(seed)]


@needs_nvrtc
@pytest.mark.usefixtures("every_case")
@pytest.mark.parametrize("seed", sorted({*range(MANY)} - {*SEEDS}))
def test_more_attention(seed: int) -> None:
    assert not [*problems(seed)]
