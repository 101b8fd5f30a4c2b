# SPDX-License-Identifier: Apache-2.0
"""
Building blocks of random graphs: PyTorch programs of a few ATen calls each.

Each takes `run`, which calls an overload; a small number that picks an axis, for example; and one
or two tensors. It need not check whether tensors fit: a call that PyTorch refuses is not drawn. No
program compares two floats that differ only by the order of a sum. A value that is zero except for
that has a number added.
"""

from collections.abc import Callable
from math import prod
from typing import Any

Tensor = Any
Run = Callable[..., Any]
"""
Function of an overload and its arguments, `run(overload, *args, **kwargs)`, that returns the
overload's result.
"""

Unary = Callable[[Run, int, Tensor], Tensor]
Binary = Callable[[Run, int, Tensor, Tensor], Tensor]


class _Aten:
    """Namespace `torch.ops.aten`; torch is imported at its first use."""

    def __getattr__(self, name: str) -> Any:
        import torch

        return getattr(torch.ops.aten, name)


aten: Any = _Aten()

_EDGE = 35 / 256
"""
Threshold that no simple program has as a result. It is a bfloat16, as are all numbers here that
PyTorch would round.
"""


def _as(name: str) -> Unary:
    """Return the conversion to the dtype of that name."""

    def convert(run: Run, n: int, x: Tensor) -> Tensor:
        import torch

        return run(aten._to_copy, x, dtype=getattr(torch, name))

    return convert


def _axis(x: Tensor, number: int) -> int:
    return number % x.dim()


def _ramp(run: Run, x: Tensor) -> Tensor:
    """Return positions along the last axis times a step that no difference of values equals."""
    positions = run(aten.arange, x.shape[-1], device="cpu")
    return run(aten.mul.Scalar, positions, 0.0271)


def _halves(run: Run, n: int, x: Tensor) -> Tensor:
    """Return a tensor with its two halves exchanged."""
    axis = _axis(x, n)
    size = x.shape[axis] // 2
    parts = run(aten.split_with_sizes, x, [size, x.shape[axis] - size], axis)
    return run(aten.cat, [parts[1], parts[0]], axis)


def _rms_norm(run: Run, n: int, x: Tensor) -> Tensor:
    squares = run(aten.mean.dim, run(aten.mul.Tensor, x, x), [_axis(x, n)], True)
    return run(aten.mul.Tensor, x, run(aten.rsqrt, run(aten.add.Scalar, squares, 0.125)))


def _layer_norm(run: Run, n: int, x: Tensor) -> Tensor:
    return run(aten.layer_norm, x, [x.shape[-1]], None, _ramp(run, x), 0.125)


def _variance(run: Run, n: int, x: Tensor) -> Tensor:
    found = run(aten.var.correction, x, [_axis(x, n)], correction=0, keepdim=n % 2 == 0)
    return run(aten.add.Scalar, found, 0.125)


def _deviation(run: Run, n: int, x: Tensor) -> Tensor:
    return run(aten.sqrt, _variance(run, n, x))


