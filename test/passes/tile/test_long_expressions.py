# SPDX-License-Identifier: Apache-2.0
"""
Expressions in which each value is used three times by the next, so that there are 3^20 paths. Code
that follows every path would not terminate.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tilewright.api import capture, lower


def twisted(y: Any) -> Any:
    """Return `y` after twenty steps, each of which uses the previous value three times."""
    for _ in range(20):
        y = y + torch.sin(y) * y
    return y


PROGRAMS: dict[str, Callable[[Any, Any], Any]] = {
    "a divisor before a product": lambda x, w: (x / (1 + torch.exp(twisted(x)))) @ w,
    "rows": lambda x, w: torch.softmax(twisted(x), -1) * w,
    "statistic of a row": lambda x, w: (x - twisted(x.amax(-1, keepdim=True))) @ w,
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_lowering_terminates(program: Callable[[Any, Any], Any]):
    lower(capture(program, torch.randn(64, 64), torch.randn(64, 64)), "tile", "sm_90a")
