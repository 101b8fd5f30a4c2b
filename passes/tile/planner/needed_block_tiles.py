# SPDX-License-Identifier: Apache-2.0
"""
Number of tiles of a product that are needed, if some of its elements are not. Of the scores of
causal attention, only elements on the diagonal or below are needed. The blocks of other tiles have
little to do (`passes/tile/step_bounds.py`).
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from xdsl.ir.affine import AffineDimExpr

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Role, range_of_value
from tilewright.dialects.index import sum_of
from tilewright.passes.tile.needed_where import needed_where

_MOST_ROWS = 1 << 12
"""Most rows of tiles that are examined. If there are more, every n-th row stands for n rows."""


class Diagonal(NamedTuple):
    """
    Condition for row i and column j of a result: it is needed if `m * i + n * j + constant >= 0`.
    """

    m: int
    n: int
    constant: int


def diagonals_of(
    launch: tile.LaunchOp, reductions: Sequence[loop.ReduceOp]
) -> tuple[Diagonal, ...]:
    """
    Return the conditions under which results of `reductions` are needed. Only conditions that are
    linear in one axis of rows and one axis of columns are found.
    """
    needed = needed_where([result for op in reductions for result in op.results])
    axes = [axis for axis in launch.bound_axes() if axis.role in (Role.M, Role.N)]
    if needed is None or [axis.role for axis in axes] != [Role.M, Role.N]:
        return ()
    exprs, operands = needed
    row, column = (axis.value for axis in axes)
    ranges = [range_of_value(operand) for operand in operands]
    found: list[Diagonal] = []
    for value in (sum_of(expr, ranges) for expr in exprs):
        dims = [atom for atom in value.terms if isinstance(atom, AffineDimExpr)]
        factors = {operands[dim.position]: value.terms[dim] for dim in dims}
        if len(dims) == len(value.terms) and factors.keys() <= {row, column}:
            found.append(Diagonal(factors.get(row, 0), factors.get(column, 0), value.constant))
    return tuple(found)


@lru_cache  # called for each tiling of a product; many tilings have the same tile
def needed_block_tiles(
    diagonals: tuple[Diagonal, ...], shape: tuple[int, int], of_tile: tuple[int, int]
) -> int:
    """
    Return the number of tiles in which each condition is met by some element, for a result of
    `shape` and tiles of `of_tile` rows and columns.
    """
    (rows, columns), (m, n) = shape, of_tile
    in_row = -(-columns // n)
    found = 0
    firsts = range(0, rows, m)
    apart = -(-len(firsts) // _MOST_ROWS)
    for first in firsts[::apart]:
        low, high = 0, in_row - 1
        for diagonal in diagonals:
            low, high = _within(diagonal, first, of_tile, low, high)
        found += max(0, high - low + 1)
    return found * apart


def _within(
    diagonal: Diagonal, first: int, of_tile: tuple[int, int], low: int, high: int
) -> tuple[int, int]:
    """
    Return the first and the last column of tiles, from `low` to `high`, that has an element which
    meets the condition. The tiles begin at row `first`.
    """
    (m, n), factor = of_tile, diagonal.n
    most = diagonal.m * first + max(diagonal.m, 0) * (m - 1) + max(factor, 0) * (n - 1)
    most += diagonal.constant  # of the first tile; each later one has factor * n more
    if factor > 0:
        return max(low, -(most // (factor * n))), high
    if factor < 0:
        return low, min(high, most // (-factor * n))
    return (low, high) if most >= 0 else (0, -1)
