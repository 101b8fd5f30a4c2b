# SPDX-License-Identifier: Apache-2.0
"""Random convolutions at three levels of IR and in the simulator, with all its checks."""

import pytest
from needs import needs_nvrtc

from .convolution_cases import drawn_case
from .convolution_runs import problems

SEEDS = (1, 2, 4)
MANY = 300


@needs_nvrtc
@pytest.mark.parametrize("seed", SEEDS)
def test_drawn_convolution(seed: int) -> None:
    assert not _problems(seed)


@needs_nvrtc
@pytest.mark.usefixtures("every_case")
@pytest.mark.parametrize("seed", sorted({*range(MANY)} - {*SEEDS}))
def test_more_convolutions(seed: int) -> None:
    assert not _problems(seed)


def _problems(seed: int) -> list[str]:
    case = drawn_case(seed)
    print(f"seed {seed}: {case}")
    return [*problems(case.captured(seed), case.target)]
