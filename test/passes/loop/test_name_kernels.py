# SPDX-License-Identifier: Apache-2.0
"""Names of kernels that come from modules."""

from typing import Any

import pytest
import torch
from torch import nn

from tilewright.api import capture, lower
from tilewright.dialects import loop
from tilewright.passes.loop.name_kernels import shortened, snake_case


class LlamaRMSNorm(nn.Module):
    """RMSNorm as Hugging Face spells it."""

    def __init__(self, size: int):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        variance = x.pow(2).mean(-1, keepdim=True)
        return self.weight * (x * torch.rsqrt(variance + 1e-6))


class Rows(nn.Module):
    """Two normalisations and an op of the module itself, which are three kernels."""

    def __init__(self):
        super().__init__()
        self.first, self.second = LlamaRMSNorm(16), LlamaRMSNorm(8)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return self.first(x), self.second(y), x.sum(0)


class Moments(nn.Module):
    """Module with two kernels from one call."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.exp(x * 2).sum(0), torch.log(x + 3).sum(1)


class Around(nn.Module):
    """A program with a single module, which does all the work."""

    def __init__(self):
        super().__init__()
        self.moments = Moments()

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.moments(x)


class Sum(nn.Module):
    """A program of few ops."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x * 2)


def largest_so_far(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return both results of one op."""
    values, places = x.cummax(1)
    return values, places


X, Y = torch.randn(4, 16), torch.randn(5, 8)

PROGRAMS: dict[str, tuple[Any, tuple[torch.Tensor, ...], list[str]]] = {
    "the program is the module": (LlamaRMSNorm(16), (X,), ["llama_rms_norm"]),
    "two calls": (Rows(), (X, Y), ["llama_rms_norm", "llama_rms_norm_1", "sum"]),
    "two kernels of a call": (Around(), (X,), ["moments_sum_exp_mul", "moments_sum_log_add"]),
    "a program of few ops": (Sum(), (X,), ["relu_mul"]),
    "a function": (LlamaRMSNorm(16).forward, (X,), ["mul_rsqrt_add_mean_pow"]),
    "one op in a module": (nn.Sequential(nn.GELU()), (X,), ["gelu"]),
    "one of several results": (nn.BatchNorm1d(16).eval(), (X,), ["batch_norm"]),
    "several results": (largest_so_far, (X,), ["cummax"]),
    "two modules": (nn.Sequential(nn.Linear(16, 4), nn.ReLU()), (X,), ["relu_linear"]),
}


def names(function: Any, inputs: tuple[torch.Tensor, ...]) -> list[str]:
    """Return the names of the kernels of a program."""
    module = lower(capture(function, *inputs), "loop")
    return [op.sym_name.data for op in module.ops if isinstance(op, loop.KernelOp)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("program", PROGRAMS)
def test_names(program: str) -> None:
    function, inputs, expected = PROGRAMS[program]
    assert names(function, inputs) == expected
    assert names(function, inputs) == expected


@pytest.mark.parametrize(
    ("name", "snake"),
    [
        ("LlamaRMSNorm", "llama_rms_norm"),
        ("Qwen2MLP", "qwen2_mlp"),
        ("T5LayerNorm", "t5_layer_norm"),
        ("GELUActivation", "gelu_activation"),
        ("Conv2d", "conv2d"),
        ("Block", "block"),
        ("my_block", "my_block"),
    ],
)
def test_snake_case(name: str, snake: str) -> None:
    assert snake_case(name) == snake


def test_long_names_lose_words() -> None:
    assert shortened("relu_matmul_add") == "relu_matmul_add"
    assert shortened("a" * 20 + "_" + "b" * 20) == "a" * 20
    assert shortened("x" * 50) == "x" * 36
