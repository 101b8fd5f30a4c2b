# SPDX-License-Identifier: Apache-2.0
"""
Which arrangements of a register tile there are: how many rows and columns of a thread lie side by
side, and how the threads of a warp lie in the tile.
"""

from collections.abc import Iterator

from tilewright.dialects.axes import Role
from tilewright.dialects.target import WARP_SIZE
from tilewright.passes.tile.tile_sides import Side


def side_by_side(m: Side, n: Side) -> Iterator[tuple[int, int]]:
    """Rows and columns that lie side by side: as they are, each alone, then all others."""
    yield m.vector, n.vector
    one = [side.vector if side.is_parted else 1 for side in (m, n)]
    yield one[0], one[1]
    yield m.vector, one[1]
    yield one[0], n.vector
    for rows in _widths(m):
        for columns in _widths(n):
            yield rows, columns


def _widths(side: Side) -> list[int]:
    if side.is_parted:
        return [side.vector]
    return [width for width in (1, 2, 4, 8, 16) if side.elements % width == 0]


def warp_heights(m: Side, n: Side) -> list[int]:
    """How high warps can be that are rectangles, in lanes."""
    sizes = (1, 2, 4, 8, 16, 32)
    return [
        high
        for high in sizes
        if m.thread.extent % high == 0 and n.thread.extent % (WARP_SIZE // high) == 0
    ]


def height_in_order(m: Side, n: Side, fastest: Role) -> int:
    """How high warps are if threads are counted along one side first; 0 if no rectangles."""
    first, then = (n, m) if fastest is Role.N else (m, n)
    along = min(first.thread.extent, WARP_SIZE)
    across = WARP_SIZE // along
    if along * across != WARP_SIZE or first.thread.extent % along or then.thread.extent % across:
        return 0
    return across if fastest is Role.N else along
