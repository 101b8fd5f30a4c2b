# SPDX-License-Identifier: Apache-2.0
"""Arguments for calls of poolings."""

from collections.abc import Callable
from math import inf, nan
from typing import Any

from tilewright.dialects import torch as T
from tilewright.dialects.torch.op import TorchOp

from .cases_contraction import DTYPES
from .inputs import Cases, Classes, pytorch, rand, tensor

FLOATS = (pytorch.float16, pytorch.bfloat16, pytorch.float64)


def of_dtypes(dtypes: Any, *shape: int) -> list[Any]:
    """Return whole numbers of several dtypes, some of them equal."""
    return [(rand(*shape, scale=9.0).abs() + 1).to(dtype) for dtype in dtypes]


def max_cases(dims: int) -> list[tuple[Any, ...]]:
    """Return windows along `dims` dimensions, with simple windows in all but the last."""
    shape, ones, zeros = (2,) * (dims - 1), [1] * (dims - 1), [0] * (dims - 1)
    return [
        (rand(2, 2, *shape, 9), [*ones, 2]),
        (rand(2, *shape, 9), [2]),
        (rand(2, 2, *shape, 9), [*ones, 3], [*ones, 2]),
        (rand(2, 2, *shape, 9), [*ones, 3], [*ones, 2], [*zeros, 1]),
        (rand(2, 2, *shape, 9), [*ones, 3], [*ones, 1], [*zeros, 1], [*ones, 2]),
        (rand(2, 2, *shape, 9), [*ones, 2], [], [0], [1], True),
        (rand(2, 2, *shape, 9), [*ones, 4], [*ones, 3], [*zeros, 2], [1], True),
        (rand(2, 2, *shape, 10), [*ones, 3], [*ones, 3], [*zeros, 1], [*ones, 2], True),
        (rand(2, 2, *shape, 5), [*ones, 1], [*ones, 2]),
        (rand(2, 2, *shape, 5), [*shape, 5]),
        (tensor([-inf, -inf, nan, 1.0, inf, -0.0, 0.0]).expand(1, 1, *ones, 7), [*ones, 2]),
        (tensor([-inf] * 4).expand(1, 1, *ones, 4), [*ones, 2], [*ones, 2], [*zeros, 1]),
        (rand(0, 3, *shape, 9), [*ones, 2]),
    ]


def max_dtypes(dims: int) -> list[tuple[Any, ...]]:
    """Return windows on tensors of other dtypes."""
    shape, padding = (2,) * (dims - 1), [0] * (dims - 1) + [1]
    return [(t, [2], [1], padding) for t in of_dtypes(DTYPES, 1, 2, *shape, 5)]


def indexed_cases(dims: int) -> list[tuple[Any, ...]]:
    """Return windows with several equal elements, and with several NaN."""
    nans = tensor([[1.0, nan, 2.0, nan], [nan, 0.0, 5.0, 5.0], [5.0, 5.0, nan, 1.0]])
    planes = nans.reshape(1, 12) if dims == 1 else nans.expand(1, *(2,) * (dims - 2), 3, 4)
    return [(planes, [2], [1]), (pytorch.ones(2, *(4,) * dims), [3], [2], [1])]


def adaptive_indexed_cases(dims: int) -> list[tuple[Any, ...]]:
    """Return cases with equal elements for adaptive windows."""
    return [(args[0], [2] * dims) for args in indexed_cases(dims)]


