# SPDX-License-Identifier: Apache-2.0
"""Results of PyTorch with rounded factors, for each op with a precision."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tilewright import api
from tilewright.frontend.reference import coarse, eager, reference
from tilewright.frontend.rounded_factors import rounded

generator = torch.Generator().manual_seed(0)


def _drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=generator)


X, Y, BATCH, IMAGES = _drawn(9, 9), _drawn(9, 9), _drawn(2, 9, 9), _drawn(2, 3, 9, 9)
HEADS = _drawn(1, 2, 9, 16)


def _einsum(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.einsum("bij,kj->bik", x, y)


CALLS: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...]]] = {
    "matmul": (torch.matmul, (X, Y)),
    "mm": (torch.mm, (X, Y)),
    "bmm": (torch.bmm, (BATCH, BATCH)),
    "mv": (torch.mv, (X, Y[0])),
    "dot": (torch.dot, (X[0], Y[0])),
    "inner": (torch.inner, (X, Y)),
    "linear": (F.linear, (X, Y, X[0])),
    "addmm": (torch.addmm, (X, X, Y)),
    "addmv": (torch.addmv, (X[0], X, Y[0])),
    "addbmm": (torch.addbmm, (X, BATCH, BATCH)),
    "baddbmm": (torch.baddbmm, (BATCH, BATCH, BATCH)),
    "einsum": (_einsum, (BATCH, Y)),
    "attention": (F.scaled_dot_product_attention, (HEADS, HEADS, HEADS)),
    "conv1d": (F.conv1d, (BATCH, _drawn(2, 9, 3))),
    "conv2d": (F.conv2d, (IMAGES, _drawn(2, 3, 3, 3))),
    "conv_transpose2d": (F.conv_transpose2d, (IMAGES, _drawn(3, 2, 3, 3))),
}


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", CALLS)
def test_factors_of_each_op_are_rounded(name: str):
    """Rounding to n bits moves results by 2^(-n - 2) to 2^(3 - n) of the largest one."""
    function, inputs = CALLS[name]
    for word, bits in (("high", 11), ("medium", 11 if "conv" in name else 8)):
        captured = api.capture(function, *inputs, matmul_precision=word)
        given = [i.tensor for i in captured.inputs]
        (exact,), (moved,) = reference(captured, given), coarse(captured, given)
        share = np.abs(moved - exact).max() / np.abs(exact).max()
        assert 2.0 ** (-bits - 2) < share < 2.0 ** (-bits + 3)


def test_other_products_keep_their_factors():
    """Elementwise products, bilinear, and contractions of float64 and half types are unchanged."""
    calls: list[tuple[Callable[..., Any], tuple[torch.Tensor, ...]]] = [
        (torch.mul, (X, Y)),
        (F.bilinear, (X, Y, _drawn(2, 9, 9))),
        (torch.matmul, (X.double(), Y.double())),
        (torch.matmul, (X.half(), Y.half())),
    ]
    for function, inputs in calls:

        def both(x: torch.Tensor, y: torch.Tensor, *rest: torch.Tensor) -> Any:
            return function(*rest), x @ y

        captured = api.capture(both, X, Y, *inputs, matmul_precision="medium")
        given = [i.tensor for i in captured.inputs]
        exact, moved = reference(captured, given), coarse(captured, given)
        np.testing.assert_array_equal(exact[0], moved[0])
        assert (exact[1] != moved[1]).any()


def test_rounding_to_a_number_of_bits():
    values = torch.tensor([1.0, 1 + 2**-11, 1 + 2**-12, -3.0 - 2**-9, 0.0, torch.inf, torch.nan])
    expected = torch.tensor([1.0, 1 + 2**-10, 1.0, -3.0 - 2**-9, 0.0, torch.inf, torch.nan])
    found = rounded(values.double(), 11)
    torch.testing.assert_close(found, expected.double(), rtol=0, atol=0, equal_nan=True)
    narrow = _drawn(99)
    torch.testing.assert_close(
        rounded(narrow.double(), 8).float(), narrow.bfloat16().float(), rtol=0, atol=0
    )


def test_pytorch_itself_computes_without_rounding(monkeypatch: pytest.MonkeyPatch):
    """The reference in float32 is independent of PyTorch's own setting, which stays as it was."""
    captured = api.capture(torch.matmul, X, Y)
    seen: list[str] = []
    matmul = torch.ops.aten.matmul.default

    def watched(*args: Any) -> Any:
        seen.append(torch.get_float32_matmul_precision())
        return matmul(*args)

    for node in captured.exported.graph.nodes:
        if node.target is matmul:
            node.target = watched
    captured.exported.graph_module.recompile()
    torch.set_float32_matmul_precision("medium")
    try:
        eager(captured, [i.tensor for i in captured.inputs])
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision("highest")
    assert seen == ["highest"]
