# SPDX-License-Identifier: Apache-2.0
"""
Fragments of A that a lane holds in registers already: D of one matrix instruction is A of the next.

    %ps = tile.share %p at [%wm * 16 + %rm * 8 + %lm, %sn * 8 + %ln * 2 + %vn]
    %o = loop.reduce %k in 64 with add by(m16n8k16_bf16) {
      ... loop.load %ps[%wm * 16 + %rm * 8 + %lm, %k] ...

A lane holds the elements of two tiles of D, each of 16 rows by 8 columns. Both tiles side by side
are the 16x16 elements of A in which the lane needs just these elements. Attention's weights are
thereby never stored.
"""

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import f32
from xdsl.ir import BlockArgument, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import extent_of
from tilewright.dialects.index import sum_of
from tilewright.dialects.matrix_instruction import LANES_N
from tilewright.dialects.tile.attributes import Level
from tilewright.passes.facts.matrix_product import digits_of

_COLUMNS = 2 * LANES_N
"""Columns of a tile of D."""


class HeldFragments(NamedTuple):
    """Values of a lane that are its elements of A."""

    value: SSAValue
    row: SSAValue
    """Register axis of both rows of a fragment."""
    column: SSAValue
    """Register axis of two adjacent columns."""
    tiles: Sequence[SSAValue]
    """Register axes that number the tiles of 8 columns, outermost first."""


def held_fragments(load: loop.LoadOp) -> HeldFragments | None:
    """
    Return the values of a lane that are the elements of A that `load` reads, or None if the lane
    does not hold them.
    """
    share, op = load.memref.owner, load.parent_op()
    if not isinstance(share, tile.ShareOp) or not isinstance(op, loop.ReduceOp):
        return None
    if op.instruction is None or op.instruction.fragments.element == f32:
        return None
    digits = digits_of(op)
    if isinstance(digits, str):
        return None
    (row, _), (lane, column) = digits
    tiles = _tiles(share, lane.value, column.value, op.extent.value.data)
    if tiles is None or not _reads_own_rows(load, share, op.axis):
        return None
    return HeldFragments(share.value, row.value, column.value, tiles)


def is_held_in_fragments(share: tile.ShareOp) -> bool:
    """True if all that is read of a slab is read as A by lanes that hold it."""
    loads = [use.operation for use in share.slab.uses]
    return all(isinstance(load, loop.LoadOp) and held_fragments(load) for load in loads)


def _tiles(
    share: tile.ShareOp, lane: SSAValue, column: SSAValue, steps: int
) -> list[SSAValue] | None:
    """
    Return the register axes that number the tiles of 8 columns of a slab; None if the columns of a
    lane are not `lane * 2 + column` in each tile, or if there are not as many columns as `steps`.
    """
    factors = _factors(share.map.data.results[-1], share.indices)
    if factors is None or factors.pop(lane, 0) != 2 or factors.pop(column, 0) != 1:
        return None
    tiles = sorted(factors, key=factors.__getitem__)
    stride = _COLUMNS
    for axis in tiles:
        if factors[axis] != stride or not _is_register(axis):
            return None
        stride *= extent_of(axis) or 1
    return tiles[::-1] if stride == steps else None


def _is_register(axis: SSAValue) -> bool:
    return isinstance(axis, BlockArgument) and tile.level_of(axis) is Level.REGISTER


def _reads_own_rows(load: loop.LoadOp, share: tile.ShareOp, k: SSAValue) -> bool:
    """True if `load` reads, at each step of `k`, the row that its thread shares."""
    if load.mask is not None or len(share.map.data.results) != 2:
        return False
    row, step = (_factors(expr, load.indices) for expr in load.map.data.results)
    shared = _factors(share.map.data.results[0], share.indices)
    return step == {k: 1} and row is not None and row == shared


def _factors(expr: AffineExpr, operands: Sequence[SSAValue]) -> dict[SSAValue, int] | None:
    """Return the factor of each operand in `expr`; None if it is no sum of their multiples."""
    found = sum_of(expr)
    if found.constant or not all(isinstance(atom, AffineDimExpr) for atom in found.terms):
        return None
    terms = [(a.position, n) for a, n in found.terms.items() if isinstance(a, AffineDimExpr)]
    return {operands[position]: factor for position, factor in terms}
