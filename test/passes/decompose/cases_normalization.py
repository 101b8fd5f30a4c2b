# SPDX-License-Identifier: Apache-2.0
"""Arguments for calls of ops that normalise along dimensions."""

from math import inf, nan
from typing import Any

from tilewright.dialects import torch as T

from .cases_reduction import FLOATS, bf16, bool_, f16, f32, f64, i64, small, ui8
from .inputs import Cases, Classes, rand, tensor

_SOFTMAX: list[tuple[Any, ...]] = [
    (rand(4, 8), -1),
    (rand(2, 3, 5), 1),
    (rand(), 0),
    (rand(3, 1), 1),
    (rand(4, 0), 1),
    (rand(4, 8, scale=1e4), 0),
    (tensor([[-inf, -inf], [-inf, 0.0], [inf, 0.0], [nan, 0.0], [200.0, 199.0]]), 1),
    *((small(dtype), 1) for dtype in FLOATS),
]
# log_softmax of half types rounds twice along the last dimension on a CPU: 0 replaces it here.
_LOG_SOFTMAX = [*_SOFTMAX[:-3], *((small(dtype), 0) for dtype in FLOATS)]
_DTYPES: list[tuple[Any, ...]] = [
    (rand(4, 8), 1, {"dtype": f64}),
    (rand(4, 8).to(f16), 1, {"dtype": f32}),
    (small(i64), 0, {"dtype": f16}),
    (small(ui8), 1, {"dtype": f32}),
    (small(bool_), 1, {"dtype": f64}),
]
_CORE = [(*case, False) for case in _SOFTMAX]

_TAIL: list[tuple[Any, ...]] = [
    (rand(4, 8), [8]),
    (rand(4, 1), [1]),
    (rand(2, 3, 5), [3, 5], rand(3, 5)),
    (rand(8), [8]),
    (rand(3, 0), [0]),
    (rand(0, 3), [3]),
    (rand(4, 8).to(f16), [8], rand(8).to(f16)),
    (rand(4, 8).to(bf16), [8], rand(8)),
    (rand(4, 8).to(f64), [8], rand(8).to(f64)),
]
"""Arguments of a normalisation of the last dimensions, with weight, except eps."""

_BIASED: list[tuple[Any, ...]] = [
    *((*case, None, None)[:4] for case in _TAIL),
    (rand(4, 8), [8], rand(8), rand(8)),
    (rand(4, 8, scale=1e-3), [8], None, rand(8)),
    (rand(4, 8).to(f16), [8], rand(8), rand(8)),
    (tensor([[1e4 + 1, 1e4 - 1, 1e4]]), [3], None, None),
    (tensor([[nan, 1.0], [2.0, 2.0]]), [2], None, None),
]

_RMS: list[tuple[Any, ...]] = [
    *_TAIL,
    (rand(4, 8, scale=1e-4), [8], rand(8)),
    (rand(4, 8, scale=1e-4).to(f16), [8]),
    (rand(4, 8, scale=1e-8).to(f64), [8]),
    (rand(8), [8], None, 0.1),
    (rand(4, 8), [8], rand(8).to(f64)),
    (rand(4, 8), [8], rand(8).to(f16), 1e-3),
    (tensor([[inf, 1.0]]), [2]),
]

_GROUPS: list[tuple[Any, ...]] = [
    (rand(2, 4, 3, 5), 2),
    (rand(2, 4, 3, 5), 4, rand(4), rand(4)),
    (rand(2, 6, 5), 3, rand(6), None, 0.1),
    (rand(2, 6, 5), 1, None, rand(6)),
    (rand(2, 4), 2, rand(4)),
    (rand(1, 4, 1, 1), 4),
    (rand(2, 4, 0), 2),
    (rand(0, 4, 3), 2, rand(4)),
    (rand(2, 4, 5).to(f16), 2, rand(4).to(f16), rand(4).to(f16)),
    (rand(2, 4, 5).to(bf16), 2, rand(4), rand(4)),
    (rand(2, 4, 5).to(f64), 2, rand(4).to(f64)),
    (rand(2, 4, 50).to(f64) + 1e3, 2),
]


