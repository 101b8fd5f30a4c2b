# SPDX-License-Identifier: Apache-2.0
"""
Spellings of arithmetic, comparisons, activations and losses.

They are captured as the expected ops, and compute eager PyTorch's values. All are captured at once,
as a capture takes time.
"""

# PyTorch's functions, and lambdas that call them, are typed in part.
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from xdsl.context import Context

from tilewright.arrays import array_of
from tilewright.dialects.torch.op import TorchOp
from tilewright.frontend.capture import capture
from tilewright.interpreters import interpret
from tilewright.passes.decompose.decompose import DecomposePass

_torch: Any = torch
Function = Callable[[Any, Any, Any, Any], Any]

# Functions of floats x and y within 0 and 1, integers i and bools b, with the ops they become.
ARITHMETIC: list[tuple[str, Function]] = [
    ("add.Scalar", lambda x, y, i, b: x + 2),
    ("add.Scalar", lambda x, y, i, b: 2 + x),
    ("add", lambda x, y, i, b: torch.add(x, y, alpha=2)),
    ("add.Scalar", lambda x, y, i, b: b + 1),
    ("rsub.Scalar", lambda x, y, i, b: 2 - x),
    ("sub", lambda x, y, i, b: x.clone().sub_(y, alpha=2)),
    ("mul", lambda x, y, i, b: torch.multiply(x, i)),
    ("div.Scalar", lambda x, y, i, b: i / 2),
    ("reciprocal mul.Scalar", lambda x, y, i, b: 2 / x),
    ("div", lambda x, y, i, b: torch.true_divide(x, y)),
    ("floor_divide", lambda x, y, i, b: x // y),
    ("floor_divide.Scalar", lambda x, y, i, b: i // 2),
    ("floor_divide", lambda x, y, i, b: 2 // x),
    ("floor_divide", lambda x, y, i, b: 2 // (i + 99)),
    ("div.Scalar_mode", lambda x, y, i, b: torch.div(x, 0.1, rounding_mode="trunc")),
    ("remainder.Scalar", lambda x, y, i, b: x % 2),
    ("remainder", lambda x, y, i, b: x % y),
    ("remainder.Scalar_Tensor", lambda x, y, i, b: 2 % x),
    ("fmod.Scalar", lambda x, y, i, b: torch.fmod(i, 3)),
    ("pow.Tensor_Scalar", lambda x, y, i, b: x**2),
    ("pow.Tensor_Scalar", lambda x, y, i, b: x.square()),
    ("pow.Scalar", lambda x, y, i, b: 2**x),
    ("pow.Tensor_Tensor", lambda x, y, i, b: x.pow(y)),
    ("neg", lambda x, y, i, b: -x),
    ("", lambda x, y, i, b: torch.positive(x)),
    ("add", lambda x, y, i, b: _torch.add(2, x)),
    ("div", lambda x, y, i, b: _torch.div(2, i + 99)),
    ("abs", lambda x, y, i, b: abs(x)),
    ("abs", lambda x, y, i, b: torch.absolute(x)),
    ("trunc", lambda x, y, i, b: torch.fix(x)),
    ("round.decimals", lambda x, y, i, b: torch.round(x, decimals=2)),
    ("erf", lambda x, y, i, b: torch.special.erf(x)),
    ("logit", lambda x, y, i, b: torch.special.logit(y, 1e-3)),
    ("sigmoid", lambda x, y, i, b: torch.special.expit(x)),
    ("atan2", lambda x, y, i, b: torch.arctan2(x, y)),
    ("copysign.Scalar", lambda x, y, i, b: torch.copysign(x, -2.0)),
    ("xlogy.Scalar_Self", lambda x, y, i, b: torch.xlogy(2.0, y)),
    ("ldexp", lambda x, y, i, b: torch.ldexp(x, i)),
    ("maximum", lambda x, y, i, b: torch.max(x, y)),
    ("clamp", lambda x, y, i, b: x.clip(0, 1)),
    ("clamp_min", lambda x, y, i, b: x.clamp_min(0)),
    ("clamp.Tensor", lambda x, y, i, b: x.clamp(min=y)),
    ("lerp.Scalar", lambda x, y, i, b: torch.lerp(x, y, 0.3)),
    ("addcmul", lambda x, y, i, b: torch.addcmul(x, y, y, value=2)),
    ("addcdiv", lambda x, y, i, b: x.clone().addcdiv_(y, y)),
    ("nan_to_num", lambda x, y, i, b: x.log().nan_to_num(posinf=1.0)),
]
TRUTH: list[tuple[str, Function]] = [
    ("eq.Scalar", lambda x, y, i, b: i == 2),
    ("gt.Scalar", lambda x, y, i, b: 2 < x),
    ("ne", lambda x, y, i, b: torch.not_equal(x, y)),
    ("isfinite", lambda x, y, i, b: torch.isfinite(x)),
    ("logical_and", lambda x, y, i, b: torch.logical_and(x, b)),
    ("bitwise_and", lambda x, y, i, b: b & (x > 0)),
    ("bitwise_or.Scalar", lambda x, y, i, b: i | 3),
    ("bitwise_xor.Scalar", lambda x, y, i, b: 3 ^ i),
    ("bitwise_and.Scalar_Tensor", lambda x, y, i, b: torch.bitwise_and(3, i)),
    ("bitwise_or.Scalar_Tensor", lambda x, y, i, b: torch.bitwise_or(3, i)),
    ("bitwise_xor.Scalar_Tensor", lambda x, y, i, b: torch.bitwise_xor(True, b)),
    ("bitwise_not", lambda x, y, i, b: ~b),
    ("__lshift__.Scalar", lambda x, y, i, b: i << 1),
    ("__rshift__", lambda x, y, i, b: i >> i),
    ("bitwise_left_shift.Scalar_Tensor", lambda x, y, i, b: 1 << i),
    ("where.self", lambda x, y, i, b: torch.where(b, x, i)),
    ("where.ScalarOther", lambda x, y, i, b: torch.where(b, x, -inf)),
    ("where.ScalarSelf", lambda x, y, i, b: torch.where(b, 2.0, x)),
    ("where.Scalar", lambda x, y, i, b: torch.where(b, 1, 0)),
    ("masked_fill.Scalar", lambda x, y, i, b: x.clone().masked_fill_(b, -inf)),
    ("masked_fill", lambda x, y, i, b: x.masked_fill(b, y[0, 0])),
]
ACTIVATIONS: list[tuple[str, Function]] = [
    *(
        (name, lambda x, y, i, b, f=getattr(F, name): f(x))
        for name in (
            "relu",
            "relu6",
            "leaky_relu",
            "elu",
            "selu",
            "celu",
            "gelu",
            "silu",
            "mish",
            "hardswish",
            "hardsigmoid",
            "hardtanh",
            "softplus",
            "glu",
            "rrelu",
        )
    ),
    ("log_sigmoid", lambda x, y, i, b: nn.LogSigmoid()(x)),
    ("threshold", lambda x, y, i, b: F.threshold(x, 0.1, 20)),
    ("prelu", lambda x, y, i, b: F.prelu(x, y[0])),
    ("abs add.Scalar div", lambda x, y, i, b: F.softsign(x)),
    ("tanh sub", lambda x, y, i, b: F.tanhshrink(x)),
    ("where.self", lambda x, y, i, b: F.softshrink(x)),
    ("where.ScalarSelf", lambda x, y, i, b: F.hardshrink(x)),
    ("hardtanh", lambda x, y, i, b: F.hardtanh(i, -2, 2)),
]
LOSSES: list[tuple[str, Function]] = [
    ("mse_loss", lambda x, y, i, b: F.mse_loss(x, y)),
    ("l1_loss", lambda x, y, i, b: F.l1_loss(x, y, reduction="sum")),
    ("smooth_l1_loss", lambda x, y, i, b: F.smooth_l1_loss(x, y, beta=0.5)),
    ("huber_loss", lambda x, y, i, b: nn.HuberLoss(delta=0.5)(x, y)),
    ("kl_div", lambda x, y, i, b: F.kl_div(x, y, reduction="batchmean")),
    ("binary_cross_entropy", lambda x, y, i, b: F.binary_cross_entropy(y, y)),
    ("binary_cross_entropy_with_logits", lambda x, y, i, b: nn.BCEWithLogitsLoss()(x, y)),
    ("cosine_similarity", lambda x, y, i, b: F.cosine_similarity(x, y)),
    ("cross_entropy_loss", lambda x, y, i, b: nn.CrossEntropyLoss()(x, i[0, :4] % 6)),
    ("cross_entropy_loss", lambda x, y, i, b: F.cross_entropy(x, y, label_smoothing=0.1)),
    ("nll_loss_nd", lambda x, y, i, b: F.nll_loss(x, i[0, :4] % 6)),
    ("gather", lambda x, y, i, b: _torch.ops.aten.nll_loss_forward(x, i[0, :4] % 6, None, 1, -100)),
    ("sqrt", lambda x, y, i, b: F.cosine_embedding_loss(x, y, i[0, :4].sign())),
    ("clamp_min", lambda x, y, i, b: F.margin_ranking_loss(x, y, i.sign())),
    ("clamp_min", lambda x, y, i, b: F.hinge_embedding_loss(x, i.sign().clamp_min(1))),
    ("exp", lambda x, y, i, b: F.poisson_nll_loss(x, y)),
    ("exp", lambda x, y, i, b: F.soft_margin_loss(x, y)),
    ("log_sigmoid", lambda x, y, i, b: F.multilabel_soft_margin_loss(x, y)),
]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "spellings",
    [ARITHMETIC, TRUTH, ACTIVATIONS, LOSSES],
    ids=["arithmetic", "truth", "act", "loss"],
)
def test_spellings(spellings: list[tuple[str, Function]]):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(4, 6, generator=generator)
    y = torch.rand(4, 6, generator=generator)
    i = torch.arange(-12, 12).reshape(4, 6)
    arguments = (x, y, i, x > 0)
    functions = [function for _, function in spellings]
    captured = capture(lambda *args: [function(*args) for function in functions], arguments)
    names = {
        op.name.removeprefix("torch.") for op in captured.module.walk() if isinstance(op, TorchOp)
    }
    assert {name for ops, _ in spellings for name in ops.split()} <= names

    inputs = [array_of(input.tensor) for input in captured.inputs]
    DecomposePass().apply(Context(), captured.module)
    results = captured.unflatten(interpret(captured.module, *inputs))
    for (name, function), result in zip(spellings, results, strict=True):
        expected = function(*arguments)
        for got, tensor in zip(_flat(result), _flat(expected), strict=True):
            reference = array_of(tensor)
            assert (got.dtype, got.shape) == (reference.dtype, reference.shape), name
            np.testing.assert_allclose(got, reference, rtol=1e-5, atol=1e-6, err_msg=name)


def _flat(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
