# SPDX-License-Identifier: Apache-2.0
"""
Splitting of a join's epilogue across the joining blocks, where each block could do all of it.

    %acc is 8x4 registers of 128 threads, joined by 4 blocks: block r does rows 2r and 2r + 1

Register axes are dealt out first, outermost first, except the axis that a thread moves as one
vector. If register axes cannot be divided among the blocks, threads are. With 4 blocks, a quarter
of the slots is active in each block, with the threads of these slots.
"""

from collections.abc import Sequence
from math import gcd
from typing import NamedTuple

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import tile
from tilewright.dialects.index import delinearize
from tilewright.dialects.target import WARP_SIZE
from tilewright.passes.facts.combines import JoinGroup
from tilewright.passes.facts.register_axes import RegisterAxes
from tilewright.passes.kernel.partials import Layout


class EpiloguePart(NamedTuple):
    """Steps of a register axis that one block does."""

    axis: SSAValue
    steps: int
    """Number of steps of the axis that each block does."""
    number: AffineExpr
    """Index of the block's part along the axis, as an expression of the block's rank."""


def epilogue_parts(
    layouts: Sequence[Layout], registers: RegisterAxes, group: JoinGroup, blocks: int
) -> list[EpiloguePart]:
    """
    Divide the steps of register axes among the blocks. Return the part of a block along each
    divided axis; an empty list if they cannot be divided. Each block joins values that do not vary
    along a divided axis.
    """
    outer = dict.fromkeys(axis for layout in layouts for axis in layout.outer_registers)
    taken: list[tuple[SSAValue, int]] = []
    left = blocks
    for axis in registers.ordered(frozenset(outer)):
        parts = gcd(registers.extents[axis], left)
        if parts > 1 and _may_be_dealt(axis, registers, group):
            taken.append((axis, parts))
            left //= parts
    if left > 1:
        return []
    numbers = delinearize(AffineExpr.dimension(0), [parts for _, parts in taken])
    return [
        EpiloguePart(axis, registers.extents[axis] // parts, number)
        for (axis, parts), number in zip(taken, numbers, strict=True)
    ]


def _may_be_dealt(axis: SSAValue, registers: RegisterAxes, group: JoinGroup) -> bool:
    """
    True if the steps of the register axis `axis` can be divided among the blocks. The epilogue must
    not use values computed before the join for each step of the axis: a thread would have to select
    its part of its registers. Nor may a combine join across the axis.
    """
    inner = [op for later in group.rest for op in later.walk()]
    joined = {result for op in group.ops for result in op.results}
    made = {result for op in inner for result in op.results}
    used = {value for op in inner for value in op.operands} - made - joined - {axis}
    meets = any(isinstance(op, tile.CombineOp) and axis in op.axes for op in inner)
    return not meets and axis not in registers.of(used)


def divided_threads(layouts: Sequence[Layout], group: JoinGroup, blocks: int) -> Layout | None:
    """
    Return the layout whose threads can be divided among the blocks, so that each block does the
    epilogue for a part of them; None if there is none. Each part must have at least one warp, and
    no op of the epilogue may synchronise threads. Where its values are joined, all others are too.
    """
    inner = (op for later in group.rest for op in later.walk())
    if any(isinstance(op, tile.CombineOp | tile.StageOp) for op in inner):
        return None
    widest = max(layouts, key=lambda layout: layout.num_threads)
    is_common = all(map(widest.is_finer_than, layouts))
    return widest if is_common and widest.num_threads >= blocks * WARP_SIZE else None
