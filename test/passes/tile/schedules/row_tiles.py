# SPDX-License-Identifier: Apache-2.0
"""Random tiles of rows: the share of blocks, threads and registers along rows and columns."""

from collections.abc import Mapping

from .drawing import Draw, ceil, cut

_LENGTHS = (100, 1, 2, 3, 7, 31, 32, 33, 64, 97, 128, 129, 255, 512, 777, 1024, 1500, 2048, 2100)
_MAX_THREADS = 512


class RowTiles:
    """Tiles of the rows and columns of a matrix, for blocks, threads and registers."""

    def __init__(self, draw: Draw):
        self.rows, self.length = draw.one((3, 1, 2, 5, 8, 14, 33)), draw.one(_LENGTHS)
        self._cut_columns(draw)
        self._cut_rows(draw)

    def _cut_columns(self, draw: Draw) -> None:
        threads, vector = draw.one((32, 64, 128, 256, 7, 96, 16, 1)), draw.one((4, 1, 2, 3))
        threads = min(threads, 32) if self.length < 100 else threads
        split = draw.one((1, 1, 1, 1, 2, 3, 4))
        rest = ceil(self.length, threads * vector * split)
        strips = rest if rest * vector <= 24 and draw.chance() else draw.one((1, 2))
        self.columns = cut(
            draw,
            ("%i", "register", strips),
            ("%t", "thread", threads),
            ("%v", "register", vector),
        )
        self.split, self.chunks = split, ceil(rest, strips)
        self.per_block = self.columns.size * self.chunks
        self.threads = threads
        self.overruns = self.per_block * split > self.length

    def _cut_rows(self, draw: Draw) -> None:
        fits = [n for n in (1, 2, 4, 3, 8) if n * self.threads <= _MAX_THREADS]
        self.row_cut = cut(
            draw, ("%rw", "thread", draw.one(fits)), ("%rr", "register", draw.one((1, 1, 1, 2, 3)))
        )
        self.blocks = ceil(self.rows, self.row_cut.size)
        self.row_overruns = self.blocks * self.row_cut.size > self.rows

    @property
    def row(self) -> str:
        """Index of the row among all rows, as text."""
        first = f"%rb * {self.row_cut.size} + " if self.blocks > 1 else ""
        return first + self.row_cut.at

    @property
    def local_column(self) -> str:
        """Index of the column among the columns of the block, as text."""
        chunk = f"%kc * {self.columns.size} + " if self.chunks > 1 else ""
        return chunk + self.columns.at

    @property
    def column(self) -> str:
        """Index of the column among all columns, as text."""
        first = f"%s * {self.per_block} + " if self.split > 1 else ""
        return first + self.local_column

    def row_masks(self, row: str) -> list[str]:
        """Return the mask condition that `row` exists; empty if no tile overruns the rows."""
        return [f"{self.rows - 1} - ({row})"] if self.row_overruns else []

    def column_masks(self, column: str) -> list[str]:
        """Return the mask condition that `column` exists; empty if no tile overruns the columns."""
        return [f"{self.length - 1} - ({column})"] if self.overruns else []

    def axes(self) -> tuple[list[tuple[str, str, int]], Mapping[str, str]]:
        """Return the axes of the launch and their roles."""
        blocks = [("%rb", "block", self.blocks), ("%s", "block", self.split)]
        axes = [axis for axis in blocks if axis[2] > 1]
        axes += [*self.row_cut.axes, *self.columns.axes]
        roles = {"%s": " split", "%t": " k", "%i": " k", "%v": " k", "%rb": " row", "%rw": " row"}
        return axes, roles