def _convolution(run: Run, n: int, x: Tensor) -> Tensor:
    """Return a convolution along the last one or two axes, with weights between -1 and 1."""
    dims, size = min(x.dim() - 1, 2), 1 + n
    shape = (3, x.shape[-dims - 1], *[size] * dims)
    count = shape[0] * shape[1] * size**dims
    steps = run(aten.mul.Scalar, run(aten.arange, count, device="cpu"), 0.71)
    weight = run(aten.reshape, run(aten.sin, steps), [*shape])
    overload = {1: aten.conv1d, 2: aten.conv2d}[dims]
    return run(overload, x, weight, None, [1 + n % 2] * dims, [n // 2] * dims)


def _transposed_convolution(run: Run, n: int, x: Tensor) -> Tensor:
    """Return a transposed convolution along the last axis, with weights between -1 and 1."""
    shape = (x.shape[-2], 2, 1 + n)
    steps = run(aten.mul.Scalar, run(aten.arange, prod(shape), device="cpu"), 0.71)
    weight = run(aten.reshape, run(aten.sin, steps), [*shape])
    return run(aten.conv_transpose1d, x, weight, None, [1 + n % 2], [n // 2])


def _resized(run: Run, n: int, x: Tensor) -> Tensor:
    if x.dim() == 4:
        sizes = [x.shape[2] + n, 3]
        return run(aten.upsample_bilinear2d, x, sizes, n % 2 == 0)
    return run(aten.upsample_nearest1d, x, [x.shape[2] + 2 * n])


def _both_extremes(run: Run, n: int, x: Tensor) -> Tensor:
    least, most = run(aten.aminmax, x, dim=_axis(x, n), keepdim=n < 2)
    return run(aten.sub.Tensor, most, least)


def _mean_of_windows(run: Run, n: int, x: Tensor) -> Tensor:
    overload = {2: aten.avg_pool1d, 3: aten.avg_pool1d, 4: aten.avg_pool2d}[x.dim()]
    dims = 2 if x.dim() == 4 else 1
    return run(overload, x, [2 + n % 2] * dims, [1 + n // 2] * dims, [n % 2] * dims)


def _largest_of_windows(run: Run, n: int, x: Tensor) -> Tensor:
    overload = {2: aten.max_pool1d, 3: aten.max_pool1d, 4: aten.max_pool2d}[x.dim()]
    dims = 2 if x.dim() == 4 else 1
    return run(overload, x, [2 + n % 2] * dims, [1 + n // 2] * dims, [n % 2] * dims)


def _position_of_largest(run: Run, n: int, x: Tensor) -> Tensor:
    return run(aten.argmax, run(aten.add.Tensor, x, _ramp(run, x)), -1, n % 2 == 0)


def _largest_and_position(run: Run, n: int, x: Tensor) -> Tensor:
    value, position = run(aten.max.dim, run(aten.add.Tensor, x, _ramp(run, x)), -1, True)
    return run(aten.add.Tensor, value, position)


def _product(run: Run, n: int, x: Tensor, y: Tensor) -> Tensor:
    return run(aten.mul.Scalar, run(aten.matmul, x, y), 0.5)


def _product_of_rows(run: Run, n: int, x: Tensor, y: Tensor) -> Tensor:
    return run(aten.matmul, x, run(aten.transpose.int, y, -1, -2))


def _gated(run: Run, n: int, x: Tensor, y: Tensor) -> Tensor:
    return run(aten.mul.Tensor, run(aten.silu, x), y)


def _attention(run: Run, n: int, x: Tensor, y: Tensor) -> Tensor:
    return run(aten.scaled_dot_product_attention, x, y, y, None, 0.0, n % 2 == 0)


def _quotient(run: Run, n: int, x: Tensor, y: Tensor) -> Tensor:
    return run(aten.div.Tensor, x, run(aten.add.Scalar, run(aten.abs, y), 1.0))


def _chosen(run: Run, n: int, x: Tensor, y: Tensor) -> Tensor:
    return run(aten.where.self, run(aten.gt.Scalar, x, _EDGE), x, y)


def _masked(run: Run, n: int, x: Tensor, mask: Tensor) -> Tensor:
    return run(aten.masked_fill.Scalar, x, mask, n - 1.5)


def _named_rows(run: Run, n: int, x: Tensor, at: Tensor) -> Tensor:
    return run(aten.embedding, x, run(aten.remainder.Scalar, at, x.shape[0]))


def _positions(run: Run, x: Tensor, at: Tensor) -> Tensor:
    """Return positions along the first axis of `x`, of the other sizes of `x`."""
    rows = run(aten.reshape, at, [-1, *[1] * (x.dim() - 1)])
    positions = run(aten.remainder.Scalar, rows, x.shape[0])
    return run(aten.expand, positions, [positions.shape[0], *x.shape[1:]])


def _gathered(run: Run, n: int, x: Tensor, at: Tensor) -> Tensor:
    return run(aten.gather, x, 0, _positions(run, x, at))


def _scattered(run: Run, n: int, x: Tensor, at: Tensor) -> Tensor:
    positions = _positions(run, x, at)
    return run(aten.scatter_add, x, 0, positions, run(aten.gather, x, 0, positions))


def _added_rows(run: Run, n: int, x: Tensor, at: Tensor) -> Tensor:
    positions = run(aten.remainder.Scalar, at, x.shape[0])
    return run(aten.index_add, x, 0, positions, run(aten.index_select, x, 0, positions))


def _selected(run: Run, n: int, x: Tensor, at: Tensor) -> Tensor:
    axis = _axis(x, n)
    return run(aten.index_select, x, axis, run(aten.remainder.Scalar, at, x.shape[axis]))


LAYOUT: dict[str, Unary] = {
    "transposed": lambda run, n, x: run(aten.transpose.int, x, _axis(x, n), -1),
    "permuted": lambda run, n, x: run(aten.permute, x, [*range(1, x.dim()), 0]),
    "flipped": lambda run, n, x: run(aten.flip, x, [_axis(x, n)]),
    "rolled": lambda run, n, x: run(aten.roll, x, [n + 1], [_axis(x, n)]),
    "front": lambda run, n, x: run(aten.slice.Tensor, x, _axis(x, n), 0, 2),
    "rest": lambda run, n, x: run(aten.slice.Tensor, x, _axis(x, n), 1, 99),
    "every second": lambda run, n, x: run(aten.slice.Tensor, x, _axis(x, n), n % 2, 99, 2),
    "last": lambda run, n, x: run(aten.select.int, x, _axis(x, n), -1),
    "halves exchanged": _halves,
    "flat": lambda run, n, x: run(aten.reshape, x, [-1]),
    "other shape": lambda run, n, x: run(aten.reshape, x, [x.shape[-1], -1]),
    "with an axis": lambda run, n, x: run(aten.unsqueeze, x, n % (x.dim() + 1)),
    "without ones": lambda run, n, x: run(aten.squeeze.dim, x, _axis(x, n)),
    "expanded": lambda run, n, x: run(aten.expand, x, [n + 1, *x.shape]),
    "repeated": lambda run, n, x: run(aten.repeat, x, [2] * x.dim()),
    "padded": lambda run, n, x: run(aten.constant_pad_nd, x, [1, n], 0),
    "lower triangle": lambda run, n, x: run(aten.tril, x, n - 1),
    "windows": lambda run, n, x: run(aten.unfold, x, _axis(x, n), 2, 1),
    "upper triangle": lambda run, n, x: run(aten.triu, x, n - 1),
    "diagonal": lambda run, n, x: run(aten.diagonal, x, n - 1, 0, -1),
    "each twice": lambda run, n, x: run(aten.repeat_interleave.self_int, x, 2, _axis(x, n)),
    "piece": lambda run, n, x: run(aten.unbind.int, x, _axis(x, n))[0],
}

POINTWISE: dict[str, Unary] = {
    "sin": lambda run, n, x: run(aten.sin, x),
    "tanh": lambda run, n, x: run(aten.tanh, x),
    "sigmoid": lambda run, n, x: run(aten.sigmoid, x),
    "gelu": lambda run, n, x: run(aten.gelu, x),
    "relu": lambda run, n, x: run(aten.relu, x),
    "decay": lambda run, n, x: run(aten.exp, run(aten.neg, run(aten.abs, x))),
    "scaled": lambda run, n, x: run(aten.mul.Scalar, x, n - 1.3),
    "clamped": lambda run, n, x: run(aten.clamp, x, -0.75, 0.875),
    "is large": lambda run, n, x: run(aten.gt.Scalar, x, _EDGE),
    "plus positions": lambda run, n, x: run(aten.add.Tensor, x, _ramp(run, x)),
    "remainder": lambda run, n, x: run(aten.remainder.Scalar, run(aten.mul.Tensor, x, x), 7),
    "not": lambda run, n, x: run(aten.logical_not, x),
    "exp": lambda run, n, x: run(aten.exp, run(aten.clamp, x, -8, 2)),
    "erf": lambda run, n, x: run(aten.erf, x),
    "silu": lambda run, n, x: run(aten.silu, x),
    "softplus": lambda run, n, x: run(aten.softplus, x),
    "cube": lambda run, n, x: run(aten.pow.Tensor_Scalar, x, 3),
    "elu": lambda run, n, x: run(aten.elu, x),
    "mish": lambda run, n, x: run(aten.mish, x),
    "hardswish": lambda run, n, x: run(aten.hardswish, x),
    "leaky relu": lambda run, n, x: run(aten.leaky_relu, x, 0.25),
    "logarithm": lambda run, n, x: run(aten.log1p, run(aten.abs, x)),
    "root": lambda run, n, x: run(aten.sqrt, run(aten.add.Scalar, run(aten.abs, x), 0.125)),
    "arctangent": lambda run, n, x: run(aten.atan, x),
    "bits": lambda run, n, x: run(aten.bitwise_and.Scalar, x, 6 + n),
    "other bits": lambda run, n, x: run(aten.bitwise_not, x),
    "third": lambda run, n, x: run(aten.floor_divide, run(aten.bitwise_not, x), 3),
    "as int32": lambda run, n, x: _as("int32")(run, n, run(aten.bitwise_not, x)),
    "as int8": lambda run, n, x: _as("int8")(run, n, run(aten.bitwise_and.Scalar, x, 31)),
    "as bfloat16": _as("bfloat16"),
    "as float16": _as("float16"),
    "as float32": _as("float32"),
}

REDUCING: dict[str, Unary] = {
    "mean": lambda run, n, x: run(aten.mean.dim, x, [_axis(x, n)], n < 2),
    "sum": lambda run, n, x: run(aten.sum.dim_IntList, x, [_axis(x, n)], n < 2),
    "total": lambda run, n, x: run(aten.mean.dim, x, [*range(x.dim())], True),
    "largest": lambda run, n, x: run(aten.amax, x, [_axis(x, n)], n < 2),
    "any": lambda run, n, x: run(aten.any.dim, x, _axis(x, n), n < 2),
    "variance": _variance,
    "softmax": lambda run, n, x: run(aten.softmax.int, x, -1),
    "softmax of columns": lambda run, n, x: run(aten.softmax.int, x, 0),
    "log of sums": lambda run, n, x: run(aten.logsumexp, x, [_axis(x, n)], n < 2),
    "rms norm": _rms_norm,
    "layer norm": _layer_norm,
    "norm": lambda run, n, x: run(aten.linalg_vector_norm, x, 2, [_axis(x, n)], n < 2),
    "product of all": lambda run, n, x: run(aten.prod.dim_int, x, _axis(x, n), n < 2),
    "all": lambda run, n, x: run(aten.all.dim, x, _axis(x, n), n < 2),
    "number of nonzeros": lambda run, n, x: run(aten.count_nonzero.dim_IntList, x, [_axis(x, n)]),
    "both extremes": _both_extremes,
    "log softmax": lambda run, n, x: run(aten.log_softmax.int, x, _axis(x, n)),
    "least": lambda run, n, x: run(aten.amin, x, [_axis(x, n)], n < 2),
    "deviation": _deviation,
    "group norm": lambda run, n, x: run(aten.group_norm, x, 1 + n % 2, None, None, 0.125),
    "sums so far": lambda run, n, x: run(aten.cumsum, x, _axis(x, n)),
    "products so far": lambda run, n, x: run(aten.cumprod, x, _axis(x, n)),
    "largest so far": lambda run, n, x: run(aten.cummax, x, _axis(x, n))[0],
    "log of sums so far": lambda run, n, x: run(aten.logcumsumexp, x, _axis(x, n)),
    "position of largest": _position_of_largest,
    "largest and position": _largest_and_position,
}

WINDOWED: dict[str, Unary] = {
    "convolution": _convolution,
    "transposed convolution": _transposed_convolution,
    "resized": _resized,
    "gated halves": lambda run, n, x: run(aten.glu, x, _axis(x, n)),
    "means of parts": lambda run, n, x: run(aten.adaptive_avg_pool1d, x, [1 + n]),
    "mean of windows": _mean_of_windows,
    "largest of windows": _largest_of_windows,
}

BINARY: dict[str, Binary] = {
    "add": lambda run, n, x, y: run(aten.add.Tensor, x, y),
    "sub": lambda run, n, x, y: run(aten.sub.Tensor, x, y),
    "mul": lambda run, n, x, y: run(aten.mul.Tensor, x, y),
    "quotient": _quotient,
    "maximum": lambda run, n, x, y: run(aten.maximum, x, y),
    "and": lambda run, n, x, y: run(aten.logical_and, x, y),
    "chosen": _chosen,
    "masked": _masked,
    "gated": _gated,
    "joined": lambda run, n, x, y: run(aten.cat, [x, y], _axis(x, n)),
    "joined three": lambda run, n, x, y: run(aten.cat, [y, x, y], _axis(x, n)),
    "stacked": lambda run, n, x, y: run(aten.stack, [x, y], n % (x.dim() + 1)),
    "named rows": _named_rows,
    "selected": _selected,
    "added rows": _added_rows,
    "length": lambda run, n, x, y: run(aten.hypot, x, y),
    "between": lambda run, n, x, y: run(aten.lerp.Scalar, x, y, 0.375),
    "plus product": lambda run, n, x, y: run(aten.addcmul, x, y, x, value=0.5),
    "mean square": lambda run, n, x, y: run(aten.reshape, run(aten.mse_loss, x, y), [1]),
    "gathered": _gathered,
    "scattered": _scattered,
    "outer": lambda run, n, x, y: run(aten.outer, x, y),
    "smaller": lambda run, n, x, y: run(aten.minimum, x, y),
}

PRODUCTS: dict[str, Binary] = {
    "product": _product,
    "product of rows": _product_of_rows,
    "linear": lambda run, n, x, y: run(aten.linear, x, y),
    "attention": _attention,
}

OPS: dict[str, Callable[..., Tensor]] = {
    **{**LAYOUT, **POINTWISE, **REDUCING},
    **{**WINDOWED, **BINARY, **PRODUCTS},
}
