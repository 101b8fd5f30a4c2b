# SPDX-License-Identifier: Apache-2.0
"""
Random convolutions and transposed convolutions, with all their arguments in one to three
dimensions. Weights are parameters of a module, or inputs of a function.
"""

from collections.abc import Sequence
from math import prod
from random import Random
from typing import NamedTuple

import torch
from torch import Tensor, nn

from tilewright import api
from tilewright.frontend.capture import Captured
from tilewright.tools.input.source import set_precision

DTYPES = (torch.float32, torch.float32, torch.bfloat16, torch.float16)
TARGETS = ("sm_80", "sm_90a", "sm_120")
CHANNELS = (1, 2, 3, 5, 8, 12, 16, 16, 20, 24, 32, 48)
"""Channels of a group that a convolution sums over; 12 are filled up with zeros."""

STEPS = 400_000
"""Most multiply-adds of a case, which the simulator does in about a second."""


class Dim(NamedTuple):
    """Arguments along one dimension."""

    size: int
    steps: int
    stride: int
    padding: int
    dilation: int
    extra: int
    """`output_padding` of a transposed convolution."""

    def positions(self, is_transposed: bool) -> int:
        """Return the size of the result; PyTorch refuses less than 1."""
        reach = self.dilation * (self.steps - 1) + 1
        if not is_transposed:
            return (self.size + 2 * self.padding - reach) // self.stride + 1
        if self.extra >= max(self.stride, self.dilation):
            return 0
        return (self.size - 1) * self.stride - 2 * self.padding + reach + self.extra


class Case(NamedTuple):
    """A convolution of random inputs, and how it is compiled."""

    is_transposed: bool
    dims: Sequence[Dim]
    batch: int
    groups: int
    taken: int
    given: int
    """Channels that each group takes and gives."""
    is_biased: bool
    is_module: bool
    """True if weight and bias are parameters of a module."""
    has_activation: bool
    dtype: torch.dtype
    precision: str
    target: str

    @property
    def steps(self) -> int:
        """Multiply-adds of the case."""
        positions = prod(max(0, dim.positions(self.is_transposed)) for dim in self.dims)
        window = prod(dim.steps for dim in self.dims)
        return self.batch * self.groups * self.given * positions * self.taken * window

    def captured(self, seed: int) -> Captured:
        """Return the captured program, with random inputs and parameters."""
        generator = torch.Generator().manual_seed(seed)
        module = self._module()
        for parameter in module.parameters():
            drawn = torch.randn(parameter.shape, generator=generator)
            parameter.data = drawn.to(self.dtype)
        shape = self.batch, self.groups * self.taken, *(dim.size for dim in self.dims)
        input = torch.randn(shape, generator=generator).to(self.dtype)
        if self.is_module:
            captured = api.capture(module, input)
        else:
            parameters = dict(module.named_parameters())
            captured = api.capture(_Functional(module), input, *parameters.values())
        set_precision(captured.module, self.precision)
        return captured

    def _module(self) -> nn.Module:
        kind = f"Conv{'Transpose' * self.is_transposed}{len(self.dims)}d"
        _, steps, strides, paddings, dilations, extra = zip(*self.dims, strict=True)
        module = getattr(nn, kind)(
            self.groups * self.taken,
            self.groups * self.given,
            steps,
            stride=strides,
            padding=paddings,
            dilation=dilations,
            groups=self.groups,
            bias=self.is_biased,
            dtype=self.dtype,
            **({"output_padding": extra} if self.is_transposed else {}),
        )
        return nn.Sequential(module, nn.ReLU()) if self.has_activation else module


class _Functional(nn.Module):
    """A module without parameters that calls another one with its inputs as parameters."""

    def __init__(self, module: nn.Module):
        super().__init__()
        self._names = [name for name, _ in module.named_parameters()]
        self._modules_called = (module,)  # in a tuple, so that its parameters are not ours

    def forward(self, input: Tensor, *given: Tensor) -> Tensor:
        """Return the result of the module."""
        parameters = dict(zip(self._names, given, strict=True))
        return torch.func.functional_call(self._modules_called[0], parameters, (input,))


def drawn_case(seed: int) -> Case:
    """Return the random case of a seed: the first one drawn that PyTorch accepts and is small."""
    draw = Random(seed)
    while True:
        case = _any_case(draw)
        fits = all(dim.positions(case.is_transposed) > 0 for dim in case.dims)
        if fits and case.steps <= STEPS:
            return case


def _any_case(draw: Random) -> Case:
    is_transposed = draw.random() < 0.4
    rank = draw.choice((1, 2, 2, 3))
    largest = (20, 9, 5)[rank - 1]
    dims = [
        Dim(
            draw.randint(1, largest),
            draw.randint(1, (7, 5, 3)[rank - 1]),
            draw.choice((1, 1, 2, 3)),
            draw.randint(0, 3),
            draw.choice((1, 1, 2, 3)),
            draw.randint(0, 2),
        )
        for _ in range(rank)
    ]
    return Case(
        is_transposed,
        dims,
        draw.randint(1, 3),
        draw.choice((1, 1, 1, 2, 3)),
        draw.choice(CHANNELS),
        draw.choice((1, 3, 8, 17, 20)),
        draw.random() < 0.5,
        draw.random() < 0.6,
        draw.random() < 0.3,
        draw.choice(DTYPES),
        draw.choice(("highest", "high", "medium")),
        draw.choice(TARGETS),
    )
