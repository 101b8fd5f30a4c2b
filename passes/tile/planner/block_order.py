# SPDX-License-Identifier: Apache-2.0
"""
Bytes that the blocks of a contraction read from device memory, by the order in which they run.

    launch order of 4 x 8 blocks, 6 at once:   one row at a time     in groups of 2 rows
                                               0 0 0 0 0 0 1 1       0 0 0 1 1 1 2 2
                                               1 1 1 1 2 2 2 2       0 0 0 1 1 1 2 2
                                               2 2 3 3 3 3 3 3       2 3 3 3 4 4 4 5
                                               4 4 4 4 4 4 5 5       2 3 3 3 4 4 4 5

A block reads a panel of each operand: its rows or its columns, along all of K. Blocks that run at
the same time share panels through L2. Round 0 has 1 + 6 panels in the first order, and 2 + 3 in the
second. A later round reads a panel again unless L2 has kept it: an operand stays if all of it and
the other operand's panels of a round fit into half of L2. Each operand is read once at least.

The model of L2 is not measured. Blocks of a real GPU do not run in rounds, and L2 does not replace
the oldest lines first.
"""

from math import sqrt
from typing import NamedTuple

from tilewright.dialects.target import Target

_L2_SHARE = 0.5
"""
Share of L2 in which operands stay while others stream through it. L2 of an A100 or H100 has two
halves, and a line that SMs of both sides read may be in both.
"""

_MOST_RASTER = 16
"""Most rows of blocks in a group."""


def kept_bytes(target: Target) -> float:
    """Return the bytes of operands that stay in L2 while others stream through it."""
    return _L2_SHARE * target.l2_size


class BlockOrder(NamedTuple):
    """Blocks of each matrix of a contraction, and the panels that they read."""

    rows: int
    """Rows of blocks in a matrix."""
    columns: int
    """Columns of blocks in a matrix."""
    row_bytes: float
    """Bytes of the operand along m that a row of blocks reads."""
    column_bytes: float
    """Bytes of the operand along n that a column of blocks reads."""
    at_once: int
    """Blocks with different results that run at the same time."""
    blocks: int
    """Blocks with different results that do any work, in all matrices."""

    def read_bytes(self, raster: int, target: Target) -> float:
        """
        Return the bytes of the operands that come from device memory, if blocks run in groups of
        `raster` rows.
        """
        at_once = min(self.at_once, self.rows * self.columns)
        rows, columns = self._covered(raster, at_once)
        along_m, along_n = self.rows * self.row_bytes, self.columns * self.column_bytes
        rounds = self.blocks / at_once
        matrices = self.blocks / (self.rows * self.columns)
        room = kept_bytes(target)
        m_stays = along_m + columns * self.column_bytes <= room
        n_stays = along_n + rows * self.row_bytes <= room
        from_m = matrices * along_m if m_stays else rounds * rows * self.row_bytes
        from_n = matrices * along_n if n_stays else rounds * columns * self.column_bytes
        return from_m + from_n

    def best_raster(self, target: Target) -> int:
        """
        Return the number of rows in a group, a power of two, with which blocks read the fewest
        bytes; the smallest of equals.

        A round of r rows and at_once / r columns reads the fewest bytes if its panels of both
        operands have equally many bytes. Only the powers of two around that r are compared.
        """
        if not self.row_bytes:
            return 1
        equal = sqrt(self.at_once * self.column_bytes / self.row_bytes)
        most = min(_MOST_RASTER, self.rows & -self.rows)  # a power of two that divides the rows
        below = 1 << max(0, int(equal).bit_length() - 1)
        rasters = (1, min(below, most), min(2 * below, most))
        return min(rasters, key=lambda raster: self.read_bytes(raster, target))

    def _covered(self, raster: int, at_once: int) -> tuple[int, int]:
        """Return the numbers of rows and columns in which the blocks of a round are."""
        group = raster * self.columns
        if at_once <= group:
            return min(raster, at_once), -(-at_once // raster)
        return min(self.rows, -(-at_once // group) * raster), self.columns
