# SPDX-License-Identifier: Apache-2.0
"""
Elements of matrices that each lane of a warp holds as operands of `mma.sync`.

The formulas are those of PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type" and
"Matrix Fragments for mma.m16n8k8". They are written without the compiler's table of matrix
instructions, so that a test can compare both.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tilewright.codegen.simulator.lanes import WARP, Integers

M, N = 16, 8
"""Rows and columns of D in all supported forms."""

_Subscript = Callable[[int, int, int], int]
"""
Function from (group, thread, element) to a row or column: group `lane / 4`, thread `lane % 4`.
"""


@dataclass(frozen=True, eq=False)
class Fragments:
    """
    Layout of A, B and D in the registers of a warp, for a product over `k`.

    The elements that lanes hold are numbered: first those of lane 0, then those of lane 1. `a` and
    `b` have the number of each element of A and B, row by row. `d` has shape (lanes, elements): the
    position in D, row by row, of each element that a lane holds.
    """

    k: int
    a: Integers
    b: Integers
    d: Integers


def _places(elements: int, columns: int, row: _Subscript, column: _Subscript) -> Integers:
    """
    Return for each lane and element the position in a matrix with this number of columns, row by
    row.
    """
    return np.array(
        [
            [
                row(lane >> 2, lane % 4, i) * columns + column(lane >> 2, lane % 4, i)
                for i in range(elements)
            ]
            for lane in range(WARP)
        ]
    )


def _fragments(k: int, a: Integers, b: Integers) -> Fragments:
    return Fragments(k, np.argsort(a, axis=None), np.argsort(b, axis=None), _D)


_D = _places(
    4,
    N,
    row=lambda group, thread, i: group if i < 2 else group + 8,
    column=lambda group, thread, i: thread * 2 + (i & 1),
)

K16 = _fragments(
    16,
    a=_places(
        8,
        16,
        row=lambda group, thread, i: group if i < 2 or 4 <= i < 6 else group + 8,
        column=lambda group, thread, i: thread * 2 + (i & 1) + (0 if i < 4 else 8),
    ),
    b=_places(
        4,
        N,
        row=lambda group, thread, i: thread * 2 + (i & 1) + (0 if i < 2 else 8),
        column=lambda group, thread, i: group,
    ),
)
"""Fragments of `m16n8k16` with 16-bit elements, of which a register holds two, the lower first."""

K8 = _fragments(
    8,
    a=_places(
        4,
        8,
        row=lambda group, thread, i: group if i in (0, 2) else group + 8,
        column=lambda group, thread, i: thread if i < 2 else thread + 4,
    ),
    b=_places(
        2,
        N,
        row=lambda group, thread, i: thread if i == 0 else thread + 4,
        column=lambda group, thread, i: group,
    ),
)
"""Fragments of `m16n8k8` with tf32 elements, one in each register."""
