# SPDX-License-Identifier: Apache-2.0
"""
Programs of KernelBench, level 1: 100 functions of inputs and weights, with their published times on
an H100 (`kernelbench_suite.py`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Shape = Sequence[int]


class Program(NamedTuple):
    """Program of KernelBench, with its inputs and published times."""

    op: str
    expression: str
    """Expression of the inputs t0, t1, ...; the weights come last."""
    data: Sequence[Shape]
    """Shapes of the inputs that `torch.rand` draws."""
    eager_ms: float
    compile_ms: float
    weights: Sequence[Shape] = ()
    """Shapes of the weights that `torch.randn` draws."""
    integers: Mapping[str, Any] = {}
    """Descriptions of those inputs of `data` that are integers, by name."""


_SQUARE = [4096, 4096]
_WIDE = [4096, 393216]
_IMAGES = [112, 64, 512, 512]
_BATCH = [64, 64, 512, 512]
_ROWS = [32768, 65535]
_COLUMNS = [128, 4096, 4095]
_TABLE = [32768, 32768]
_HEADS = [32, 32, 512, 1024]
_SQUARES = [16384, 16384]


def _matmul(expression: str, one: Shape, other: Shape, eager: float, compiled: float) -> Program:
    return Program("matmul", expression, [one, other], eager, compiled)


def _of(
    op: str, text: str, given: Shape, eager: float, compiled: float, *weights: Shape
) -> Program:
    return Program(op, text, [given], eager, compiled, weights)


def _wide(expression: str, eager: float, compiled: float) -> Program:
    return Program("pointwise", expression, [_WIDE], eager, compiled)


def _conv(
    rank: int, given: Shape, weight: Shape, eager: float, compiled: float, more: str = ""
) -> Program:
    text = f"F.conv{rank}d(t0, t1{more and ', '}{more})"
    return Program("conv", text, [given], eager, compiled, [weight])


def _transposed(
    rank: int, given: Shape, weight: Shape, eager: float, compiled: float, more: str = ""
) -> Program:
    text = f"F.conv_transpose{rank}d(t0, t1{more and ', '}{more})"
    return Program("conv_transpose", text, [given], eager, compiled, [weight])


PROGRAMS = (
    _matmul("t0 @ t1", _SQUARE, _SQUARE, 2.66, 2.67),
    _matmul("t0 @ t1", [2048, 8192], [8192, 4096], 2.61, 2.66),
    _matmul("torch.bmm(t0, t1)", [128, 512, 1024], [128, 1024, 2048], 5.33, 5.35),
    _matmul("t0 @ t1", [2048, 1048576], [1048576, 1], 2.77, 2.79),
    _of("pointwise", "t0 * 3.14", [65536, 16384], 2.85, 2.85),
    _matmul("t0 @ t1", [256, 524288], [524288, 256], 1.3, 1.38),
    _matmul("t0 @ t1", [32768, 64], [64, 32768], 4.06, 4.07),
    _matmul("t0 @ t1", [8205, 2949], [2949, 5921], 6.38, 6.43),
    _matmul("t0 @ t1", [32768, 32], [32, 32768], 2.59, 2.62),
    _matmul("t0 @ t1", [16, 1024, 2048], [2048, 768], 1.04, 1.05),
    _matmul("torch.einsum('bijl,lk->bijk', t0, t1)", [8, 256, 512, 256], [256, 768], 11.0, 10.9),
    _matmul("torch.diag(t0) @ t1", [4096], _SQUARE, 2.68, 2.69),
    _matmul("t0 @ t1", _SQUARE, _SQUARE, 2.66, 2.67),
    _matmul("torch.triu(t0 @ t1)", _SQUARE, _SQUARE, 2.7, 2.75),
    _matmul("torch.tril(t0 @ t1)", _SQUARE, _SQUARE, 2.69, 2.73),
    _matmul("t0.T @ t1", [8192, 2048], [8192, 4096], 2.62, 2.64),
    _matmul("t0 @ t1.T", [2048, 8192], [4096, 8192], 2.68, 2.71),
    _matmul("t0.T @ t1.T", [8192, 2048], [4096, 8192], 2.74, 2.79),
    _wide("torch.relu(t0)", 4.28, 4.35),
    _wide("F.leaky_relu(t0, 0.01)", 4.28, 4.28),
    _wide("torch.sigmoid(t0)", 4.32, 4.3),
    _wide("torch.tanh(t0)", 4.31, 4.33),
    _of("softmax", "torch.softmax(t0, 1)", _WIDE, 8.52, 6.55),
    _of("softmax", "torch.log_softmax(t0, 1)", _WIDE, 8.48, 6.68),
    _wide("t0 * torch.sigmoid(t0)", 10.5, 4.28),
    _wide("F.gelu(t0)", 4.3, 4.27),
    _wide("torch.selu(t0)", 4.3, 4.3),
    _wide("F.hardsigmoid(t0)", 4.34, 4.3),
    _wide("F.softplus(t0)", 4.31, 4.3),
    _wide("t0 / (1 + torch.abs(t0))", 14.8, 4.3),
    _wide("F.elu(t0)", 4.3, 4.38),
    _wide("F.hardtanh(t0)", 4.34, 4.29),
    _of(
        "norm",
        "F.batch_norm(t0, None, None, t1, t2, training=True)",
        _BATCH,
        8.77,
        4.38,
        [64],
        [64],
    ),
    _of("norm", "F.instance_norm(t0)", _IMAGES, 9.61, 7.6),
    _of("norm", "F.group_norm(t0, 8, t1, t2)", _IMAGES, 10.1, 8.22, [64], [64]),
    _of("norm", "t0 / torch.sqrt((t0**2).mean(1, True) + 1e-5)", _IMAGES, 14.2, 7.84),
    _of("norm", "t0 / torch.norm(t0, p='fro')", _IMAGES, 8.53, 7.45),
    _of("norm", "t0 / torch.mean(torch.abs(t0), dim=1, keepdim=True)", _ROWS, 15.6, 13.1),
    _of("norm", "t0 / torch.norm(t0, p=2, dim=1, keepdim=True)", _ROWS, 10.1, 13.1),
    _of(
        "norm",
        "F.layer_norm(t0, t1.shape, t1, t2)",
        [16, 64, 256, 256],
        8.12,
        0.46,
        [64, 256, 256],
        [64, 256, 256],
    ),
    _of("pool", "F.max_pool1d(t0, 8, 1, 4, 3)", [64, 192, 65536], 10.7, 2.85),
    _of("pool", "F.max_pool2d(t0, 4, 1, 1)", [32, 64, 512, 512], 10.8, 4.33),
    _of("pool", "F.max_pool3d(t0, 3, 2, 1, 3)", [16, 32, 128, 128, 128], 3.93, 5.65),
    _of("pool", "F.avg_pool1d(t0, 8, 1, 4)", [64, 128, 65536], 5.47, 3.13),
    _of("pool", "F.avg_pool2d(t0, 11)", [16, 64, 2048, 2048], 6.4, 6.34),
    _of("pool", "F.avg_pool3d(t0, 3, 2, 1)", [16, 32, 128, 128, 256], 8.69, 8.7),
    _of("reduce", "torch.sum(t0, dim=1, keepdim=True)", _COLUMNS, 3.11, 3.38),
    _of("reduce", "torch.mean(t0, dim=1)", _COLUMNS, 2.88, 3.57),
    _of("reduce", "torch.max(t0, dim=1)[0]", _COLUMNS, 3.14, 3.53),
    _of(
        "conv",
        "F.conv2d(t0, t1, t2, stride=4, padding=2)",
        [256, 3, 224, 224],
        2.2,
        1.74,
        [96, 3, 11, 11],
        [96],
    ),
    _of("reduce", "torch.argmax(t0, dim=1)", _COLUMNS, 3.14, 3.33),
    _of("reduce", "torch.argmin(t0, dim=1)", _COLUMNS, 3.24, 3.37),
    _of("reduce", "torch.min(t0, dim=1)[0]", _COLUMNS, 3.14, 3.34),
    _conv(3, [16, 3, 64, 64, 64], [64, 3, 3, 3, 3], 1.87, 1.86),
    _conv(2, [8, 64, 512, 1024], [128, 64, 3, 3], 4.12, 4.38),
    _conv(2, [8, 64, 512, 256], [128, 64, 5, 7], 2.93, 2.99),
    _transposed(2, [8, 64, 1024, 1024], [64, 64, 3, 3], 6.56, 6.47),
    _transposed(3, [16, 32, 16, 32, 64], [32, 16, 3, 5, 7], 7.66, 7.74),
    _conv(3, [16, 3, 256, 256, 10], [64, 3, 3, 3, 1], 2.84, 2.89),
    _conv(3, [16, 3, 64, 64, 64], [64, 3, 3, 5, 7], 7.64, 7.71),
    _transposed(3, [8, 48, 64, 64, 64], [48, 48, 3, 3, 3], 9.15, 9.08),
    _conv(2, [8, 32, 512, 512], [64, 32, 5, 9], 2.43, 2.46),
    _conv(2, [16, 16, 1024, 1024], [128, 16, 3, 3], 7.11, 12.7),
    _transposed(1, [64, 128, 65536], [128, 128, 3], 5.48, 5.33),
    _transposed(2, [8, 64, 512, 512], [64, 64, 3, 7], 2.62, 2.65),
    _conv(3, [8, 3, 16, 128, 128], [64, 3, 3, 5, 7], 3.78, 3.8),
    _conv(1, [32, 64, 131072], [128, 64, 3], 2.63, 2.65),
    _transposed(3, [16, 32, 64, 64, 64], [32, 64, 3, 5, 5], 36.8, 36.9),
    _transposed(2, [64, 64, 128, 256], [64, 128, 3, 5], 2.84, 2.83),
    _transposed(3, [8, 48, 96, 96, 96], [48, 24, 3, 3, 3], 29.3, 29.3),
    _transposed(2, [8, 32, 512, 1024], [32, 32, 3, 3], 1.58, 1.6),
    _transposed(
        3,
        [8, 32, 12, 24, 48],
        [32, 8, 3, 5, 7],
        2.82,
        2.82,
        "stride=2, padding=(1, 2, 3), output_padding=1, groups=4",
    ),
    _transposed(3, [4, 32, 32, 64, 128], [32, 32, 3, 3, 3], 2.09, 2.2, "stride=2, padding=1"),
    _transposed(1, [32, 32, 131072], [32, 64, 5], 2.1, 2.35, "dilation=3"),
    _transposed(
        2,
        [16, 32, 128, 256],
        [32, 16, 3, 5],
        6.66,
        6.75,
        "stride=(2, 3), padding=(1, 2), dilation=(2, 1), groups=4",
    ),
    _conv(1, [64, 64, 524280], [128, 64, 3], 12.2, 12.3, "stride=3, dilation=4"),
    _transposed(
        3, [16, 32, 16, 32, 32], [32, 64, 3, 3, 3], 1.96, 1.96, "stride=2, padding=1, dilation=2"
    ),
    _transposed(2, [8, 32, 512, 1024], [32, 32, 3, 7], 2.4, 2.36, "padding=(1, 3)"),
    _transposed(1, [16, 32, 131072], [32, 64, 3], 1.94, 1.91, "stride=2, padding=1, dilation=2"),
    _conv(2, [8, 32, 512, 512], [64, 32, 5, 9], 2.41, 2.68, "padding=(2, 4), dilation=(2, 3)"),
    _transposed(
        2, [16, 32, 64, 128], [32, 64, 3, 3], 1.84, 1.88, "stride=5, padding=1, dilation=2"
    ),
    _conv(2, [16, 64, 512, 512], [64, 1, 3, 3], 2.55, 2.48, "groups=64"),
    _conv(2, [64, 8, 512, 512], [8, 1, 3, 1], 1.53, 7.63, "groups=8"),
    _conv(2, [64, 128, 256, 512], [128, 1, 3, 3], 10.1, 9.83, "groups=128"),
    _conv(2, [32, 128, 128, 256], [128, 1, 3, 7], 2.27, 13.8, "groups=128"),
    _of(
        "conv",
        "F.conv2d(F.conv2d(t0, t1, padding=1, groups=64), t2)",
        [16, 64, 512, 512],
        3.91,
        4.18,
        [64, 1, 3, 3],
        [128, 64, 1, 1],
    ),
    _conv(2, [16, 64, 1024, 1024], [128, 64, 1, 1], 4.66, 13.3),
    _of(
        "pointwise",
        "0.5 * t0 * (1 + torch.tanh(0.7978845608028654 * (t0 + 0.044715 * torch.pow(t0, 3.0))))",
        [8192, 8192],
        1.65,
        0.214,
    ),
    _of("scan", "torch.cumsum(t0, 1)", _TABLE, 4.68, 4.7),
    _of("scan", "torch.cumprod(t0, 1)", _TABLE, 4.69, 4.66),
    _of("scan", "torch.cumsum(t0.flip(1), 1).flip(1)", _TABLE, 11.4, 7.45),
    _of(
        "scan",
        "torch.cat((torch.zeros_like(t0[:, :1]), torch.cumsum(t0[:, :-1], 1)), 1)",
        _TABLE,
        12.9,
        3.15,
    ),
    Program(
        "scan",
        "torch.cumsum(t0 * t1, 1)",
        [_TABLE, _TABLE],
        8.72,
        3.84,
        integers={"t1": {"integers": [0, 2], "dtype": "bool"}},
    ),
    Program("loss", "torch.mean((t0 - t1)**2)", [_TABLE, _TABLE], 8.4, 2.81),
    Program(
        "loss",
        "F.cross_entropy(t0, t1)",
        [[32768, 4096], [32768]],
        0.477,
        0.292,
        integers={"t1": {"integers": [0, 4096]}},
    ),
    Program("loss", "F.smooth_l1_loss(t0, t1)", [_TABLE, _TABLE], 5.66, 2.71),
    Program("attention", "F.scaled_dot_product_attention(t0, t1, t2)", [_HEADS] * 3, 8.45, 8.15),
    Program(
        "loss", "F.kl_div(torch.log(t0), t1, reduction='batchmean')", [_SQUARES] * 2, 3.86, 0.779
    ),
    Program("loss", "F.triplet_margin_loss(t0, t1, t2)", [[32768, 8192]] * 3, 4.27, 1.06),
    Program("loss", "torch.mean(torch.clamp(1 - t0 * t1, min=0))", [_TABLE, [32768]], 10.5, 1.38),
)
"""Programs in KernelBench's order: the first one is its number 1."""
