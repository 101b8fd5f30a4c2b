# SPDX-License-Identifier: Apache-2.0
"""
Sample of programs: each family of kernels at sizes with remainders, each dtype, and inputs with
other memory layouts than contiguous rows.

The programs are written in the form of `tilewright run -c`, so that a failure can be reproduced
there.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch

_INTEGERS = "x = torch.randint(-9, 9, (33, 65), dtype=torch.{0}); " + (
    "y = torch.randint(-9, 9, (65,), dtype=torch.{0}); (x + y, (x * y).sum(-1))"
)
_FLOATS = "x = torch.randn(33, 65, dtype=torch.{0}); y = torch.randn(65, dtype=torch.{0}); " + (
    "(x + y, (x * y).sum(-1))"
)
_QKV = "q = torch.randn({0}); k = torch.randn({1}); v = torch.randn({1}); "
_HALF_QKV = _QKV.replace(")", ", dtype=torch.bfloat16)")
_GATED = (
    "x = torch.randn(64, 96).bfloat16(); w = torch.randn(128, 96).bfloat16(); "
    "u = torch.randn(128, 96).bfloat16(); F.silu(x @ w.T) * (x @ u.T)"
)
_NORM = "nn.RMSNorm(192, elementwise_affine=False)(torch.randn(48, 192))"

PROGRAMS: Mapping[str, str] = {
    "pointwise": "x = torch.randn(1000, 33); y = torch.randn(33); "
    "F.gelu(x) * torch.exp(-y.abs()) + torch.sin(x)",
    "pointwise.long": "F.silu(torch.randn(1000003)) * 2",
    "sum.all": "torch.randn(1000003).sum()",
    "sum.columns": "torch.randn(5000, 9).sum(0)",
    "statistics": "x = torch.randn(197, 1000); (x.mean(-1), x.var(-1), x.argmax(-1), x.amin(-1))",
    "softmax.100": "torch.softmax(torch.randn(197, 100), -1)",
    "softmax.50257": "torch.log_softmax(torch.randn(7, 50257), -1)",
    # several blocks share a row
    "softmax.200003": "torch.softmax(torch.randn(3, 200003), -1)",
    "cross_entropy": "F.cross_entropy(torch.randn(37, 1000), torch.randint(0, 1000, (37,)))",
    "rms_norm.half": "nn.RMSNorm(2048, dtype=torch.bfloat16)(torch.randn(31, 2048).bfloat16())",
    "rms_norm": "nn.RMSNorm(2044)(torch.randn(31, 2044))",
    "layer_norm": "nn.LayerNorm(1000)(torch.randn(33, 1000))",
    "layer_norm.long": "F.layer_norm(torch.randn(5, 70000), (70000,))",
    "batch_norm": "nn.BatchNorm2d(6).eval()(torch.randn(3, 6, 15, 17))",
    "matmul.odd": "torch.randn(33, 130) @ torch.randn(130, 65)",
    "matmul.k1": "torch.randn(33, 1) @ torch.randn(1, 65)",
    "matmul.even": "torch.randn(256, 256) @ torch.randn(256, 128)",
    # uses the tensor memory accelerator with a swizzle, and deals rows out
    "matmul.boxes": "torch.randn(2, 256, 64) @ torch.randn(2, 256, 64).transpose(-1, -2)",
    # of several blocks per element, the last one adds up
    "matmul.deep": "torch.relu(torch.randn(32, 4096) @ torch.randn(4096, 96) + torch.randn(96))",
    "matmul.batched": "torch.randn(3, 2, 37, 41) @ torch.randn(3, 2, 41, 43)",
    # on tensor cores: by warps, by warpgroups (sm_90a), and in float32 by split factors
    "matmul.half": "torch.randn(33, 130).bfloat16() @ torch.randn(130, 65).bfloat16()",
    "matmul.warpgroups": "torch.randn(64, 256).half() @ torch.randn(256, 128).half()",
    "matmul.split": "torch.randn(256, 512) @ torch.randn(512, 256)",
    "matmul.rows": "torch.randn(1, 512).bfloat16() @ torch.randn(512, 1000).bfloat16()",
    "matmul.gated": _GATED,
    "linear": "nn.Linear(72, 40)(F.silu(nn.Linear(100, 72)(torch.randn(50, 100))))",
    "sdpa": _QKV.format("1, 4, 64, 64", "1, 4, 64, 64") + "F.scaled_dot_product_attention(q, k, v)",
    "sdpa.causal": _QKV.format("1, 2, 197, 40", "1, 2, 197, 40")
    + "F.scaled_dot_product_attention(q, k, v, is_causal=True)",
    "sdpa.half": _HALF_QKV.format("1, 4, 197, 64", "1, 4, 197, 64")
    + "F.scaled_dot_product_attention(q, k, v, is_causal=True)",
    # one query for each head; blocks of a cluster share the keys
    "sdpa.decode": _QKV.format("1, 8, 1, 64", "1, 2, 1500, 64")
    + "F.scaled_dot_product_attention(q, k, v, enable_gqa=True)",
    "sdpa.eager": _QKV.format("1, 2, 65, 40", "1, 2, 77, 40")
    + "torch.softmax(q @ k.transpose(-1, -2) / 6, -1) @ v",
    # some rows are masked completely
    "sdpa.masked": _QKV.format("1, 3, 65, 40", "1, 3, 65, 40")
    + "m = torch.ones(65, 65, dtype=torch.bool); "
    "F.scaled_dot_product_attention(q, k, v, m.tril(-3))",
    "conv2d": "nn.Conv2d(5, 7, 3, stride=2, padding=1)(torch.randn(2, 5, 17, 19))",
    # boxes of images, which begin before the first row and the first column
    "conv2d.boxes": "nn.Conv2d(32, 64, 3, padding=1)(torch.randn(2, 32, 28, 28))",
    "conv2d.half": "nn.Conv2d(24, 40, 3, padding=1, dtype=torch.bfloat16)"
    "(torch.randn(2, 24, 14, 14, dtype=torch.bfloat16))",
    "conv2d.lines": "nn.Conv2d(64, 96, 1)(torch.randn(4, 64, 7, 7))",
    "conv1d.groups": "nn.Conv1d(12, 18, 5, stride=2, padding=3, dilation=2, groups=3)"
    "(torch.randn(2, 12, 101))",
    "conv3d": "nn.Conv3d(4, 6, (3, 2, 3), padding=1)(torch.randn(2, 4, 7, 9, 8))",
    "conv_transpose2d": "nn.ConvTranspose2d(16, 24, 3, stride=2, padding=1, output_padding=1)"
    "(torch.randn(2, 16, 9, 11))",
    "max_pool": "F.max_pool2d(torch.randn(2, 5, 17, 19), 3, 2, 1)",
    "cumsum": "torch.cumsum(torch.randn(9, 300), 1)",
    "cumsum.long": "torch.cumsum(torch.randn(3, 40000), 1)",
    "cumsum.exclusive": "x = torch.randn(9, 300); "
    "torch.cat((torch.zeros(9, 1), torch.cumsum(x, 1)), 1)",
    "index_select": "torch.index_select(torch.randn(50, 24), 0, torch.randint(0, 50, (37,)))",
    "scatter_add": "i = torch.randint(0, 11, (37, 24)); "
    "torch.scatter_add(torch.zeros(50, 24), 0, i, torch.randn(37, 24))",
    "embedding": "nn.Embedding(50, 24)(torch.randint(0, 50, (7, 9)))",
    "transposed": "torch.randn(130, 257).T.contiguous()",
    "empty": "x = torch.randn(0, 3); (x.exp(), x.sum())",
    "scalar": "x = torch.randn(()); (x * 2, x.sum())",
    "bool": "x = torch.randn(33, 65); (x > 0, (x > 0).any(-1), (x > 0).sum(-1))",
    **{f"dtype.{name}": _FLOATS.format(name) for name in ("float16", "bfloat16", "float64")},
    **{f"dtype.{name}": _INTEGERS.format(name) for name in ("int8", "int32", "int64")},
    "dtype.uint8": "x = torch.randint(0, 200, (33, 65), dtype=torch.uint8); (x + x, x.sum(-1))",
    **{
        f"lies.{way}": _NORM
        for way in ("transposed", "strided", "unaligned", "expanded", "elsewhere")
    },
}
"""Programs by name."""


def unaligned(x: Any) -> Any:
    """Return a copy of the tensor that starts one element after an aligned address."""
    room = torch.empty(x.numel() + 1, dtype=x.dtype, device=x.device)
    room[1:] = x.reshape(-1)
    return room[1:].view(x.shape)


def _transposed(x: Any) -> Any:
    return x.T.contiguous().T


def _strided(x: Any) -> Any:
    return x.repeat_interleave(2, 1)[:, ::2]


def _expanded(x: Any) -> Any:
    return x[:1].expand(x.shape)


def _elsewhere(x: Any) -> Any:
    return x.cpu()


def _as_it_is(x: Any) -> Any:
    return x


_WAYS: Mapping[str, Callable[[Any], Any]] = {
    "lies.transposed": _transposed,
    "lies.strided": _strided,
    "lies.unaligned": unaligned,
    "lies.expanded": _expanded,
    "lies.elsewhere": _elsewhere,
}


def way_of(name: str) -> Callable[[Any], Any]:
    """
    Return the function that gives an input of the program its memory layout; the identity for most
    programs.
    """
    return _WAYS.get(name, _as_it_is)


def parsed(name: str) -> Any:
    """Return a program's `module` and `args`; its random values are the same in each call."""
    from tilewright.frontend.expression import parse_expression

    return parse_expression(PROGRAMS[name])
