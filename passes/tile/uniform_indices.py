# SPDX-License-Identifier: Apache-2.0
"""
Indices that are the same for all threads of a block, so that loops bounded by them are too.

    tile.launch (%b = block 8, %t = thread 32) {                   %b is, %t is not
      %0 = loop.load %position[0] : memref<1xi64>
      %1 = loop.to_index %0 below 48 : i64                         is
      %2 = loop.load %positions[%b] : memref<8xi64>
      %3 = loop.to_index %2 below 48 : i64                         is not known to be
"""

from xdsl.ir import BlockArgument, SSAValue

from tilewright.dialects import loop, tile
from tilewright.dialects.tile.attributes import Level
from tilewright.passes.facts.single_elements import made_of_single_elements


def varies_in_block(index: SSAValue) -> bool:
    """
    True if an index may differ between the threads of a block. Axes of the launch do, except block
    axes; axes of loops do not. Indices that are data do, except single elements known before the
    loops.
    """
    if not isinstance(index, BlockArgument):
        return not _is_known_before_loops(index)
    return tile.launch_of(index) is not None and tile.level_of(index) is not Level.BLOCK


def _is_known_before_loops(index: SSAValue) -> bool:
    op = index.owner
    if not isinstance(op, loop.ToIndexOp) or op.mask is not None:
        return False
    if not isinstance(op.parent_op(), tile.LaunchOp | loop.KernelOp):
        return False
    return made_of_single_elements(op.value) is not None
