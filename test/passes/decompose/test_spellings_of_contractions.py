# SPDX-License-Identifier: Apache-2.0
"""
Usual spellings of contractions, attention, convolutions and poolings, as functions and modules.

They are captured as known ops, and compute eager PyTorch's values. All spellings of a table are
captured at once: one export costs as much as a hundred decompositions.
"""

# PyTorch's functions, and lambdas that call them, are typed in part.
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from collections.abc import Callable
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

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
_torch: Any = torch
Spelling = tuple[str, Callable[..., Any], Any]
"""The expected ops in any order, a function or module, and its inputs."""


def rand(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape)))


class SelfAttention(nn.Module):
    """`nn.MultiheadAttention` of one input."""

    def __init__(self, **options: Any):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.options = options

    def forward(self, x: torch.Tensor) -> Any:
        return self.attention(x, x, x, **self.options)


_MATRICES = (rand(3, 4), rand(4, 5))
CONTRACTIONS: list[Spelling] = [
    ("matmul", lambda a, b: a @ b, _MATRICES),
    ("matmul", torch.linalg.matmul, _MATRICES),
    ("mm", torch.mm, _MATRICES),
    ("mm", torch.spmm, _MATRICES),
    ("bmm", torch.bmm, (rand(2, 3, 4), rand(2, 4, 5))),
    ("mv", torch.mv, (rand(3, 4), rand(4))),
    ("dot", torch.dot, (rand(4), rand(4))),
    ("dot", torch.vdot, (rand(4), rand(4))),
    ("inner", torch.inner, (rand(3, 4), rand(5, 4))),
    ("outer", torch.outer, (rand(3), rand(4))),
    ("outer", torch.ger, (rand(3), rand(4))),
    ("addmm", torch.addmm, (rand(5), *_MATRICES)),
    ("addmv", torch.addmv, (rand(3), rand(3, 4), rand(4))),
    ("addr", torch.addr, (rand(3, 4), rand(3), rand(4))),
    ("addbmm", torch.addbmm, (rand(3, 5), rand(2, 3, 4), rand(2, 4, 5))),
    ("baddbmm", torch.baddbmm, (rand(2, 3, 5), rand(2, 3, 4), rand(2, 4, 5))),
    ("linear", nn.Linear(4, 5), rand(3, 4)),
    ("linear", nn.Linear(4, 5, bias=False), rand(2, 3, 4)),
    ("bilinear", nn.Bilinear(3, 4, 5), (rand(2, 3), rand(2, 4))),
    ("bilinear", F.bilinear, (rand(2, 3), rand(2, 4), rand(5, 3, 4))),
    ("einsum", lambda a, b: torch.einsum("ij,jk->ik", a, b), _MATRICES),
    ("einsum", lambda a, b: torch.einsum("...j,jk", [a, b]), _MATRICES),
    ("mm", lambda a, b: _torch.tensordot(a, b, 1), _MATRICES),
    ("mm", lambda a, b: _torch.tensordot(a, b, ([0, 1], [2, 0])), (rand(3, 4), rand(4, 5, 3))),
    ("mm mm", torch.chain_matmul, (rand(2, 3), rand(3, 4), rand(4, 5))),
    ("mm mm", lambda *m: torch.linalg.multi_dot(m), (rand(3), rand(3, 4), rand(4))),
    ("mul", torch.kron, (rand(2, 3), rand(4, 5))),
    ("matmul matmul", lambda a: torch.linalg.matrix_power(a, 3), rand(3, 3)),
    ("_cdist_forward", torch.cdist, (rand(4, 3), rand(5, 3))),
    ("_cdist_forward", lambda a, b: torch.cdist(a, b, 1.0), (rand(2, 4, 3), rand(2, 5, 3))),
]
_QKV = (rand(2, 2, 3, 4),) * 3
_BATCH = rand(2, 3, 8)
_CAUSAL = nn.Transformer.generate_square_subsequent_mask(3)
ATTENTION: list[Spelling] = [
    ("scaled_dot_product_attention", F.scaled_dot_product_attention, _QKV),
    ("bmm bmm", SelfAttention(), _BATCH),
    ("bmm bmm", SelfAttention(average_attn_weights=False), _BATCH),
    ("scaled_dot_product_attention", SelfAttention(need_weights=False), _BATCH),
    ("scaled_dot_product_attention", SelfAttention(need_weights=False, attn_mask=_CAUSAL), _BATCH),
    (
        "scaled_dot_product_attention layer_norm layer_norm",
        nn.TransformerEncoderLayer(8, 2, 16, batch_first=True),
        _BATCH,
    ),
    (
        "scaled_dot_product_attention layer_norm layer_norm layer_norm gelu",
        nn.TransformerEncoder(
            nn.TransformerEncoderLayer(8, 2, 16, activation="gelu", norm_first=True),
            1,
            nn.LayerNorm(8),
            enable_nested_tensor=False,
        ),
        _BATCH,
    ),
    (
        "scaled_dot_product_attention scaled_dot_product_attention"
        " layer_norm layer_norm layer_norm",
        nn.TransformerDecoderLayer(8, 2, 16, batch_first=True),
        (_BATCH, rand(2, 5, 8)),
    ),
]
_LINE, _IMAGE, _VOLUME = rand(2, 4, 9), rand(2, 4, 7, 6), rand(1, 4, 4, 5, 4)
CONVOLUTIONS: list[Spelling] = [
    ("conv1d", nn.Conv1d(4, 6, 3), _LINE),
    ("conv1d.padding", nn.Conv1d(4, 6, 4, padding="same", bias=False), _LINE),
    ("conv2d", nn.Conv2d(4, 6, 3, stride=2, padding=1, groups=2), _IMAGE),
    ("conv2d", nn.Conv2d(4, 6, 3), _IMAGE[0]),
    ("conv2d.padding", nn.Conv2d(4, 6, (2, 3), padding="same", dilation=2), _IMAGE),
    ("conv2d", lambda x, w: F.conv2d(x, w, padding=(1, 0)), (_IMAGE, rand(3, 4, 3, 3))),
    ("conv3d", nn.Conv3d(4, 6, 2), _VOLUME),
    ("conv3d.padding", nn.Conv3d(4, 6, 2, padding="valid"), _VOLUME),
    ("conv_transpose1d", nn.ConvTranspose1d(4, 6, 3), _LINE),
    ("conv_transpose2d", nn.ConvTranspose2d(4, 6, 3, stride=2, output_padding=1), _IMAGE),
    ("conv_transpose3d", nn.ConvTranspose3d(4, 6, 2, stride=2), _VOLUME),
    (
        "convolution",
        lambda x, w: torch.convolution(x, w, None, [1], [1], [1], False, [0], 1),
        (_LINE, rand(6, 4, 3)),
    ),
]
_I64 = torch.arange(24).reshape(1, 4, 6)
POOLINGS: list[Spelling] = [
    ("max_pool1d", nn.MaxPool1d(2), _LINE),
    ("max_pool2d", nn.MaxPool2d(3, 2, 1, ceil_mode=True), _IMAGE),
    ("max_pool2d", lambda x: F.max_pool2d(x, (2, 3)), _I64),
    ("max_pool3d", nn.MaxPool3d(2), _VOLUME),
    ("max_pool1d_with_indices", nn.MaxPool1d(2, return_indices=True), _LINE),
    ("max_pool2d_with_indices", nn.MaxPool2d(2, return_indices=True), _IMAGE),
    ("max_pool3d_with_indices", nn.MaxPool3d(2, return_indices=True), _VOLUME),
    ("avg_pool1d", nn.AvgPool1d(3, 1, 1), _LINE),
    ("avg_pool2d", nn.AvgPool2d(3, 2, 1, count_include_pad=False), _IMAGE),
    ("avg_pool2d", lambda x: F.avg_pool2d(x, 2, divisor_override=3), _IMAGE),
    ("avg_pool3d", nn.AvgPool3d(2), _VOLUME),
    ("adaptive_avg_pool1d", nn.AdaptiveAvgPool1d(4), _LINE),
    ("adaptive_avg_pool2d", nn.AdaptiveAvgPool2d((3, None)), _IMAGE),
    ("adaptive_avg_pool2d", nn.AdaptiveAvgPool2d(1), _IMAGE),
    ("adaptive_avg_pool3d", nn.AdaptiveAvgPool3d(2), _VOLUME),
    ("adaptive_max_pool1d", nn.AdaptiveMaxPool1d(4), _LINE),
    ("adaptive_max_pool2d", nn.AdaptiveMaxPool2d(3, return_indices=True), _IMAGE),
    ("adaptive_max_pool3d", nn.AdaptiveMaxPool3d(2), _VOLUME),
    ("avg_pool2d", nn.LPPool2d(2, 3, stride=2), _IMAGE),
]


