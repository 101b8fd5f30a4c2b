# SPDX-License-Identifier: Apache-2.0
"""Programs whose intermediate buffers are written in place, from PyTorch to the simulator."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from needs import needs_nvrtc
from torch import Tensor

import tilewright
from tilewright.codegen.launch_plan import Plan

pytestmark = needs_nvrtc

W = torch.randn(33, 33, generator=torch.Generator().manual_seed(0)) / 6


def block(h: Tensor) -> Tensor:
    """Return a step of two kernels that adds its input at its end."""
    return h + torch.sin(torch.relu(h @ W) @ W)


def residual(x: Tensor) -> Tensor:
    return block(block(torch.relu(x @ W))) @ W


def residual_is_a_result(x: Tensor) -> tuple[Tensor, Tensor]:
    h = torch.relu(x @ W)
    return h, block(h) @ W


def residual_is_the_input(x: Tensor) -> tuple[Tensor, Tensor]:
    return block(x) @ W, x


def residual_is_needed_later(x: Tensor) -> Tensor:
    h = torch.relu(x @ W)
    return (block(h) @ W) @ W + h


def residual_is_read_transposed(x: Tensor) -> Tensor:
    h = torch.relu(x @ W)
    return (h.T + torch.sin(torch.relu(h @ W) @ W)) @ W


def input_is_written(x: Tensor) -> Tensor:
    h = torch.relu(x @ W)
    x.copy_(block(h))
    return x @ W


def ran(program: Callable[..., Any]) -> Plan:
    """Return the plan of a program, after a run that is compared with PyTorch."""
    x = torch.randn(33, 33, generator=torch.Generator().manual_seed(1))
    ours, theirs = x.clone(), x.clone()
    compiled = tilewright.compile(program, x.clone(), device="sim")
    torch.testing.assert_close(compiled(ours), program(theirs), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)
    return compiled.plan


def written_in_place(plan: Plan) -> list[tuple[str, str]]:
    """Return the outputs that share a buffer with an input, each with that input."""
    names = plan.names
    return [(names[o], names[i]) for launch in plan.launches for o, i in launch.in_place]


def test_what_is_added_to_is_written_in_place() -> None:
    plan = ran(residual)
    assert written_in_place(plan) == [("add", "relu"), ("add_1", "add")]
    size = -(-33 * 33 * 4 // 256) * 256
    assert (plan.slab.peak_bytes, plan.slab.sum_bytes) == (2 * size, 5 * size)


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    "program",
    [
        residual_is_a_result,
        residual_is_the_input,
        residual_is_needed_later,
        residual_is_read_transposed,
        input_is_written,
    ],
)
def test_what_is_needed_otherwise_is_not(program: Callable[..., Any]) -> None:
    assert written_in_place(ran(program)) == []
