# SPDX-License-Identifier: Apache-2.0
"""
Positions in images, which the rows of a convolution's product count.

    tile.launch (%i = block 2048256 m, %j = block 64 n) {
      ... loop.load %x[%i floordiv 256032, %c, (%i floordiv 504) mod 508 + %r, %i mod 504 + %s]

`%i` counts 8 images of 508 lines of 504 positions. The divisors of its quotients are the numbers of
positions in a line and in an image. Volumes count as images of their innermost two axes.
"""

from typing import NamedTuple

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Role
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.tile.attributes import Axis
from tilewright.passes.facts.nest import quotients_of


class Images(NamedTuple):
    """A number of images of `height` lines of `width` positions."""

    number: int
    height: int
    width: int

    def blocks(self, lines: int, width: int) -> tuple[int, int, int]:
        """
        Return the numbers of images, and of blocks of `lines` lines of `width` positions down and
        across an image.
        """
        return self.number, -(-self.height // lines), -(-self.width // width)


class Positions(NamedTuple):
    """Rows of a launch as positions in images."""

    axis: Axis
    images: Images


def positions_of(launch: tile.LaunchOp) -> Positions | None:
    """Return the rows of a launch as positions in images; None if they are a plain number."""
    rows = [axis for axis in launch.bound_axes() if axis.role is Role.M]
    if len(rows) != 1:
        return None
    (axis,) = rows
    loads = (op for op in ops_in(launch) if isinstance(op, loop.LoadOp) and _is_summed(op))
    divisors = sorted({n for load in loads for v, n in quotients_of(load) if v is axis.value})
    line, image = [*divisors, axis.extent, axis.extent][:2]
    if not divisors or image % line or axis.extent % image:
        return None
    return Positions(axis, Images(axis.extent // image, image // line, line))


def _is_summed(load: loop.LoadOp) -> bool:
    return isinstance(load.parent_op(), loop.ReduceOp)
