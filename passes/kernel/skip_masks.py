# SPDX-License-Identifier: Apache-2.0
"""
Masks values in registers only in the steps of a loop in which the mask hides some of them.

    scf.for %ko = %0 to %end step %1 {
      ...
      kernel.unroll %i in 4 {
        %x = loop.load %scores[%i] : memref<4xf32, 5 : i64>
        %visible = loop.predicate [%b * 64 + %t - %ko * 4 - %i] : i1
        %masked = arith.select %visible, %x, %minus_infinity : f32
        loop.store %masked, %r[%i] : memref<4xf32, 5 : i64>
      }

becomes, in a block of 64 threads,

      kernel.unroll %i in 4 {
        %x = loop.load %scores[%i] : memref<4xf32, 5 : i64>
        loop.store %x, %r[%i] : memref<4xf32, 5 : i64>
      }
      %hides = loop.predicate [2 + %ko * 4 - %b * 64] : i1
      scf.if %hides {
        kernel.unroll %i in 4 {
          loop.store %minus_infinity, %r[%i] where [%ko * 4 + %i - %b * 64 - %t - 1] : ...
        }
      }

The condition is the same for all threads of a block. It is false in the steps whose keys come
before a causal diagonal, or lie inside of a window: only steps that an edge crosses compare and
select. A mask of several expressions becomes one branch for each of them.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilewright.dialects import kernel, loop
from tilewright.dialects.axes import Access
from tilewright.dialects.faster_xdsl.walk import rewrite_each
from tilewright.dialects.kernel.registers import RegistersOp, UnrollOp
from tilewright.passes.facts.extremes import extreme
from tilewright.passes.reporting.trace import Rule, rewriting, skipped
from tilewright.passes.rewriting.substitution import Substitution

RULE = Rule("k", 14, "skip_masks")


class _Masked(NamedTuple):
    """A store to registers of a value that a mask hides."""

    store: loop.StoreOp
    select: arith.SelectOp
    mask: loop.PredicateOp

    @property
    def where(self) -> Access:
        """Mask under which the value is visible."""
        return self.mask.map.data.results, self.mask.indices


def _masked(nest: UnrollOp) -> Iterator[_Masked]:
    """Yield the stores of values in `nest` that a mask replaces by a constant."""
    for op in nest.body.block.ops:
        if not isinstance(op, loop.StoreOp) or op.mask is not None or not _is_last(op, nest):
            continue
        select = op.value.owner
        if not isinstance(select, arith.SelectOp) or not select.result.has_one_use():
            continue
        mask, hidden = select.cond.owner, select.rhs.owner
        if isinstance(mask, loop.PredicateOp) and isinstance(hidden, arith.ConstantOp):
            yield _Masked(op, select, mask)


def _is_last(op: loop.StoreOp, nest: UnrollOp) -> bool:
    """True if `op` stores to registers that no other op of `nest` touches."""
    users = [use.operation for use in op.memref.uses if nest.is_ancestor(use.operation)]
    return isinstance(op.memref.owner, RegistersOp) and users == [op]


def _varies(nest: UnrollOp) -> Callable[[SSAValue], bool]:
    """Return a predicate for the indices that differ between steps of `nest`, or threads."""

    def varies(index: SSAValue) -> bool:
        if isinstance(index, BlockArgument):
            return index.owner is nest.body.block
        op = index.owner
        if isinstance(op, kernel.IndexOp):
            return any(map(varies, op.indices))
        return isinstance(op, kernel.ThreadIdOp) or op.parent is nest.body.block

    return varies


def _hiding(masked: _Masked, nest: UnrollOp) -> list[AffineExpr] | str:
    """
    Return expressions, one for each of the mask, that are at least 0 in the steps of a loop in
    which the expression of the mask is negative for any thread; or the reason why there are none.
    """
    exprs, operands = masked.where
    varies = _varies(nest)
    made_by = (value.owner for value in operands)
    if any(isinstance(op, Operation) and op.parent is nest.body.block for op in made_by):
        return "an index of the mask is computed for each value"
    least = [extreme(expr, operands, varies, is_last=False) for expr in exprs]
    steps = [at for at, value in enumerate(operands) if _is_step(value)]
    hiding = [expr * -1 - 1 for expr in least if expr is not None]
    if len(hiding) < len(exprs):
        return "no bound of its mask is known"
    if any(expr.used_dims().isdisjoint(steps) for expr in hiding):
        return "the mask is the same in all steps of a loop"
    return hiding


def _is_step(index: SSAValue) -> bool:
    """True if `index` is the step of a loop, or computed from one."""
    if isinstance(index.owner, kernel.IndexOp):
        return any(map(_is_step, index.owner.indices))
    return isinstance(index, BlockArgument) and isinstance(index.owner.parent_op(), scf.ForOp)


class _SkipMasks(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: UnrollOp, rewriter: PatternRewriter) -> None:
        for masked in [*_masked(op)]:
            function = kernel.function_of(op)
            hiding = _hiding(masked, op)
            if isinstance(hiding, str):
                skipped(RULE, function, hiding)
                continue
            with rewriting(RULE, function):
                _rewrite(op, masked, hiding, rewriter)


def _rewrite(
    nest: UnrollOp, masked: _Masked, hiding: Sequence[AffineExpr], rewriter: PatternRewriter
) -> None:
    """Store the values without the mask, and then the constant where the mask hides them."""
    exprs, operands = masked.where
    place = InsertPoint.after(nest)
    for expr, hides in zip(exprs, hiding, strict=True):
        condition = loop.PredicateOp(([hides], operands))
        condition.result.name_hint = "hides"
        body = Block([_hidden_stores(nest, masked, expr * -1 - 1), scf.YieldOp()])
        branch = scf.IfOp(condition.result, (), Region(body))
        for op in (condition, branch):
            op.location = masked.store.location
        rewriter.insert([condition, branch], place)
        place = InsertPoint.after(branch)
    rewriter.replace(masked.select, [], [masked.select.lhs])
    if not masked.mask.result.uses:
        rewriter.erase(masked.mask)


def _hidden_stores(nest: UnrollOp, masked: _Masked, hidden: AffineExpr) -> UnrollOp:
    """Return a nest that stores the constant wherever `hidden` is at least 0."""
    body = Block(arg_types=[axis.type for axis in nest.body.block.args])
    values = dict[SSAValue, SSAValue](zip(nest.body.block.args, body.args, strict=True))
    for old, new in values.items():
        new.name_hint = old.name_hint
    substitution, store = Substitution(values), masked.store
    constant = masked.select.rhs.owner
    assert isinstance(constant, Operation)
    new = UnrollOp(nest.axis_extents(), Region(body))
    body.add_op(number := substitution.clone(constant))
    at = substitution.access(store.map.data.results, store.indices)
    where = substitution.access([hidden], masked.mask.indices)
    body.add_op(loop.StoreOp(number.results[0], store.memref, at, where))
    new.location = store.location
    return new


class SkipMasksPass(ModulePass):
    """Mask values in registers only in steps of a loop in which the mask hides some."""

    name = "skip-masks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Move the masks of values in registers into branches, in the module's kernels."""
        for function in [f for f in op.ops if isinstance(f, kernel.FuncOp)]:
            rewrite_each(function, _SkipMasks(), UnrollOp)