def avg_cases(dims: int) -> list[tuple[Any, ...]]:
    """Return windows along `dims` dimensions, with simple windows in all but the last."""
    shape, ones, zeros = (2,) * (dims - 1), [1] * (dims - 1), [0] * (dims - 1)
    return [
        (rand(2, 2, *shape, 9), [*ones, 2]),
        (rand(2, *shape, 9), [2]),
        (rand(2, 2, *shape, 9), [*ones, 3], [*ones, 2]),
        (rand(2, 2, *shape, 5), [*shape, 5]),
        *(
            (rand(2, 2, *shape, size), [*ones, steps], stride, [*zeros, padding], ceil, counted)
            for size, steps, stride, padding in ((9, 2, [], 0), (9, 3, [2], 1), (10, 4, [3], 2))
            for ceil in (False, True)
            for counted in (False, True)
        ),
        (tensor([-inf, inf, nan, 1.0, inf, 2.0]).expand(1, 1, *ones, 6), [*ones, 2]),
        (rand(0, 3, *shape, 9), [*ones, 2]),
        (-of_dtypes((pytorch.int64,), 2, 3, *shape, 7)[0], [2], [1], [1], False, False),
        *((t, [2]) for t in of_dtypes(FLOATS[2 * (dims == 3) :], 2, 3, *shape, 7)),
    ]


def overridden_cases(dims: int) -> list[tuple[Any, ...]]:
    """Return cases with a divisor that replaces the number of elements."""
    return [
        (rand(2, 3, *(5,) * dims), [2], [1], [1], ceil, counted, divisor)
        for ceil in (False, True)
        for counted in (False, True)
        for divisor in (3, -2)
    ]


def adaptive_cases(dims: int, dtypes: Any) -> list[tuple[Any, ...]]:
    """Return sizes that divide evenly, unevenly, and into more windows than there are elements."""
    shape, ones = (2,) * (dims - 1), [1] * (dims - 1)
    return [
        (rand(2, 2, *shape, 8), [*ones, 4]),
        (rand(2, 2, *shape, 8), [*ones, 3]),
        (rand(3, *shape, 8), [*shape, 5]),
        (rand(3, *shape, 2), [2 * n for n in (*shape, 3)]),
        (rand(2, 2, *shape, 8), [*ones, 1]),
        (rand(2, 2, *shape, 8), [*shape, 8]),
        (rand(2, 2, *shape, 8), [0] * dims),
        (rand(0, 3, *shape, 8), [2] * dims),
        (tensor([-inf, inf, nan, 1.0, -inf]).expand(1, 1, *ones, 5), [*ones, 3]),
        *((t, [2] * dims) for t in of_dtypes(dtypes, 1, 2, *shape, 5)),
    ]


def _for_dims(
    ops: tuple[type[TorchOp], ...], cases: Callable[[int], list[tuple[Any, ...]]]
) -> Cases:
    return {op: cases(dims) for dims, op in enumerate(ops, start=1)}


CASES: Cases = {
    **_for_dims(
        (T.MaxPool1dOp, T.MaxPool2dOp, T.MaxPool3dOp),
        # PyTorch's max_pool1d takes floats only.
        lambda dims: max_cases(dims) + max_dtypes(dims)[: 3 if dims == 1 else None],
    ),
    **_for_dims(
        (T.MaxPool1dWithIndicesOp, T.MaxPool2dWithIndicesOp, T.MaxPool3dWithIndicesOp),
        lambda dims: max_cases(dims) + max_dtypes(dims) + indexed_cases(dims),
    ),
    T.AvgPool1dOp: avg_cases(1),
    T.AvgPool2dOp: avg_cases(2) + overridden_cases(2),
    T.AvgPool3dOp: avg_cases(3) + overridden_cases(3),
    **_for_dims(
        (T.AdaptiveAvgPool1dOp, T.AdaptiveAvgPool2dOp, T.AdaptiveAvgPool3dOp),
        lambda dims: adaptive_cases(dims, FLOATS),
    ),
    **_for_dims(
        (T.AdaptiveMaxPool1dOp, T.AdaptiveMaxPool2dOp, T.AdaptiveMaxPool3dOp),
        lambda dims: adaptive_cases(dims, FLOATS) + adaptive_indexed_cases(dims),
    ),
}

CASES[T.CoreAdaptiveAvgPool2dOp] = CASES[T.AdaptiveAvgPool2dOp]
CASES[T.CoreAdaptiveAvgPool3dOp] = CASES[T.AdaptiveAvgPool3dOp]

INEXACT: Classes = (T.AvgPoolOp, T.AdaptiveAvgPoolOp)
