# SPDX-License-Identifier: Apache-2.0
"""
Rewrites subscripts and masks to canonical form, using the ranges of their axes.

    loop.for %i in 6, %j in 7 {
      %0 = loop.load %x[(%i * 7 + %j) floordiv 7, %j] where [41 - %i * 7 - %j] ...

becomes

    loop.for %i in 6, %j in 7 {
      %0 = loop.load %x[%i, %j] ...
"""

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import AffineMapAttr, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Access, MaskedOp, canonical_access, optional_mask
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.types import memref_type
from tilewright.passes.reporting.trace import Rule, TracedPattern

_SUBSCRIPTED = (loop.LoadOp, loop.StoreOp, loop.IndexOp, tile.ShareOp)

RULE = Rule("f", 4, "simplify_accesses")


class SimplifyAccesses(RewritePattern):
    """Pattern that rebuilds an op with canonical subscripts and a canonical mask."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """
        Replace `op` by its canonical form, if it has subscripts or a mask that are not canonical
        yet.
        """
        if (new := _simplified(op)) is not None:
            rewriter.replace(op, new)


def _simplified(op: Operation) -> Operation | None:
    """Return the op in canonical form, or None if it is canonical already."""
    new = None if _is_canonical(op) else _rebuilt(op)
    if new is not None:
        new.location = op.location
    return new


def _is_canonical(op: Operation) -> bool:
    if isinstance(op, loop.PredicateOp):
        operands, needed = optional_mask(_access(op.map, op.indices))
        exprs = () if needed is None else needed.data.results
        return exprs == op.map.data.results and operands == [*op.indices]
    if isinstance(op, MaskedOp):
        operands, mask = optional_mask(op.where)
        if mask != op.mask or operands != [*op.mask_operands]:
            return False
    if not isinstance(op, _SUBSCRIPTED):
        return True
    map, indices = canonical_access(op.map.data.results, op.indices)
    return map == op.map.data and indices == [*op.indices]


def _rebuilt(op: Operation) -> Operation | None:
    mask: Access | None = None
    if isinstance(op, MaskedOp) and op.mask is not None:
        mask = _access(op.mask, op.mask_operands)
    match op:
        case loop.LoadOp():
            return loop.LoadOp(op.memref, _access(op.map, op.indices), mask)
        case loop.StoreOp():
            return loop.StoreOp(op.value, op.memref, _access(op.map, op.indices), mask)
        case loop.YieldOp():
            return loop.YieldOp(op.values, mask)
        case tile.CombineOp():
            return tile.CombineOp(
                op.values, op.axes, op.monoid, mask, None if op.join is None else op.join.data
            )
        case tile.ShareOp():
            return tile.ShareOp(op.value, _access(op.map, op.indices), memref_type(op.slab))
        case loop.ToIndexOp():
            return loop.ToIndexOp(op.value, op.bound.value.data, mask)
        case loop.IndexOp():
            return loop.IndexOp(_access(op.map, op.indices), op.result.type)
        case loop.PredicateOp():
            return loop.PredicateOp(_access(op.map, op.indices))
        case _:
            return None


def _access(map: AffineMapAttr, operands: Sequence[SSAValue]) -> Access:
    return map.data.results, tuple(operands)


def simplify_accesses(scope: Operation, rewriter: PatternRewriter | None = None) -> None:
    """
    Simplify the accesses of `scope` in one walk; an optional `rewriter` is notified of the new ops.
    """
    for op in ops_in(scope):
        if (new := _simplified(op)) is not None:
            (rewriter or PatternRewriter(op)).replace(op, new)


class SimplifyAccessesPass(ModulePass):
    """Make subscripts and masks canonical."""

    name = "simplify-accesses"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Simplify all accesses in the module."""
        PatternRewriteWalker(TracedPattern(RULE, SimplifyAccesses())).rewrite_module(op)
