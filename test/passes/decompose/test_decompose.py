# SPDX-License-Identifier: Apache-2.0
"""Each Torch op with each of its arguments, compared with PyTorch's own operator."""

from typing import Any

import pytest

from tilewright.dialects import torch
from tilewright.dialects.torch.op import TorchOp
from tilewright.passes.decompose.decompose import PATTERNS

from .cases import CASES, INEXACT, split

_LIFTED = 4
"""
Number of cases of which one is also lifted, beginning with the second. Lifting depends only on
primitives, which cases have in common. `test_simulated` lowers each op's first case to CUDA.
"""


@pytest.mark.parametrize("op", torch.OPS, ids=lambda op: op.name)
def test_like_eager(op: type[TorchOp], check: Any, pytestconfig: pytest.Config):
    lifts_all = pytestconfig.getoption("--every-case")
    for number, case in enumerate(CASES[op]):
        args, kwargs = split(case)
        scales = "alpha" in kwargs or ("alpha" in vars(op) and len(case) > 2)
        exact = not (issubclass(op, INEXACT) or scales)
        lifts = lifts_all or number % _LIFTED == 1
        check(op, *args, exact=exact, lifts=lifts, **kwargs)


def test_every_op_has_a_pattern():
    assert {*PATTERNS} == {*torch.OPS}
    assert {*CASES} == {*torch.OPS}
