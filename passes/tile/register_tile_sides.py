# SPDX-License-Identifier: Apache-2.0
"""
Sides of a register tile: the axes of a launch that make up its rows, and those that make up its
columns. A side can be arranged in several ways: by the number of adjacent rows or columns of a
thread, and by the place of a warp's threads.

    %sm * 64 + %tm * 4 + %vm      side m: strips, threads and neighbours, as digits of one number
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import prod
from typing import NamedTuple

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Role, range_of_value
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.index import sum_of
from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.tile.attributes import Axis, Level
from tilewright.passes.facts.memoised import memoised


class Side(NamedTuple):
    """
    Side of a register tile, m or n: its axes from the outermost to the innermost, and its joins.
    """

    thread: Axis
    axes: Sequence[Axis]
    joined: Sequence[Sequence[SSAValue]]
    """Axes of the side across which values are joined, for each combine."""

    @property
    def role(self) -> Role:
        """Role of the side, m or n."""
        return self.thread.role

    @property
    def hint(self) -> str:
        """Name of the thread axis."""
        return self.thread.value.name_hint or f"t{self.role}"

    @property
    def elements(self) -> int:
        """Rows or columns of a thread."""
        return prod(axis.extent for axis in self.axes) // self.thread.extent

    @property
    def vector(self) -> int:
        """Adjacent rows or columns of a thread."""
        return prod(axis.extent for axis in self.axes[self.axes.index(self.thread) + 1 :])

    @property
    def is_parted(self) -> bool:
        """True if a combine joins values across a part of the side only, such as its threads."""
        whole = {axis.value for axis in self.axes if axis.extent > 1}
        return any(not whole <= {*joined} for joined in self.joined)


@memoised
def sides_of(launch: tile.LaunchOp) -> list[Side]:
    """
    Return the sides m and n; no sides if the threads of a block are not a rectangle of rows and
    columns.
    """
    threads = launch.thread_axes()
    if sorted(axis.role for axis in threads) != [Role.M, Role.N]:
        return []
    combines = [op for op in ops_in(launch) if isinstance(op, tile.CombineOp)]
    found: list[Side] = []
    for thread in sorted(threads, key=lambda axis: axis.role):
        registers = [a for a in launch.axes_at(Level.REGISTER) if a.role is thread.role]
        if (axes := _nested(launch, [thread, *registers])) is None:
            return []
        values = {axis.value for axis in axes}
        joined = [[axis for axis in op.axes if axis in values] for op in combines]
        found.append(Side(thread, axes, [axes for axes in joined if axes]))
    return found


def _nested(launch: tile.LaunchOp, axes: Sequence[Axis]) -> list[Axis] | None:
    """
    Return the axes as the digits of one number, the one with the largest factor first; None if they
    do not form a number.
    """
    long = [axis for axis in axes if axis.extent > 1]
    factors = _factors(launch, [axis.value for axis in long])
    if factors is None:
        return None if len(long) > 1 else list(axes)
    ordered = sorted(long, key=lambda axis: -factors[axis.value])
    for outer, inner in pairwise(ordered):
        if factors[outer.value] != factors[inner.value] * inner.extent:
            return None
    return [*(axis for axis in axes if axis.extent == 1), *ordered]


def _factors(launch: tile.LaunchOp, axes: Sequence[SSAValue]) -> dict[SSAValue, int] | None:
    """Return the factor of each axis in the first subscript that has all of them, or None."""
    for op in ops_in(launch):
        if not isinstance(op, loop.LoadOp | loop.StoreOp) or not {*axes} <= {*op.indices}:
            continue
        for expr in op.map.data.results:
            terms = sum_of(expr, [range_of_value(index) for index in op.indices]).terms
            dims = {axis: AffineDimExpr([*op.indices].index(axis)) for axis in axes}
            if all(terms.get(dim, 0) > 0 for dim in dims.values()):
                return {axis: terms[dim] for axis, dim in dims.items()}
    return None


def side_by_side(m: Side, n: Side) -> Iterator[tuple[int, int]]:
    """
    Yield pairs of adjacent rows and adjacent columns of a thread: the present pair, one of each,
    mixes of both, then all others. Pairs may be repeated.
    """
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
    """
    Return the numbers of a warp's lanes along the rows (`m`) for which a warp is a rectangle of
    threads.
    """
    sizes = (1, 2, 4, 8, 16, 32)
    return [
        high
        for high in sizes
        if m.thread.extent % high == 0 and n.thread.extent % (WARP_SIZE // high) == 0
    ]


def height_in_order(m: Side, n: Side, fastest: Role) -> int:
    """
    Return the height of a warp if threads are numbered along `fastest` first; 0 if it is no
    rectangle.
    """
    first, then = (n, m) if fastest is Role.N else (m, n)
    along = min(first.thread.extent, WARP_SIZE)
    across = WARP_SIZE // along
    if along * across != WARP_SIZE or first.thread.extent % along or then.thread.extent % across:
        return 0
    return across if fastest is Role.N else along
