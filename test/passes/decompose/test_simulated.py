# SPDX-License-Identifier: Apache-2.0
"""
Each Torch op lowered to CUDA, on the simulator with all checks, compared with PyTorch's operator.

A family is one program of many kernels, so that NVRTC runs once. With `--every-case` all cases of
each op are simulated instead of its first ones; that takes minutes.
"""

from collections.abc import Sequence

import pytest

from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.dialects import torch

from .programs import Call, Program, calls, first_calls


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Parametrise tests by a program for each family, or for each op."""
    every_case = metafunc.config.getoption("--every-case")
    programs = {op.name: calls(op) for op in torch.OPS} if every_case else first_calls()
    metafunc.parametrize("program", programs.values(), ids=programs.keys())


@pytest.mark.one_in(5)
def test_simulated(program: Sequence[Call]) -> None:
    Program(program).check(SimulatorBackend("sm_90a"), "sm_90a")