class AllOf(nn.Module):
    """Module that calls every spelling of a table, each with its own inputs."""

    def __init__(self, spellings: list[Spelling]):
        super().__init__()
        self.functions = [function for _, function, _ in spellings]
        self.kept = nn.ModuleList(f for f in self.functions if isinstance(f, nn.Module))

    def forward(self, inputs: Any) -> list[Any]:
        pairs = zip(self.functions, inputs, strict=True)
        return [f(*args) if isinstance(args, tuple) else f(args) for f, args in pairs]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("spellings", [CONTRACTIONS, ATTENTION, CONVOLUTIONS, POOLINGS])
def test_usual_spellings(spellings: list[Spelling]):
    module, inputs = AllOf(spellings).eval(), [args for _, _, args in spellings]
    with torch.no_grad():
        captured = capture(module, (inputs,))
        expected = _torch.utils._pytree.tree_leaves(module(inputs))
    ops = [
        op.name.removeprefix("torch.") for op in captured.module.walk() if isinstance(op, TorchOp)
    ]
    op_names = [op for names, _, _ in spellings for op in names.split()]
    counted = {*op_names}
    assert sorted(op for op in ops if op in counted) == sorted(op_names)

    DecomposePass().apply(Context(), captured.module)
    tensors = [leaf for leaf in expected if isinstance(leaf, torch.Tensor)]
    results = interpret(captured.module, *(array_of(i.tensor) for i in captured.inputs))
    for got, tensor in zip(results, tensors, strict=True):
        assert (got.dtype, got.shape) == (array_of(tensor).dtype, tuple(tensor.shape))
        np.testing.assert_allclose(got, array_of(tensor), rtol=1e-4, atol=1e-5)
