# SPDX-License-Identifier: Apache-2.0
"""The float64 reference promotes every floating dtype, and changes nothing else."""

from typing import Any

import numpy as np
import pytest
import torch

from tilewright.arrays import ROUNDOFF
from tilewright.frontend.capture import Captured, capture
from tilewright.frontend.expression import parse_expression
from tilewright.frontend.reference import eager, perturbed, reference


def captured_text(text: str) -> tuple[Captured, list[Any]]:
    expression = parse_expression(text, seed=3)
    captured = capture(expression.module, expression.args)
    return captured, [i.tensor for i in captured.inputs]


def test_rms_norm_keeps_the_eps_of_its_dtype():
    """The mean square for |x| ~ 1e-4 is near float32's eps, and far above float64's."""
    captured, inputs = captured_text("nn.RMSNorm(64)(torch.rand(4, 64) * 1e-4)")
    x = inputs[-1].double().numpy() * 1e-4
    (result,) = reference(captured, inputs)
    eps = np.finfo(np.float32).eps
    expected = x / np.sqrt((x**2).mean(-1, keepdims=True) + eps)
    np.testing.assert_allclose(result, expected, rtol=1e-6)
    assert result.dtype == np.float64


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_rms_norm_has_the_eps_that_pytorch_takes(dtype: torch.dtype):
    """Half types compute in float32, with the eps of float32."""
    x = (torch.rand(64, generator=torch.Generator().manual_seed(0)) * 1e-4).to(dtype)
    captured = capture(lambda x: torch.rms_norm(x, (64,)), (x,))  # pyright: ignore
    (exact,), (rounded,) = reference(captured, [x]), eager(captured, [x])
    assert exact.dtype == np.float64
    np.testing.assert_allclose(
        rounded.astype(np.float64), exact, rtol=ROUNDOFF[rounded.dtype.name] * 8
    )


@pytest.mark.parametrize("name", ROUNDOFF)
def test_every_floating_dtype_is_promoted_and_nudged_by_its_own_roundoff(name: str):
    x = torch.rand(99, generator=torch.Generator().manual_seed(0)).to(getattr(torch, name)) + 1
    captured = capture(torch.neg, (x,))
    (exact,), (moved,) = reference(captured, [x]), perturbed(captured, [x], 8)
    assert exact.dtype == moved.dtype == np.float64
    np.testing.assert_array_equal(exact, -x.double().numpy())
    relative = abs(moved / exact - 1)
    # Both the input and the result are nudged; a float64 nudge is rounded itself.
    assert 15 * ROUNDOFF[name] < relative.max() < 19 * ROUNDOFF[name]
    (same,) = eager(captured, [x])
    assert same.dtype.name == name


def test_integers_divide_in_float64():
    """The quotient of two integers has the default dtype."""
    numbers = torch.arange(1, 9)
    captured = capture(lambda n: n / 3, (numbers,))  # pyright: ignore
    (exact,) = reference(captured, [numbers])
    np.testing.assert_array_equal(exact, np.arange(1, 9) / 3)
    (rounded,) = eager(captured, [numbers])
    assert rounded.dtype == np.float32
    assert torch.get_default_dtype() == torch.float32


def test_dtype_arguments_are_promoted():
    captured, inputs = captured_text("torch.rand(9, 999).sum(1, dtype=torch.float32).softmax(0)")
    (result,) = reference(captured, inputs)
    sums = inputs[0].double().sum(1)
    np.testing.assert_allclose(result, sums.softmax(0).numpy(), rtol=1e-14)


def test_eager_is_what_pytorch_computes():
    text = "x = torch.randn(3, 8); m = nn.Linear(8, 5); {'a': m(x), 'b': (2, x)}"
    captured, inputs = captured_text(text)
    expression = parse_expression(text, seed=3)
    expected = expression.module(*expression.args)
    a, b = eager(captured, [i.detach().numpy() for i in inputs])
    assert a.dtype == np.float32
    np.testing.assert_array_equal(a, expected["a"].detach().numpy())
    np.testing.assert_array_equal(b, expected["b"][1].numpy())


def test_other_values_than_at_capture():
    captured, inputs = captured_text("nn.Linear(4, 3, bias=False)(torch.randn(2, 4))")
    weight, x = inputs[0] * 2, torch.ones(2, 4)
    (result,) = reference(captured, [weight, x])
    expected = (x.double() @ weight.double().T).detach().numpy()
    np.testing.assert_allclose(result, expected, rtol=1e-14)


def test_constants_are_promoted():
    table = torch.full((3,), 0.1)
    captured = capture(lambda x: x * table, (torch.ones(3),))  # pyright: ignore
    inputs = [i.tensor for i in captured.inputs]
    assert len(inputs) == 2
    (result,) = reference(captured, inputs)
    np.testing.assert_array_equal(result, np.full(3, np.float64(np.float32(0.1))))


def test_views_of_values_that_lie_otherwise_in_memory():
    text = "torch.randn(2, 1, 4).expand(2, 3, 4).transpose(1, 2).reshape(8, 3) + 1"
    captured, inputs = captured_text(text)
    (exact,) = reference(captured, inputs)
    (moved,) = perturbed(captured, inputs, 1.0)
    assert moved.shape == exact.shape == (8, 3)
    assert 0 < abs(moved - exact).max() < 1e-5
