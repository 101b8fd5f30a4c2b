# SPDX-License-Identifier: Apache-2.0
"""
Each Torch op with each of its arguments, compared with PyTorch's own operator.

Of an op with many cases, a third of the later ones runs without `--every-case`.
"""

from typing import Any

import pytest

from tilewright.dialects import torch
from tilewright.dialects.torch.op import TorchOp
from tilewright.passes.decompose.decompose import pattern_of

from .cases import CASES, INEXACT, split

_LIFTED = 4
"""
Number of cases of which one is also lifted, beginning with the second. Lifting depends only on
primitives, which cases have in common. `test_simulated` lowers each op's first case to CUDA.
"""

_FIRST = 4
"""Number of cases of each op that always run."""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("op", torch.OPS, ids=lambda op: op.name)
def test_like_eager(op: type[TorchOp], check: Any, pytestconfig: pytest.Config):
    every_case = pytestconfig.getoption("--every-case")
    cases = [*CASES[op]]
    for number, case in enumerate(cases if every_case else cases[:_FIRST] + cases[_FIRST::3]):
        args, kwargs = split(case)
        scales = "alpha" in kwargs or ("alpha" in vars(op) and len(case) > 2)
        exact = not (issubclass(op, INEXACT) or scales)
        lifts = every_case or number % _LIFTED == 1
        check(op, *args, exact=exact, lifts=lifts, **kwargs)


def test_every_op_has_a_pattern():
    assert [op.name for op in torch.OPS if pattern_of(op) is None] == []
    assert {*CASES} == {*torch.OPS}
