# SPDX-License-Identifier: Apache-2.0
"""Equal layers share their kernels, whether or not they share a function."""

from collections import Counter

import torch
from torch import nn
from torch.nn import functional as F
from xdsl.dialects.builtin import ModuleOp

from tilewright import api
from tilewright.dialects import loop
from tilewright.interpreters.check import check_pass
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower


class Layer(nn.Module):
    """A normalisation and a gated product, added to the residual."""

    def __init__(self, width: int):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.gate = nn.Linear(width, 2 * width), nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


def two_in_one(x: torch.Tensor, *weights: torch.Tensor) -> torch.Tensor:
    """Apply two layers in one function, which has nothing to outline."""
    for scale, w, bias in (weights[:3], weights[3:]):
        y = F.rms_norm(x, (x.shape[-1],), scale)
        x = x + torch.relu(y @ w + bias)
    return x


def one(x: torch.Tensor, *weights: torch.Tensor) -> torch.Tensor:
    """Apply the first of them."""
    scale, w, bias = weights
    y = F.rms_norm(x, (x.shape[-1],), scale)
    return x + torch.relu(y @ w + bias)


def weights() -> list[torch.Tensor]:
    return [torch.randn(33), torch.randn(33, 33), torch.randn(33)]


def kernels(module: ModuleOp) -> list[str]:
    return [op.sym_name.data for op in module.ops if isinstance(op, loop.KernelOp)]


def launches(module: ModuleOp) -> Counter[str]:
    found = (op for op in module.walk() if isinstance(op, loop.LaunchOp))
    return Counter(op.kernel.string_value() for op in found)


def test_two_layers_in_one_function_have_the_kernels_of_one():
    x = torch.randn(5, 33)
    first = api.lower(api.capture(one, x, *weights()), "loop")
    both = api.lower(api.capture(two_in_one, x, *weights(), *weights()), "loop")
    assert kernels(both) == kernels(first)
    assert launches(both) == {name: 2 for name in kernels(first)}


def test_two_outlined_layers_have_the_kernels_of_one():
    x = torch.randn(5, 32)
    first = api.lower(api.capture(Layer(32), x), "loop")
    both = api.lower(api.capture(nn.Sequential(Layer(32), Layer(32)), x), "loop")
    assert len(kernels(both)) == len(kernels(first))


def test_layers_of_other_sizes_have_kernels_of_their_own():
    model = nn.Sequential(nn.Linear(32, 32), nn.Linear(32, 32), nn.Linear(32, 31))
    module = api.lower(api.capture(model, torch.randn(5, 32)), "loop")
    assert sorted(launches(module).values()) == [1, 2]


def test_a_kernel_launched_twice_is_lowered_once():
    module = api.lower(api.capture(two_in_one, torch.randn(5, 33), *weights(), *weights()), "loop")
    kernel_ir = lower(module, Level.KERNEL)
    assert check_pass(module, kernel_ir, "to-kernel").compared == ("main",)
    assert launches(kernel_ir) == launches(module)
