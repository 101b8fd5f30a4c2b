# SPDX-License-Identifier: Apache-2.0
"""Random programs of several tensors, compiled as if a kernel had room for only a few of them."""

import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch
from torch import Tensor

from tilewright import api
from tilewright.dialects.target import Target
from tilewright.passes.loop import parts
from tilewright.passes.loop.fusion import kernel_room

SEEDS = 30
COUNTS = (3, 5, 8, 11, 14, 18)
SHAPES = ((3,), (2, 3), (4, 4), (1, 5), (2, 2, 3))

Program = Callable[[Sequence[Tensor]], list[Tensor]]


def _half(a: Tensor, b: Tensor) -> Tensor:
    return a * 0.5 + b


def _larger(a: Tensor, b: Tensor) -> Tensor:
    return torch.where(a > b, a, b)


JOINS = (torch.add, torch.sub, torch.minimum, _half, _larger)


def drawn(seed: int) -> tuple[Program, list[Tensor]]:
    """Return a random program and its inputs."""
    draw, generator = random.Random(seed), torch.Generator().manual_seed(seed)
    shape = draw.choice(SHAPES)
    inputs = [torch.randn(*shape, generator=generator) for _ in range(draw.choice(COUNTS))]
    dim, size = draw.randrange(len(shape)), draw.choice((3, 5, 9))
    joins = [draw.choice(JOINS) for _ in inputs]

    def joined(xs: Sequence[Tensor]) -> Tensor:
        found = xs[0]
        for join, x in zip(joins, xs[1:]):
            found = join(found, x)
        return found

    def program(xs: Sequence[Tensor]) -> list[Tensor]:
        whole, stacked = torch.cat([*xs], dim), torch.stack([*xs], dim)
        groups = [torch.cat([*xs[i : i + size]], dim) for i in range(0, len(xs), size)]
        placed = stacked.select_scatter(joined(xs), dim, len(xs) // 2)
        return [joined(xs), whole.relu(), torch.cat(groups, dim) + whole, placed, stacked.sum(dim)]

    return program, inputs


def _few_loads(_: Target) -> int:
    return 8


@pytest.fixture
def little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the limits of kernels so that small programs reach them."""
    monkeypatch.setattr(parts, "MOST_ALTERNATIVES", 3)
    monkeypatch.setattr(kernel_room, "room_for_loads", _few_loads)


@pytest.mark.usefixtures("little_room")
@pytest.mark.parametrize("seed", [1])
def test_kernels_of_little_room(seed: int) -> None:
    check(seed)


@pytest.mark.usefixtures("little_room", "every_case")
@pytest.mark.parametrize("seed", [0, *range(2, SEEDS)])
def test_more_kernels_of_little_room(seed: int) -> None:
    check(seed)


def check(seed: int) -> None:
    """Compare two levels of a random program with PyTorch."""
    program, inputs = drawn(seed)
    captured = api.capture(program, inputs)
    expected = program(inputs)
    for level in ("loop", "kernel"):
        found = api.interpret(api.lower(captured, level), *inputs)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, np.asarray(other), rtol=1e-5, atol=1e-5)
