# SPDX-License-Identifier: Apache-2.0
"""
Masks of steps that slabs can have in place of a reduction.

    %chunk = loop.reduce %ki in 16 with add {
      %0 = loop.load %ps[%tm, %ki]
      %1 = loop.load %vs[%ki, %tn]
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 where [76 - %ko * 16 - %ki] : f32
    }

A product of two zeros is zero, so that the yield needs no mask if both slabs are zero at the steps
that it excludes. The slab of a load with that mask is zero there already. Any other slab gets the
mask: `loop.yield ... where [76 - %ko * 16 - %k]` in its stage, with the coordinate of K.
"""

from collections.abc import Mapping, Sequence, Set

from xdsl.ir import Block, BlockArgument, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Access, conditions_of
from tilewright.dialects.tile.attributes import Level
from tilewright.dialects.tile.launch import launch_of, level_of


def slab_masks(
    op: loop.ReduceOp, loads: Sequence[loop.LoadOp]
) -> Mapping[tile.StageOp, Access] | None:
    """
    Return the masks that stages need so that the yield of `op` needs none, by stage; `loads` are
    the factors of its product, loaded from slabs. Return None if stages cannot have these masks.
    """
    if op.yield_op.mask is None:
        return {}
    if any(_differs_among_threads(operand) for operand in op.yield_op.mask_operands):
        return None
    found: dict[tile.StageOp, Access] = {}
    for load in loads:
        stage = load.memref.owner
        if not isinstance(stage, tile.StageOp):
            return None
        mask = _in_slab(op, load, stage)
        if mask is None:
            return None
        if not _is_masked(stage, mask):
            if not load.memref.has_one_use() or not _has_operands(stage, mask):
                return None
            found[stage] = mask
    return found


def is_masked_by(op: loop.ReduceOp, axes: Set[SSAValue]) -> bool:
    """
    True if the steps of `op` are masked by data or by one of `axes`. Threads will share these axes
    out, so that no slab can have the mask.
    """
    operands = () if op.yield_op.mask is None else op.yield_op.mask_operands
    return any(not isinstance(each, BlockArgument) or each in axes for each in operands)


def _has_operands(stage: tile.StageOp, mask: Access) -> bool:
    """True if the operands of a mask are axes of the stage, or of loops or the launch around it."""
    _, operands = mask
    return all(isinstance(v.owner, Block) and v.owner.is_ancestor(stage.yield_op) for v in operands)


def _differs_among_threads(value: SSAValue) -> bool:
    """True unless a value is an axis of blocks or of a reduction."""
    if not isinstance(value, BlockArgument):
        return True
    launch = launch_of(value)
    if launch is None:
        return not isinstance(value.owner.parent_op(), loop.ReduceOp)
    return level_of(value) is not Level.BLOCK


def _in_slab(op: loop.ReduceOp, load: loop.LoadOp, stage: tile.StageOp) -> Access | None:
    """
    Return the mask of the reduction in terms of the slab's coordinate of K, or None if the slab has
    no such coordinate.
    """
    where = op.yield_op.where
    assert where is not None
    if op.axis not in load.indices:
        return None
    step = AffineDimExpr([*load.indices].index(op.axis))
    using = [at for at, expr in enumerate(load.map.data.results) if step in _dims(expr)]
    if len(using) != 1 or load.map.data.results[using[0]] != step:
        return None
    exprs, operands = where
    coordinate = stage.body.block.args[using[0]]
    return exprs, [coordinate if operand is op.axis else operand for operand in operands]


def _dims(expr: AffineExpr) -> set[AffineDimExpr]:
    return {AffineDimExpr(position) for position in expr.used_dims()}


def _is_masked(stage: tile.StageOp, mask: Access) -> bool:
    """True if the slab holds a load, perhaps masked further, that is zero where `mask` fails."""
    load = stage.copied_load()
    return load is not None and conditions_of(mask) <= conditions_of(load.where)
