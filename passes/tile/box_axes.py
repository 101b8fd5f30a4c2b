# SPDX-License-Identifier: Apache-2.0
"""
Slabs with an axis for each axis of the tensor that they are copied from.

    %xs = tile.stage (%k, %i) in [32, 256] ring(depth 3) {
      %0 = loop.load %x[%n, %k, %h + %i floordiv 128 - 1, %i mod 128] where [...]

becomes

    %xs = tile.stage (%k, %i, %i_1) in [32, 2, 128] ring(depth 3) {
      %0 = loop.load %x[%n, %k, %h + %i - 1, %i_1] where [...]

The slab holds the same elements in the same order, and is a box of the tensor. A step `%i` of the
slab counts positions in two rows of an image, in the order in which a convolution computes them.
"""

from collections.abc import Sequence
from itertools import pairwise

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from tilewright.dialects import loop, tile
from tilewright.dialects.index import delinearize, linearize
from tilewright.dialects.tile import SlabLayoutAttr
from tilewright.passes.facts.boxes import find_box
from tilewright.passes.facts.nest import quotients_of
from tilewright.passes.rewriting.simplify_accesses import simplify_accesses
from tilewright.passes.rewriting.substitution import Substitution

_DENSE = SlabLayoutAttr.get()


def reason_not_box(stage: tile.StageOp) -> str | None:
    """
    Reason why the load that fills the slab reads no box of its tensor, even if the slab gets an
    axis for each axis of the tensor; None if it reads one.
    """
    digits = _box_digits(stage)
    return digits if isinstance(digits, str) else None


def give_box_axes(stage: tile.StageOp, rewriter: PatternRewriter) -> tile.StageOp:
    """Give a slab that is a box an axis for each axis of its tensor, and return its stage."""
    digits = _box_digits(stage)
    assert not isinstance(digits, str)
    if _is_whole(digits):
        return stage
    split = _split(stage, digits)
    split.slab.name_hint = stage.slab.name_hint
    for use in [*stage.slab.uses]:
        assert isinstance(use.operation, loop.LoadOp)
        _replace_read(use.operation, split.slab, digits, rewriter)
    rewriter.replace(stage, split)
    return split


def _box_digits(stage: tile.StageOp) -> Sequence[Sequence[int]] | str:
    """
    Return the extents of the axes that each axis of the slab becomes, so that the slab is a box; or
    the reason why it is none.
    """
    load = stage.copied_load()
    assert load is not None
    reason = find_box(stage, load)
    if not isinstance(reason, str):
        return [[extent] for extent in stage.axis_extents()]
    digits = _digits(stage, load)
    is_read_only = all(isinstance(use.operation, loop.LoadOp) for use in stage.slab.uses)
    if not is_read_only or _is_whole(digits):
        return reason
    split = _split(stage, digits)
    copied = split.copied_load()
    assert copied is not None
    box = find_box(split, copied)
    split.erase()
    return box if isinstance(box, str) else digits


def _is_whole(digits: Sequence[Sequence[int]]) -> bool:
    return all(len(each) == 1 for each in digits)


def _replace_read(
    read: loop.LoadOp, slab: SSAValue, digits: Sequence[Sequence[int]], rewriter: PatternRewriter
) -> None:
    subscripts = zip(read.map.data.results, digits, strict=True)
    parts = [part for expr, extents in subscripts for part in delinearize(expr, extents)]
    new = loop.LoadOp(slab, (parts, read.indices), read.where)
    new.location = read.location
    new.result.name_hint = read.result.name_hint
    rewriter.insert(new, InsertPoint.before(read))
    rewriter.replace(read, [], [new.result])


def _digits(stage: tile.StageOp, load: loop.LoadOp) -> list[list[int]]:
    """
    Return for each axis of the slab the extents of the digits that subscripts take of it; the axis
    itself if they take no digits, or none that divide it. A slab with a layout keeps its axes.
    """
    quotients = [] if stage.layout != _DENSE else quotients_of(load)
    return [
        _extents(extent, [divisor for index, divisor in quotients if index is axis])
        for axis, extent in zip(stage.body.block.args, stage.axis_extents(), strict=True)
    ]


def _extents(extent: int, divisors: Sequence[int]) -> list[int]:
    bounds = sorted({extent, 1, *(divisor for divisor in divisors if divisor < extent)})[::-1]
    divides = all(outer % inner == 0 for outer, inner in pairwise(bounds))
    return [outer // inner for outer, inner in pairwise(bounds)] if divides else [extent]


def _split(stage: tile.StageOp, digits: Sequence[Sequence[int]]) -> tile.StageOp:
    """Return the stage with an axis for each digit of its axes; it is not in the IR."""
    extents = [extent for each in digits for extent in each]
    body, substitution = Block(arg_types=[IndexType()] * len(extents)), Substitution()
    args = iter(body.args)
    for axis, parts in zip(stage.body.block.args, digits, strict=True):
        new = [next(args) for _ in parts]
        for part in new:
            part.name_hint = axis.name_hint
        dims = [AffineExpr.dimension(at) for at in range(len(new))]
        substitution.indices[axis] = linearize(dims, parts), new
    body.add_ops(substitution.clone(op) for op in stage.body.block.ops)
    split = tile.StageOp(extents, Region(body), ring=stage.ring, transport=stage.transport_kind)
    split.location = stage.location
    simplify_accesses(split)  # only now do the axes have ranges
    return split
