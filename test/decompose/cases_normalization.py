# SPDX-License-Identifier: Apache-2.0
"""What the ops that normalise along dimensions are called with."""

from math import inf, nan

from tilewright.dialects import torch as T

from .inputs import Cases, Classes, pytorch, rand, tensor

CASES: Cases = {
    T.SoftmaxOp: [
        (rand(4, 8), -1),
        (rand(2, 3, 5), 1),
        (rand(), 0),
        (rand(3, 1), 1),
        (rand(4, 0), 1),
        (rand(4, 8, scale=1e4), 0),
        (rand(4, 8), 1, {"dtype": pytorch.float32}),
        (tensor([[-inf, -inf], [-inf, 0.0], [inf, 0.0], [nan, 0.0], [200.0, 199.0]]), 1),
    ],
    T.RmsNormOp: [
        (rand(4, 8), [8]),
        (rand(4, 8, scale=1e-4), [8], rand(8)),
        (rand(2, 3, 5), [3, 5], rand(3, 5)),
        (rand(8), [8], None, 0.1),
        (rand(4, 1), [1]),
        (rand(3, 0), [0]),
        (tensor([[inf, 1.0]]), [2]),
    ],
    T.LayerNormOp: [
        (rand(4, 8), [8]),
        (rand(4, 8), [8], rand(8), rand(8)),
        (rand(4, 1), [1]),
        (rand(2, 3, 5), [3, 5], rand(3, 5), None, 0.1),
        (rand(4, 8, scale=1e-3), [8], None, rand(8)),
        (tensor([[1e4 + 1, 1e4 - 1, 1e4]]), [3]),
        (tensor([[nan, 1.0], [2.0, 2.0]]), [2]),
    ],
}

INEXACT: Classes = (
    T.SoftmaxOp,
    T.RmsNormOp,
    T.LayerNormOp,
)
