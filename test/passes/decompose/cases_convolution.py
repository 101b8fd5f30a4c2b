# SPDX-License-Identifier: Apache-2.0
"""Arguments for calls of convolutions."""

from typing import Any

from tilewright.dialects import torch as T

from .cases_contraction import DTYPES, of
from .inputs import Cases, Classes, pytorch, rand


def conv(*shapes: tuple[int, ...], **keywords: Any) -> tuple[Any, ...]:
    """Return an input, a weight, perhaps a bias, and keyword arguments."""
    return (*(rand(*shape) for shape in shapes), keywords)


_TRANSPOSED_DTYPES = (pytorch.float16, pytorch.bfloat16, pytorch.float64, pytorch.int64)

CASES: Cases = {
    T.Conv1dOp: [
        conv((2, 4, 9), (6, 4, 3)),
        conv((2, 4, 9), (6, 4, 3), (6,)),
        conv((4, 9), (6, 4, 3), (6,)),
        conv((2, 4, 9), (6, 4, 1)),
        conv((2, 4, 9), (6, 4, 1), stride=[3]),
        conv((2, 4, 9), (6, 4, 3), stride=[2], padding=[1]),
        conv((2, 4, 9), (6, 4, 3), (6,), padding=[3], dilation=[2]),
        conv((2, 4, 9), (6, 2, 3), (6,), groups=2),
        conv((2, 4, 9), (4, 1, 3), groups=4),
        conv((2, 4, 9), (8, 1, 3), groups=4, padding=[1]),
        conv((2, 4, 2), (6, 4, 5), padding=[2]),
        conv((1, 1, 1), (1, 1, 1)),
        conv((1, 1, 5), (1, 1, 3), padding=[1]),
        conv((0, 4, 9), (6, 4, 3)),
        *((*of(dtype, (2, 4, 9), (6, 4, 3), (6,)), {"padding": [1]}) for dtype in DTYPES),
    ],
    T.Conv2dOp: [
        conv((2, 4, 7, 8), (6, 4, 3, 2)),
        conv((2, 4, 7, 8), (6, 4, 3, 2), (6,), stride=[2, 1], padding=[1, 0]),
        conv((4, 7, 8), (6, 4, 3, 3), (6,), stride=[2, 3], padding=[1, 2], dilation=[1, 2]),
        conv((2, 4, 5, 6), (6, 4, 1, 1), (6,)),
        conv((2, 4, 5, 6), (6, 4, 1, 1), stride=[2]),
        conv((2, 4, 5, 6), (6, 4, 1, 1), padding=[1]),
        conv((2, 4, 5, 6), (6, 4, 1, 3), padding=[0, 1]),
        conv((2, 6, 5, 6), (6, 1, 3, 3), (6,), groups=6, padding=[1, 1]),
        conv((2, 6, 5, 6), (4, 3, 3, 3), (4,), groups=2, stride=[2, 2], padding=[1, 1]),
        conv((2, 4, 2, 2), (3, 4, 5, 5), padding=[2, 2]),
        conv((2, 4, 2, 2), (3, 4, 3, 3), padding=[5, 4], dilation=[2, 2]),
        conv((1, 3, 16, 16), (8, 3, 4, 4), (8,), stride=[4, 4]),
        conv((0, 4, 5, 6), (6, 4, 1, 1)),
        *((*of(dtype, (1, 4, 5, 4), (2, 4, 3, 3)), {"stride": [2, 1]}) for dtype in DTYPES),
    ],
    T.Conv3dOp: [
        conv((1, 2, 4, 5, 3), (3, 2, 2, 3, 2), (3,)),
        conv((1, 2, 4, 5, 3), (3, 2, 1, 1, 1)),
        conv((2, 4, 5, 3), (2, 1, 3, 3, 3), groups=2, stride=[2, 1, 1], padding=[1, 1, 1]),
        conv((1, 2, 4, 5, 3), (3, 2, 2, 2, 2), padding=[1], dilation=[1, 2, 1]),
        *((*of(dtype, (1, 2, 3, 3, 3), (2, 2, 2, 2, 2)),) for dtype in DTYPES),
    ],
    T.Conv1dPaddingOp: [
        conv((2, 4, 9), (6, 4, 3), (6,)),
        conv((2, 4, 9), (6, 4, 3), padding="same"),
        conv((4, 9), (6, 4, 4), padding="same", dilation=[2]),
        conv((2, 4, 9), (6, 2, 4), padding="valid", stride=[2], groups=2),
    ],
    T.Conv2dPaddingOp: [
        conv((2, 4, 6, 5), (6, 4, 3, 2), (6,), padding="same"),
        conv((2, 4, 6, 5), (6, 4, 1, 4), padding="same", dilation=[3, 2]),
        conv((2, 4, 6, 5), (4, 1, 3, 3), padding="same", groups=4),
        conv((2, 4, 6, 5), (6, 4, 3, 2), stride=[2, 1]),
    ],
    T.Conv3dPaddingOp: [
        conv((1, 2, 4, 5, 3), (3, 2, 2, 3, 2), (3,), padding="same"),
        conv((1, 2, 4, 5, 3), (3, 2, 2, 3, 2), padding="valid"),
    ],
    T.ConvTranspose1dOp: [
        conv((2, 4, 5), (4, 3, 3)),
        conv((2, 4, 5), (4, 3, 3), (3,), stride=[2]),
        conv((4, 5), (4, 3, 3), (3,), stride=[2], padding=[1], output_padding=[1]),
        conv((2, 4, 5), (4, 3, 3), stride=[3], padding=[2], dilation=[2]),
        conv((2, 4, 5), (4, 3, 3), (6,), stride=[2], groups=2),
        conv((2, 4, 5), (4, 1, 3), stride=[2], groups=4),
        conv((2, 4, 5), (4, 3, 1)),
        conv((2, 4, 5), (4, 3, 2), stride=[4], output_padding=[3]),
        conv((2, 4, 5), (4, 3, 3), stride=[2], dilation=[3], output_padding=[2]),
        conv((0, 4, 5), (4, 3, 3)),
        *((*of(dtype, (2, 4, 5), (4, 3, 3)), {"stride": [2]}) for dtype in _TRANSPOSED_DTYPES),
    ],
    T.ConvTranspose2dOp: [
        conv((2, 4, 3, 4), (4, 3, 3, 2), (3,)),
        conv((2, 4, 3, 4), (4, 3, 2, 2), stride=[2, 2]),
        conv((4, 3, 4), (4, 3, 3, 3), stride=[2], padding=[1], output_padding=[1]),
        conv((2, 4, 3, 4), (4, 3, 3, 3), (6,), stride=[2, 3], padding=[1, 0], groups=2),
        conv((2, 4, 3, 4), (4, 3, 3, 3), dilation=[2, 1]),
        conv((2, 4, 3, 4), (4, 3, 1, 1)),
    ],
    T.ConvTranspose3dOp: [
        conv((1, 2, 2, 3, 2), (2, 3, 2, 2, 2), (3,), stride=[2, 1, 2]),
        conv((2, 2, 3, 2), (2, 3, 3, 2, 2), padding=[1, 0, 1]),
    ],
    T.ConvolutionOp: [
        (rand(2, 4, 9), rand(6, 4, 3), None, [1], [0], [1], False, [0], 1),
        (rand(2, 4, 9), rand(6, 2, 3), rand(6), [2], [1], [1], False, [0], 2),
        (rand(2, 4, 5, 6), rand(6, 4, 3, 2), rand(6), [1, 2], [1, 0], [1, 1], False, [0, 0], 1),
        (rand(2, 4, 5, 6), rand(6, 4, 3, 2), None, [1], [1], [1], False, [0], 1),
        # A convolution that is not transposed ignores output_padding.
        (rand(2, 4, 5, 6), rand(6, 4, 3, 2), None, [1, 1], [1, 0], [1, 1], False, [1, 1], 1),
        (rand(1, 2, 4, 5, 3), rand(3, 2, 2, 3, 2), None, [1] * 3, [0] * 3, [1] * 3, False, [0], 1),
        (rand(2, 4, 5), rand(4, 3, 3), rand(3), [2], [1], [1], True, [1], 1),
        (rand(2, 4, 3, 4), rand(4, 3, 3, 2), rand(6), [2, 1], [1, 0], [1, 2], True, [1, 0], 2),
    ],
}

INEXACT: Classes = tuple(CASES)
