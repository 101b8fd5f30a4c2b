# SPDX-License-Identifier: Apache-2.0
"""
Spellings of reductions, scans and norms, including those that PyTorch decomposes first.

They are captured as the expected ops, and compute eager PyTorch's values. All are captured in one
program, as a capture takes time.
"""

# PyTorch's functions, and lambdas that call them, are typed in part.
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from xdsl.context import Context
from xdsl.ir import Operation

from tilewright.arrays import array_of
from tilewright.dialects.torch.op import TorchOp
from tilewright.frontend.capture import capture
from tilewright.interpreters import interpret
from tilewright.passes.decompose.decompose import DecomposePass

_torch: Any = torch
SPELLINGS: list[tuple[str, Callable[[Any, Any], Any]]] = [
    ("maximum", lambda x, _: torch.max(x, -x)),
    ("minimum", lambda x, _: torch.min(x, -x)),
    ("max.dim", lambda x, _: x.max(1).indices),
    ("amax", lambda x, _: x.amax()),
    ("var.correction", lambda x, _: x.var()),
    ("var.correction", lambda x, _: x.var(1)),
    ("var.correction", lambda x, _: x.var(unbiased=False)),
    ("var.correction", lambda x, _: x.var((0, 1), correction=2)),
    ("std.correction", lambda x, _: x.std(1, unbiased=False)),
    ("var_mean.correction", lambda x, _: torch.var_mean(x, 1)[0]),
    ("std_mean.correction", lambda x, _: torch.std_mean(x, unbiased=False)[0]),
    ("linalg_vector_norm", lambda x, _: x.norm()),
    ("linalg_vector_norm", lambda x, _: x.norm(inf, 1)),
    ("linalg_vector_norm", lambda x, _: torch.norm(x, "fro")),
    ("linalg_vector_norm", lambda x, _: torch.norm(x, 3.5, 1, dtype=torch.float64)),
    ("linalg_vector_norm", lambda x, _: torch.linalg.norm(x)),
    ("linalg_vector_norm", lambda x, _: torch.linalg.matrix_norm(x)),
    ("linalg_vector_norm amax", lambda x, _: torch.linalg.matrix_norm(x, 1)),
    ("linalg_vector_norm amin", lambda x, _: torch.linalg.matrix_norm(x, -inf)),
    ("linalg_vector_norm", lambda x, _: _torch.ops.aten.norm.Scalar(x, 2)),
    ("linalg_vector_norm", lambda x, _: _torch.ops.aten.norm.ScalarOpt_dim(x, 3, [1])),
    ("linalg_vector_norm", lambda x, _: _torch.ops.aten.frobenius_norm.dim(x, [1])),
    ("linalg_vector_norm clamp_min expand div", lambda x, _: F.normalize(x)),
    ("linalg_vector_norm clamp_min expand div", lambda x, _: F.normalize(x, p=1.0, dim=0)),
    ("linalg_vector_norm div mul", lambda x, _: _torch._weight_norm(x, x[:, :1, :1], 0)),
    ("logsumexp", lambda x, _: torch.special.logsumexp(x, (0, 1))),
    ("cumsum", lambda x, _: x.clone().cumsum_(1)),
    ("softmax.int", lambda x, _: F.softmax(x, 1, dtype=torch.float64)),
    ("softmax.int", lambda x, _: nn.Softmax(dim=1)(x)),
    ("neg softmax.int", lambda x, _: F.softmin(x, 1)),
    ("log_softmax.int", lambda x, _: torch.special.log_softmax(x, 1)),
    ("layer_norm", lambda x, _: F.layer_norm(x, (4,))),
    ("rms_norm", lambda x, _: F.rms_norm(x, (4,))),
    ("group_norm", lambda _, y: F.group_norm(y, 2)),
    ("instance_norm", lambda _, y: F.instance_norm(y)),
    (
        "_native_batch_norm_legit_no_training",
        lambda _, y: F.batch_norm(y, y[0, :, 0, 0], y[1, :, 0, 0].abs()),
    ),
    (
        "_native_batch_norm_legit.no_stats",
        lambda _, y: F.batch_norm(y, None, None, training=True),
    ),
    ("nansum", lambda x, _: x.nansum((0, 1))),
    ("count_nonzero", lambda x, _: torch.count_nonzero(x, dim=1)),
]
_VIEWS = {"select.int", "clone", "abs", "slice", "unsqueeze", "permute", "view"}
"""Ops that make the arguments of the calls above."""


class AllOf(nn.Module):
    """Module that calls every spelling on the same two tensors."""

    def forward(self, x: Any, y: Any) -> Any:
        return tuple(call(x, y) for _, call in SPELLINGS)


def _names(module: Operation) -> list[str]:
    names = [op.name.removeprefix("torch.") for op in module.walk() if isinstance(op, TorchOp)]
    return [name for name in names if name not in _VIEWS]


def test_spellings():
    x, y = torch.randn(2, 3, 4), torch.randn(2, 4, 5, 5)
    with torch.no_grad():
        captured = capture(AllOf(), (x, y))
        expected = AllOf()(x, y)
    spelled = [name for names, _ in SPELLINGS for name in names.split()]
    assert sorted(_names(captured.module)) == sorted(["neg", "neg", *spelled])

    DecomposePass().apply(Context(), captured.module)
    results = interpret(captured.module, array_of(x), array_of(y))
    for (names, _), got, tensor in zip(SPELLINGS, results, expected, strict=True):
        assert got.dtype == array_of(tensor).dtype
        np.testing.assert_allclose(got, array_of(tensor), rtol=1e-5, atol=1e-6, err_msg=names)