def _native(
    input: Any, groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5
) -> tuple[Any, ...]:
    """Return the arguments of `group_norm` as those of `native_group_norm`."""
    sizes = input.shape[0], input.shape[1], input.shape[2:].numel()
    return input, weight, bias, *sizes, groups, eps


def _running(channels: int, dtype: Any = f32) -> tuple[Any, Any]:
    """Return a mean and a variance for each channel."""
    return rand(channels).to(dtype), rand(channels).abs().to(dtype)


_RUNNING: list[tuple[Any, ...]] = [
    (rand(2, 4, 3, 5), rand(4), rand(4), *_running(4)),
    (rand(2, 4, 3), None, rand(4), *_running(4)),
    (rand(2, 4, 3), rand(4), None, *_running(4)),
    (rand(1, 1, 2, 2, 2), None, None, *_running(1)),
    (rand(0, 4, 3), None, None, *_running(4)),
    (rand(2, 4, 3).to(f16), rand(4).to(f16), rand(4).to(f16), *_running(4, f16)),
    (rand(2, 4, 3).to(bf16), rand(4), rand(4), *_running(4)),
    (rand(2, 4, 3).to(f64), rand(4).to(f64), None, *_running(4, f64)),
]
# Without statistics of half types, which a CPU rounds before it applies them.
_OWN: list[tuple[Any, ...]] = [
    (rand(2, 4, 3, 5), rand(4), rand(4)),
    (rand(2, 4, 8), None, rand(4)),
    (rand(2, 4, 8), rand(4), None),
    (rand(2, 3, 2, 2, 2), None, None),
    (rand(2, 4, 8).to(f64), rand(4).to(f64), None),
    (rand(2, 4, 50).to(f64) + 1e3, None, None),
]

CASES: Cases = {
    T.SoftmaxOp: [*_SOFTMAX, *_DTYPES],
    T.SoftmaxCoreOp: _CORE,
    T.SafeSoftmaxOp: [
        *_SOFTMAX,
        *_DTYPES,
        (tensor(-inf), 0),
        (tensor([-inf, -1e30]), 0, {"dtype": f16}),
        (tensor([-inf, -inf]), 0, {"dtype": f16}),
        (tensor([-inf, -inf]).to(f16), 0),
    ],
    T.LogSoftmaxOp: [*_LOG_SOFTMAX, *_DTYPES],
    T.LogSoftmaxCoreOp: [(*case, False) for case in _LOG_SOFTMAX],
    T.RmsNormOp: _RMS,
    T.FusedRmsNormOp: [(*case, None, None)[:4] for case in _RMS],
    T.LayerNormOp: [*_BIASED, (rand(2, 8), [8], None, None, 0.1, False)],
    T.NativeLayerNormOp: [*((*case, 1e-5) for case in _BIASED), (rand(2, 8), [8], None, None, 0.1)],
    T.GroupNormOp: [*_GROUPS, (rand(2, 4, 3), 2, None, None, 1e-5, False)],
    T.NativeGroupNormOp: [_native(*case) for case in _GROUPS],
    T.InstanceNormOp: [
        *((*case, False, 0.1, 1e-5, False) for case in _RUNNING),
        *((*case, None, None, True, 0.1, 1e-5, False) for case in _OWN),
        (rand(2, 4, 8), None, None, None, None, True, 0.0, 0.1, True),
        (rand(2, 3, 0), None, None, None, None, True, 0.1, 1e-5, False),
    ],
    T.BatchNormOp: [
        *((*case, 0.1, 1e-5) for case in _RUNNING),
        (rand(2, 4), None, None, *_running(4), 0.5, 0.1),
    ],
    T.BatchNormNoStatsOp: [
        *((*case, True, 0.1, 1e-5) for case in _OWN),
        (rand(5, 4), None, None, True, 0.5, 0.1),
    ],
}

INEXACT: Classes = (T.SoftmaxLikeOp, T.NormOp)
