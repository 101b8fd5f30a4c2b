# SPDX-License-Identifier: Apache-2.0
"""Arguments for calls of activations."""

from math import inf

from tilewright.dialects import torch as T

from .dtypes import dtypes_of, values
from .inputs import FINITE, SPECIAL, Cases, Classes, pytorch, rand, tensor

_BENDS = tensor([-6.0, -3.5, -3.0, -1.0, -0.5, 0.0, 0.5, 1.0, 3.0, 3.5, 6.0, 20.0, 20.5])
"""Points where the pieces of piecewise functions meet."""

_ACTIVATIONS = [
    op for op in T.ops_of(T.activation) if op not in (T.ThresholdOp, T.PreluOp, T.GluOp)
]
_INTEGERS = ("uint8", "int8", "int64")

_PLAIN: Cases = {
    **{
        op: [
            (FINITE if op is T.GeluOp else SPECIAL,),
            (_BENDS,),
            (rand(),),
            (rand(3, 1, 5),),
            (rand(0, 2),),
            *((values(dtype),) for dtype in dtypes_of(op) if dtype != "uint8"),
        ]
        for op in _ACTIVATIONS
    },
    T.ReluOp: [(SPECIAL,), (rand(),), *((values(dtype),) for dtype in dtypes_of(T.ReluOp))],
    T.Relu6Op: [(SPECIAL,), (rand(),), *((values(dtype),) for dtype in dtypes_of(T.Relu6Op))],
}
CASES: Cases = {
    **_PLAIN,
    T.GeluOp: [
        (FINITE,),
        (rand(33),),
        (rand(4, 8), {"approximate": "tanh"}),
        (SPECIAL, {"approximate": "tanh"}),
        (rand(),),
        *((rand(64).to(getattr(pytorch, d)),) for d in dtypes_of(T.GeluOp)),
        *((rand(64).to(getattr(pytorch, d)), {"approximate": "tanh"}) for d in dtypes_of(T.GeluOp)),
    ],
    T.HardtanhOp: [
        *_PLAIN[T.HardtanhOp],
        (SPECIAL, 0.1, 2),
        (_BENDS, -3, 3),
        (_BENDS, 2.0, 1.0),
        (values("float16"), -0.1, 0.1),
        *((values(dtype), 1, 7) for dtype in _INTEGERS),
        (values("int32"), -1.5, 2.5),
    ],
    T.ThresholdOp: [
        (SPECIAL, 0, 1),
        (_BENDS, 0.5, -inf),
        (rand(), 0.1, 20),
        (rand(2, 0), 0, 1),
        *((values(dtype), 0.1, 0.3) for dtype in dtypes_of(T.ThresholdOp)),
        *((values(dtype), 1, 7) for dtype in _INTEGERS),
    ],
    T.LeakyReluOp: [*_PLAIN[T.LeakyReluOp], (SPECIAL, 0.2), (_BENDS, -1), (_BENDS, 0)],
    T.RreluOp: [*_PLAIN[T.RreluOp], (SPECIAL, 0.1, 0.3), (_BENDS, 1, 2, False)],
    T.PreluOp: [
        (SPECIAL, tensor([0.25])),
        (rand(4, 3, 5), rand(3)),
        (rand(4, 3), rand(3)),
        (rand(4, 1, 2, 3), rand(1)),
        (rand(2, 3, 2, 3), tensor(0.5)),
        (rand(), tensor([0.25])),
        (rand(), tensor(0.25)),
        (rand(5), tensor(0.25)),
        (rand(0, 3), rand(3)),
        *((values(dtype)[None], values(dtype)[:13]) for dtype in dtypes_of(T.PreluOp)),
    ],
    T.HardshrinkOp: [*_PLAIN[T.HardshrinkOp], (_BENDS, 3), (SPECIAL, 0.1), (_BENDS, -1)],
    T.SoftshrinkOp: [*_PLAIN[T.SoftshrinkOp], (_BENDS, 3), (SPECIAL, 0.1), (_BENDS, 0)],
    T.EluOp: [
        *_PLAIN[T.EluOp],
        (SPECIAL, 0.5),
        (_BENDS, 2, 3, 0.5),
        (_BENDS, -1.0, 1.5),
        (values("bfloat16"), 0.1, 0.3, 0.7),
    ],
    T.CeluOp: [*_PLAIN[T.CeluOp], (SPECIAL, 0.5), (_BENDS, 2), (_BENDS, -1.5)],
    T.SoftplusOp: [
        *_PLAIN[T.SoftplusOp],
        (SPECIAL, 2),
        (_BENDS, 0.1, 1),
        (_BENDS, 0.5, 50.0),
        (values("float16"), 0.1),
    ],
    T.GluOp: [
        (rand(4, 8),),
        (rand(4, 8), 0),
        (rand(3, 2, 5), -2),
        (rand(6), 0),
        (rand(4, 0),),
        (rand(0, 4), -1),
        *((rand(64).to(getattr(pytorch, dtype)),) for dtype in dtypes_of(T.GluOp)),
    ],
}

INEXACT: Classes = (
    T.LeakyReluOp,
    T.RreluOp,
    T.HardsigmoidOp,
    T.HardswishOp,
    T.EluOp,
    T.SeluOp,
    T.CeluOp,
    T.GeluOp,
    T.SiluOp,
    T.MishOp,
    T.SoftplusOp,
    T.LogSigmoidOp,
    T.GluOp,
)
