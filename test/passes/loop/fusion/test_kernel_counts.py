# SPDX-License-Identifier: Apache-2.0
"""Numbers of kernels that usual programs become, which have upper limits."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch import randn as r

from tilewright import api
from tilewright.dialects import loop

from .decoder_layer import DecoderLayer


def softmax_of_rows(x: Tensor) -> Tensor:
    return x.softmax(-1)


def softmax_of_columns(x: Tensor) -> Tensor:
    return x.softmax(0)


def gelu_chain(x: Tensor) -> Tensor:
    return F.gelu(x * 2 + 1) * x


def gate(x: Tensor, g: Tensor, u: Tensor) -> Tensor:
    return F.silu(x @ g) * (x @ u)


def packed_gate(x: Tensor, w: Tensor) -> Tensor:
    gate, up = F.linear(x, w).chunk(2, -1)
    return F.silu(gate) * up


def gated_convolution(x: Tensor, w: Tensor) -> Tensor:
    return F.glu(F.conv1d(x, w), 1)


def attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v)


def causal(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def grouped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)


def masked(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def relu_matmul(x: Tensor, bias: Tensor, w: Tensor) -> Tensor:
    return torch.relu((x + bias) @ w)


def residual(x: Tensor, w: Tensor, b: Tensor) -> Tensor:
    return torch.relu(F.conv2d(x, w, b, padding=1) + x)


def residual_and_norm(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    total = x + y
    return total, F.rms_norm(total, (500,))


def product_and_relu(x: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
    product = x @ w
    return product, torch.relu(product)


def shares_and_largest(x: Tensor) -> tuple[Tensor, Tensor]:
    shares = x.softmax(-1)
    return shares, shares.amax(-1)


def explicit_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q @ k.mT * 0.125).softmax(-1) @ v


def half(*shape: int) -> Tensor:
    return torch.ones(shape, dtype=torch.bfloat16)


HEADS, SHARED = (r(1, 4, 65, 24), r(1, 4, 67, 24), r(1, 4, 67, 24)), r(1, 2, 65, 24)

CASES: list[tuple[Callable[..., Any], tuple[Tensor, ...], int]] = [
    (softmax_of_rows, (r(33, 500),), 1),
    (softmax_of_columns, (r(500, 33),), 1),
    (softmax_of_rows, (r(31),), 1),
    (softmax_of_rows, (r(2, 10),), 1),
    (nn.LayerNorm(64), (r(1, 64),), 1),
    (nn.RMSNorm(512), (r(33, 512),), 1),
    (nn.LayerNorm(500), (r(33, 500),), 1),
    (nn.GroupNorm(4, 16), (r(2, 16, 8, 9),), 1),
    (gelu_chain, (r(33, 512),), 1),
    (gate, (r(33, 64), r(64, 120), r(64, 120)), 1),
    (packed_gate, (r(33, 64), r(240, 64)), 1),
    (gated_convolution, (r(2, 4, 19), r(8, 4, 3)), 1),
    (relu_matmul, (r(16, 64), r(64), r(64, 16)), 1),
    (residual_and_norm, (r(33, 500), r(33, 500)), 1),
    (product_and_relu, (r(33, 64), r(64, 41)), 1),
    (shares_and_largest, (r(33, 500),), 1),
    (F.cross_entropy, (r(33, 500), torch.arange(33)), 2),
    (attention, HEADS, 2),
    (causal, HEADS, 2),
    (grouped, (HEADS[0], SHARED, SHARED), 2),
    (masked, (*HEADS, r(65, 67)), 2),
    (nn.Conv1d(4, 8, 3, padding=1, groups=2), (r(2, 4, 19),), 1),
    (residual, (r(2, 4, 7, 9), r(4, 4, 3, 3), r(4)), 1),
    (nn.ConvTranspose2d(4, 8, 3, stride=2), (r(2, 4, 7, 9),), 1),
    (nn.Sequential(nn.Conv2d(4, 8, 3), nn.GELU(), nn.Conv2d(8, 4, 1)), (r(2, 4, 7, 9),), 2),
    (nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False), (r(2, 4, 9, 7),), 1),
    (nn.AdaptiveAvgPool2d((5, 3)), (r(2, 4, 9, 7),), 1),
    (gate, (half(33, 64), half(64, 120), half(64, 120)), 1),
    (torch.matmul, (half(4096, 4096), half(4096, 4096).mT), 1),
    (explicit_attention, (half(1, 32, 32, 64), half(1, 32, 32, 64), half(1, 32, 32, 64)), 2),
    (DecoderLayer(), (r(1, 33, 64), r(33, 16), r(33, 16)), 10),
]


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("program", "inputs", "most"), CASES)
def test_no_more_kernels_than_are_worth_it(
    program: Callable[..., Any], inputs: tuple[Tensor, ...], most: int
):
    module = api.lower(api.capture(program, *inputs), "loop")
    launches = [op for op in module.walk() if isinstance(op, loop.LaunchOp)]
    assert len(launches) <= most, [op.kernel.string_value() for op in launches]


def test_gate_and_up_share_one_loop():
    module = api.lower(api.capture(gate, r(33, 64), r(64, 120), r(64, 120)), "loop")
    (reduction,) = [op for op in module.walk() if isinstance(op, loop.ReduceOp)]
    loads = [op for op in reduction.body.block.ops if isinstance(op, loop.LoadOp)]
    assert (len(reduction.results), len(loads)) == (2, 3)


def test_packed_gate_and_up_share_one_loop():
    module = api.lower(api.capture(packed_gate, r(33, 64), r(240, 64)), "loop")
    (reduction,) = [op for op in module.walk() if isinstance(op, loop.ReduceOp)]
    loads = [op for op in reduction.body.block.ops if isinstance(op, loop.LoadOp)]
    assert (len(reduction.results), len(loads)) == (2, 3)


def test_keys_and_values_are_projected_by_one_kernel():
    inputs = (r(1, 33, 64), r(33, 16), r(33, 16))
    module = api.lower(api.capture(DecoderLayer(), *inputs), "loop")
    outputs = [len(op.outputs) for op in module.walk() if isinstance(op, loop.LaunchOp)]
    assert outputs.count(2) == 1
