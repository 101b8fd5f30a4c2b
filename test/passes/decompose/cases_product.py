# SPDX-License-Identifier: Apache-2.0
"""Arguments for calls of ops that multiply along several dimensions."""

from math import inf, nan
from typing import Any

from tilewright.dialects import torch as T

from .cases_contraction import DTYPES, HALVES, of
from .inputs import Cases, Classes, pytorch, rand, tensor

_BOOLS = (tensor([1.0, 0.0, 1.0]) > 0, tensor([0.0, 1.0, 1.0]) > 0)


def _einsum(equation: str, *shapes: tuple[int, ...], path: list[int] | None = None) -> Any:
    keywords = {} if path is None else {"path": path}
    return (equation, [rand(*shape) for shape in shapes], keywords)


CASES: Cases = {
    T.InnerOp: [
        (rand(*a), rand(*b))
        for a, b in [
            ((5,), (5,)),
            ((4, 5), (5,)),
            ((5,), (4, 5)),
            ((4, 5), (3, 5)),
            ((2, 4, 5), (3, 5)),
            ((2, 4, 1), (6, 3, 1)),
            ((), (3, 5)),
            ((3, 5), ()),
            ((), ()),
            ((4, 0), (3, 0)),
        ]
    ]
    + [(*of(dtype, (4, 5), (3, 5)),) for dtype in DTYPES]
    + [(_BOOLS[0], _BOOLS[1][1])],
    T.OuterOp: [
        (rand(4), rand(5)),
        (rand(1), rand(1)),
        (rand(0), rand(5)),
        (tensor([inf, 0.0, nan]), rand(2)),
        _BOOLS,
        (rand(3), of(pytorch.int64, (4,))[0]),
        (rand(3), rand(4).double()),
        *((*of(dtype, (4,), (5,)),) for dtype in DTYPES),
    ],
    T.AddrOp: [
        (rand(*i), rand(4), rand(3), scales)
        for i in ((4, 3), (3,), (4, 1), ())
        for scales in ({}, {"beta": 0.5, "alpha": -2}, {"beta": 0}, {"alpha": 0})
    ]
    + [
        (tensor([nan, 1.0, inf]), rand(4), rand(3), {"beta": 0}),
        (rand(1, 2), tensor([nan]), rand(2), {"alpha": 0}),
        (rand(4, 3).double(), rand(4), rand(3)),
        (rand(4, 3), *of(pytorch.int64, (4,), (3,))),
        *((*of(dtype, (4, 3), (4,), (3,)), {"alpha": 2, "beta": 3}) for dtype in DTYPES),
    ],
    T.EinsumOp: [
        _einsum("ij,jk->ik", (2, 3), (3, 4)),
        _einsum(" i j , j k ", (2, 3), (3, 4)),
        _einsum("bij,bjk->bik", (2, 3, 4), (2, 4, 5)),
        _einsum("...ij,...jk", (6, 2, 3), (3, 4)),
        _einsum("...ij,...jk->...ik", (5, 1, 2, 3), (6, 3, 4)),
        _einsum("i...j,j...->...i", (2, 6, 3), (3, 1)),
        _einsum("...i->i", (2, 6, 3)),
        _einsum("i->...i", (3,)),
        _einsum("...", (2, 3)),
        _einsum("ba", (2, 3)),
        _einsum("aB", (2, 3)),
        _einsum("ijk->kij", (2, 3, 4)),
        _einsum("ii", (3, 3)),
        _einsum("ii->i", (3, 3)),
        _einsum("iij->j", (3, 3, 4)),
        _einsum("iji->ij", (3, 4, 3)),
        _einsum("ii,i->i", (3, 3), (3,)),
        _einsum("ij->", (2, 3)),
        _einsum("ij,k->k", (2, 3), (4,)),
        _einsum("i,j->ij", (2,), (3,)),
        _einsum("i,i->i", (3,), (3,)),
        _einsum("i,i", (3,), (3,)),
        _einsum(",i->i", (), (3,)),
        _einsum("->", ()),
        _einsum(",", (), ()),
        _einsum("ij,jk->ik", (2, 1), (3, 4)),
        _einsum("ij,ij->ij", (2, 1), (1, 3)),
        _einsum("ij,jk->ik", (2, 0), (0, 4)),
        _einsum("ij,jk->ik", (0, 3), (3, 4)),
        _einsum("ij,jk,kl->il", (2, 3), (3, 4), (4, 5)),
        _einsum("ij,jk,kl->il", (2, 3), (3, 4), (4, 5), path=[1, 2, 0, 1]),
        _einsum("ij,jk,kl,l->i", (2, 3), (3, 4), (4, 5), (5,), path=[3, 2, 2, 1, 1, 0]),
        _einsum("ij,ij,ij->", (2, 3), (2, 3), (1, 3)),
        _einsum("bhqd,bhkd->bhqk", (2, 2, 3, 4), (2, 2, 5, 4)),
        _einsum("nctkv,kvw->nctw", (1, 2, 3, 2, 4), (2, 4, 4)),
        *(("ij,jk->ik", of(dtype, (2, 3), (3, 4))) for dtype in DTYPES),
        *(("ij,jk->ik", of(dtype, (2, 200), (200, 4))) for dtype in HALVES),
        *(("ij->i", of(dtype, (2, 3))) for dtype in DTYPES),
        *(("ij->ji", of(dtype, (2, 3))) for dtype in DTYPES),
        ("i->", [_BOOLS[0]]),
        ("i,i->i", [*_BOOLS]),
        ("i,j->ij", [rand(2), rand(3).double()]),
    ],
    T.CdistForwardOp: [
        (rand(*a), rand(*b), p, None)
        for a, b in [
            ((4, 5), (3, 5)),
            ((2, 1, 4, 5), (6, 3, 5)),
            ((4, 1), (1, 1)),
            ((0, 5), (3, 5)),
        ]
        for p in (0.0, 0.5, 1.0, 2.0, 3.0, inf)
    ]
    + [
        (rand(4, 0), rand(3, 0), 2.0, None),
        (rand(4, 0), rand(3, 0), inf, None),
        (rand(4, 5).double(), rand(3, 5).double(), 2.0, 2),
        (tensor([[1.0, inf]]), tensor([[nan, 1.0], [0.0, 1.0]]), 2.0, None),
    ],
}

INEXACT: Classes = tuple(CASES)
