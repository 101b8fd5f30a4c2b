# SPDX-License-Identifier: Apache-2.0
"""
Blocks of a convolution that read boxes of its input, which TMA copies.

    %sum = loop.reduce %k in 288 with add {
      %0 = loop.load %x[%i floordiv 256032, %k mod 32, (%i floordiv 504) mod 508 + %k floordiv 96,
                        %i mod 504 + (%k floordiv 32) mod 3] : memref<8x32x510x506xf32>

A block of rows that are a rectangle of positions reads a box for each chunk of 16 or 32 steps. Any
other block reads parts of lines, which threads copy 4 bytes at a time. A rectangle reaches past the
end of an image: blocks of 128 positions in lines of 504 compute 512.

Convolutions by a window of one step are left out: threads copy 16 bytes across lines.

Lanes of a matrix instruction on float32 read 4 channels at a time. With two lines in a block,
swizzled rows of the slab lie in different banks for these. `ldmatrix` reads 8 channels of a half
type at a time, for which one line is best. More lines come last (`split-inner-for-swizzle` then
stores them first), as in small images.
"""

from collections.abc import Sequence
from math import gcd, prod
from typing import NamedTuple

from xdsl.utils.exceptions import PassFailedException

from tilewright.dialects import tile
from tilewright.dialects.element_types import HALVES
from tilewright.dialects.matrix_instruction import MatrixInstruction
from tilewright.dialects.schedule import ScheduleAttr
from tilewright.dialects.target import Target
from tilewright.passes.facts.positions import Images, positions_of
from tilewright.passes.tile.planner.trial import scheduled
from tilewright.passes.tile.tma_copy import TmaCopyPass, eligible_slabs

_FLOAT_LINES, _HALF_LINES = (2, 1, 4, 8), (1, 2, 4, 8)
"""Lines of positions in a block, by preference."""

_MOST_WASTE = 1.15
"""Most positions that blocks compute, for each position of the images."""

_USUAL, _SHORTEST = 32, 16
"""Fewest positions of a line in a block: 128 bytes of float32, or 32 bytes of a half type."""

_CHUNK = 16
"""Most steps of a chunk on trial."""

_ROWS = (32, 64, 128, 256)
"""Rows of a block with matrix instructions."""


class ImageBoxes(NamedTuple):
    """Images of a convolution whose blocks can read boxes."""

    images: Images
    lines: Sequence[int]
    """Possible numbers of lines in a block, by preference."""

    def width_for(self, m: int) -> int | None:
        """Return the positions of each line in a block of `m` rows; None if too many are wasted."""
        widths = [m // lines for lines in self.lines if m // lines >= _SHORTEST]
        widths.sort(key=lambda width: width < _USUAL)
        most = _MOST_WASTE * prod(self.images)
        return next((width for width in widths if self._blocks(m, width) * m <= most), None)

    def blocks(self, m: int) -> int | None:
        """Return the number of blocks of `m` rows; None if they are no rectangles."""
        width = self.width_for(m)
        return None if width is None else self._blocks(m, width)

    def _blocks(self, m: int, width: int) -> int:
        return prod(self.images.blocks(m // width, width))


def image_boxes_of(
    launch: tile.LaunchOp, instruction: MatrixInstruction | None, period: int, target: Target
) -> ImageBoxes | None:
    """
    Return the images of a convolution whose blocks can read boxes on the target, or None. Boxes are
    found by a trial on a copy of the kernel, with chunks that divide the `period`.
    """
    if instruction is None or not target.has_tma or (found := positions_of(launch)) is None:
        return None
    preferred = _HALF_LINES if instruction.fragments.element in HALVES else _FLOAT_LINES
    boxes = ImageBoxes(found.images, preferred)
    if all(boxes.width_for(m) is None for m in _ROWS):
        return None
    # A block of several lines reads boxes only if a block of one line does.
    bk = gcd(period, _CHUNK)
    most = next((n for n in sorted(preferred)[::-1] if _reads_boxes(launch, n, bk, target)), 0)
    lines = tuple(n for n in preferred if n <= most)
    return boxes._replace(lines=lines) if lines else None


def _reads_boxes(launch: tile.LaunchOp, lines: int, bk: int, target: Target) -> bool:
    """True if TMA can fill all slabs of a block with these lines of positions."""
    steps = (
        f"chunk-matmul-k{{bk={bk}}},blockify-launch{{m={lines * _SHORTEST} n=8 width={_SHORTEST}}},"
        "stage-inputs,double-buffer{depth=2}"
    )
    try:
        tried = scheduled(launch, ScheduleAttr.parse(steps), TmaCopyPass.name, target)
    except PassFailedException:
        return False
    return len(eligible_slabs(tried)) == len(tile.stages_of(tried)) > 0
