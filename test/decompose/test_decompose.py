# SPDX-License-Identifier: Apache-2.0
"""Every Torch op, with every argument it takes, against PyTorch's own operator."""

from math import inf, nan
from typing import Any

import pytest

from tilewright.dialects import torch
from tilewright.dialects.torch_op import TorchOp
from tilewright.passes.decompose.decompose import PATTERNS

pytorch: Any = pytest.importorskip("torch")
_random = pytorch.Generator().manual_seed(0)


def rand(*shape: int, scale: float = 1.0) -> Any:
    """Normally distributed elements."""
    return pytorch.randn(shape, generator=_random) * scale


def split(case: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments."""
    has_keywords = isinstance(case[-1], dict)
    return (case[:-1], case[-1]) if has_keywords else (case, {})


def tensor(elements: Any) -> Any:
    """Just these elements."""
    return pytorch.tensor(elements, dtype=pytorch.float32)


SPECIAL = tensor(
    [-inf, -1e4, -100.0, -8.0, -2.0, -0.5, -1e-30, -0.0, 0.0, 1e-30, 0.5, 2.0, 90.0, inf, nan]
)
# PyTorch's vectorised erf gives NaN for inf on a CPU, but 1 on a GPU.
FINITE = tensor(
    [-1e4, -100.0, -8.0, -2.0, -0.5, -1e-30, -0.0, 0.0, 1e-30, 0.5, 2.0, 90.0, 1e4, nan]
)
COLUMN = tensor([[x] for x in (-inf, -3.0, -1.0, -0.0, 0.0, 0.1, 1.0, 2.5, inf, nan)])
ROW = tensor([-inf, -3.0, -1.0, -0.0, 0.0, 0.1, 1.0, 2.5, inf, nan])
T = torch
ROUNDING = [None, "floor", "trunc"]

# op -> argument lists; keyword arguments are a dict at the end
CASES: dict[type[TorchOp], list[tuple[Any, ...]]] = {
    **{
        op: [(SPECIAL,), (rand(),), (rand(3, 1, 5),), (rand(0, 2),)]
        for op in torch.OPS
        if issubclass(op, T.UnaryOp)
    },
    T.GeluOp: [
        (FINITE,),
        (rand(33),),
        (rand(4, 8), {"approximate": "tanh"}),
        (SPECIAL, {"approximate": "tanh"}),
        (rand(),),
    ],
    **{
        op: [(COLUMN, ROW), (rand(4, 8), rand(8)), (rand(), rand(2, 1)), (rand(3, 0), rand(1))]
        for op in torch.OPS
        if issubclass(op, T.BinaryOp)
    },
    **{
        op: [(SPECIAL, 2.5), (rand(4, 8), -3), (rand(), True), (rand(5), inf), (rand(5), 0.1)]
        for op in torch.OPS
        if issubclass(op, T.ScalarOp)
    },
    **{
        op: [
            (COLUMN, ROW),
            (rand(4, 8), rand(4, 1), {"alpha": 2.5}),
            (rand(8), rand(2, 4, 8), {"alpha": -3}),
            (rand(8), tensor([inf]), {"alpha": 0}),
        ]
        for op in (T.AddOp, T.SubOp, T.RsubOp)
    },
    **{
        op: [(SPECIAL, 2), (rand(4, 8), 0.5, 2.5), (rand(), 3, -2), (rand(3), -1, 0.5)]
        for op in (T.AddScalarOp, T.SubScalarOp, T.RsubScalarOp)
    },
    T.DivModeOp: [(COLUMN, ROW, {"rounding_mode": mode}) for mode in ROUNDING]
    + [(rand(4, 8, scale=10.0), rand(8), {"rounding_mode": mode}) for mode in ROUNDING],
    T.DivScalarModeOp: [
        (ROW, other, {"rounding_mode": mode}) for mode in ROUNDING for other in (0.1, -3, 2)
    ],
    T.PowOp: [(COLUMN, ROW), (tensor([[-2.0], [3.0]]), tensor([-3.0, 0.0, 1.0, 4.0, 0.5]))],
    T.PowScalarOp: [
        (SPECIAL, e) for e in (0, 1, 2, 3, 4, -1, -2, -3, 0.5, -0.5, 1.5, 0.1, inf, nan)
    ],
    T.ScalarPowOp: [(base, SPECIAL) for base in (-2, 0, 1, 2.0, 0.1, inf)],
    T.SumOp: [
        (rand(4, 8),),
        (rand(),),
        (rand(0, 3),),
        (tensor([1.0, nan]),),
        (rand(5), {"dtype": pytorch.float32}),
    ],
    T.MeanOp: [(rand(4, 8),), (rand(),), (rand(0, 3),), (tensor([1.0, inf]),), (rand(1, 1),)],
    **{
        op: [
            (rand(4, 8), None),
            (rand(4, 8), []),
            (rand(2, 3, 4), [-1], True),
            (rand(2, 3, 4), [2, 0]),
            (rand(2, 0, 4), [1]),
            (rand(2, 0, 4), [0]),
            (rand(), [-1]),
            (rand(), [0], True),
            (rand(1, 5), [0, 1], True),
            (rand(4, 8), [1], {"dtype": pytorch.float32}),
        ]
        for op in (T.SumDimOp, T.MeanDimOp)
    },
    **{
        op: [
            (rand(4, 8),),
            (rand(2, 3, 4), [-1], True),
            (rand(2, 3, 4), [2, 0]),
            (rand(), [-1]),
            (rand(2, 0, 4), [2]),
            (tensor([[1.0, nan], [-inf, inf], [-inf, -inf]]), [1]),
            (SPECIAL,),
        ]
        for op in (T.AmaxOp, T.AminOp)
    },
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
    T.MatmulOp: [
        (rand(*a), rand(*b))
        for a, b in [
            ((5,), (5,)),
            ((5,), (5, 3)),
            ((4, 5), (5,)),
            ((4, 5), (5, 3)),
            ((1, 1), (1, 1)),
            ((2, 4, 5), (5,)),
            ((5,), (2, 5, 3)),
            ((2, 4, 5), (5, 3)),
            ((4, 5), (2, 5, 3)),
            ((2, 1, 4, 5), (3, 5, 6)),
            ((1, 4, 5), (7, 5, 1)),
            ((0, 5), (5, 3)),
            ((4, 0), (0, 3)),
            ((2, 3, 1, 5), (2, 3, 5, 1)),
            ((33, 65), (65, 17)),
        ]
    ],
    T.MmOp: [(rand(4, 5), rand(5, 3)), (rand(1, 5), rand(5, 1)), (rand(4, 1), rand(1, 3))],
    T.BmmOp: [
        (rand(2, 4, 5), rand(2, 5, 3)),
        (rand(1, 1, 5), rand(1, 5, 1)),
        (rand(0, 4, 5), rand(0, 5, 3)),
    ],
    T.AddmmOp: [
        (rand(*i), rand(4, 5), rand(5, 3), scales)
        for i in ((3,), (4, 3), (4, 1), (), (1, 1))
        for scales in ({}, {"beta": 0.5, "alpha": -2}, {"beta": 0})
    ]
    + [
        (tensor([nan, 1.0, inf]), rand(4, 5), rand(5, 3), {"beta": 0}),
        (rand(3), tensor([[nan, 1.0]]), rand(2, 3), {"alpha": 0, "beta": 2}),
        (rand(3), tensor([[nan, 1.0]]), rand(2, 3), {"alpha": 0, "beta": 0}),
    ],
    T.LinearOp: [
        (rand(4, 5), rand(3, 5)),
        (rand(4, 5), rand(3, 5), rand(3)),
        (rand(5), rand(3, 5), rand(3)),
        (rand(2, 4, 5), rand(3, 5), rand(3)),
        (rand(2, 4, 5), rand(5)),
        (rand(5), rand(5)),
        (rand(2, 4, 5), rand(5), rand()),
        (rand(2, 1), rand(1, 1), rand(1)),
    ],
    **{
        op: [(SPECIAL,), (rand(),), (rand(2, 0),)]
        for op in torch.OPS
        if issubclass(op, T.IdentityOp)
    },
    T.CloneOp: [(SPECIAL,), (rand(1, 2, 3, 4), {"memory_format": pytorch.channels_last})],
    **{
        op: [
            (rand(4, 8), [2, -1]),
            (rand(4, 8), [4, 8]),
            (rand(1), []),
            (rand(), [1, 1]),
            (rand(6, 35), [10, 21]),
            (rand(2, 3, 4), [-1]),
            (rand(0, 3), [3, 0]),
        ]
        for op in (T.ReshapeOp, T.ViewOp, T.UnsafeViewOp)
    },
    T.FlattenOp: [
        (rand(2, 3, 4),),
        (rand(2, 3, 4), 1),
        (rand(2, 3, 4), 0, -2),
        (rand(),),
        (rand(2, 0, 3),),
    ],
    T.UnsqueezeOp: [(rand(4, 8), dim) for dim in (0, 1, -1)] + [(rand(), 0)],
    T.SqueezeOp: [(rand(1, 4, 1),), (rand(1, 1),), (rand(),), (rand(2, 3),)],
    T.SqueezeDimOp: [(rand(1, 4, 1), -1), (rand(1, 4, 1), 1), (rand(), 0)],
    T.SqueezeDimsOp: [(rand(1, 4, 1), [0, -1]), (rand(1, 4, 1), [0, 1]), (rand(1, 4), [])],
    T.TOp: [(rand(4, 8),), (rand(4),), (rand(),), (rand(1, 3),)],
    T.TransposeOp: [
        (rand(2, 3, 4), 0, -1),
        (rand(2, 3, 4), 1, 1),
        (rand(), 0, -1),
        (rand(1, 3), 1, 0),
    ],
    T.PermuteOp: [
        (rand(2, 3, 4), [2, 0, 1]),
        (rand(2, 3, 4), [-2, -1, 0]),
        (rand(2, 3), [0, 1]),
        (rand(), []),
    ],
    T.ExpandOp: [
        (rand(4, 1), [2, -1, 8]),
        (rand(), [3]),
        (rand(1), [0]),
        (rand(4, 8), [4, 8]),
        (rand(1, 1), [1, 5]),
    ],
}

# Ops that round more than once, or through a library function. All others agree to the bit, unless
# they scale by an alpha, which PyTorch may fuse with the sum.
INEXACT = (
    T.UnaryOp,
    T.PowOp,
    T.PowScalarOp,
    T.ScalarPowOp,
    T.SumOp,
    T.MeanOp,
    T.SumLikeOp,
    T.SoftmaxOp,
    T.RmsNormOp,
    T.LayerNormOp,
    T.MatmulOp,
    T.MmOp,
    T.BmmOp,
    T.AddmmOp,
    T.LinearOp,
)


@pytest.mark.parametrize("op", torch.OPS, ids=lambda op: op.name)
def test_like_eager(op: type[TorchOp], check: Any):
    for case in CASES[op]:
        args, kwargs = split(case)
        scales = "alpha" in kwargs or ("alpha" in vars(op) and len(case) > 2)
        check(op, *args, exact=not (issubclass(op, INEXACT) or scales), **kwargs)


def test_every_op_has_a_pattern():
    assert {*PATTERNS} == {*torch.OPS}
    assert {*CASES} == {*torch.OPS}
