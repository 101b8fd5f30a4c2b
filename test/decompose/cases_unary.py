# SPDX-License-Identifier: Apache-2.0
"""What the ops that map every element of one tensor are called with."""

from tilewright.dialects import torch as T

from .inputs import FINITE, SPECIAL, Cases, Classes, rand

CASES: Cases = {
    **{
        op: [(SPECIAL,), (rand(),), (rand(3, 1, 5),), (rand(0, 2),)]
        for op in T.OPS
        if issubclass(op, T.UnaryOp)
    },
    T.GeluOp: [
        (FINITE,),
        (rand(33),),
        (rand(4, 8), {"approximate": "tanh"}),
        (SPECIAL, {"approximate": "tanh"}),
        (rand(),),
    ],
}

INEXACT: Classes = (T.UnaryOp,)
