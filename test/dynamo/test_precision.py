# SPDX-License-Identifier: Apache-2.0
"""Precision of float32 products in graphs of `torch.compile`."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import pytest
import torch
import torch.nn.functional as F

from tilewright import torch_compile
from tilewright.arrays import as_array
from tilewright.frontend.capture import Captured
from tilewright.interpreters import interpret

X = torch.ones(4, 4)
IMAGES = torch.ones(1, 2, 4, 4)


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    """Restore PyTorch's default settings."""
    yield
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = True


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """The precisions of the graphs that the backend compiles, which are interpreted."""
    found: list[dict[str, str]] = []

    def compile(_: object, captured: Captured) -> Callable[[Sequence[Any]], list[Any]]:
        attributes = captured.module.attributes.items()
        found.append({name.removeprefix("torch."): cast(Any, v).data for name, v in attributes})
        return lambda values: interpret(captured.module, *map(as_array, values))

    monkeypatch.setattr(vars(torch_compile)["_Compiler"], "__call__", compile)
    return found


def both(x: torch.Tensor, images: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a matrix product and a convolution."""
    return x @ x, F.conv2d(images, images)


def compiled(**options: str) -> Callable[..., Any]:
    """Return `both` compiled by the backend."""
    return cast(Any, torch).compile(both, backend=torch_compile.backend, options=options or None)


def test_graphs_follow_pytorchs_settings(seen: list[dict[str, str]]):
    """PyTorch's default allows tf32 in convolutions only."""
    fast = compiled()
    fast(X, IMAGES)
    torch.set_float32_matmul_precision("high")
    fast(X, IMAGES)
    torch.backends.cudnn.allow_tf32 = False
    fast(X, IMAGES)
    torch.set_float32_matmul_precision("highest")
    fast(X, IMAGES)
    assert seen == [
        {"conv_precision": "high"},
        {"matmul_precision": "high", "conv_precision": "high"},
        {"matmul_precision": "high"},
        {},
    ]


def test_a_setting_that_dynamo_does_not_guard(seen: list[dict[str, str]]):
    """Dynamo traces no second time for `medium` after `high`; each is compiled once."""
    torch.backends.cudnn.allow_tf32 = False
    fast = compiled()
    for word in ("high", "medium", "high", "medium"):
        torch.set_float32_matmul_precision(word)
        fast(X, IMAGES)
    assert seen == [{"matmul_precision": "high"}, {"matmul_precision": "medium"}]


def test_the_option_decides_for_both(seen: list[dict[str, str]]):
    torch.set_float32_matmul_precision("high")
    compiled(matmul_precision="highest")(X, IMAGES)
    torch.set_float32_matmul_precision("highest")
    compiled(matmul_precision="medium")(X, IMAGES)
    assert seen == [{}, {"matmul_precision": "medium", "conv_precision": "high"}]
