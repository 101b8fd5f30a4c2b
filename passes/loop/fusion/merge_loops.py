# SPDX-License-Identifier: Apache-2.0
"""
Merges two reductions of one body that take the same steps into one, which loads common elements
once.

    %s = loop.reduce %k in 64 with add {
      %0 = loop.load %x[%i, %k] ...
      %1 = loop.load %g[%k, %j] ...
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    %t = loop.reduce %k in 64 with add {
      ... %x[%i, %k] ... %u[%k, %j] ...

becomes

    %s, %t = loop.reduce %k in 64 with add {
      %0 = loop.load %x[%i, %k] ...
      %1 = loop.load %g[%k, %j] ...
      %2 = arith.mulf %0, %1 : f32
      %3 = loop.load %u[%k, %j] ...
      %4 = arith.mulf %0, %3 : f32
      loop.yield %2, %4 : f32, f32
    } : f32, f32

Merging is legal if the monoid joins each value by itself and both reductions have the same extent
and mask. Neither reduction may need the other, as the sum of softmax needs its maximum. Merging
pays if both read an element in common, as long as a thread can hold the accumulators.
"""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint

from tilewright.dialects import loop
from tilewright.dialects.axes import Access
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.passes.facts.footprint import element_bytes, elements_touched
from tilewright.passes.loop.fusion.fusion_cost import MOST_ACCUMULATORS, size
from tilewright.passes.loop.fusion.shared_loads import Reading, reading, readings
from tilewright.passes.loop.launch_graph import following, ops_between
from tilewright.passes.reporting.trace import Rule, decided, enclosing_symbol, rewriting, skipped
from tilewright.passes.rewriting.substitution import Substitution

RULE = Rule("f", 6, "merge_loops")


class MergeLoops(RewritePattern):
    """
    Pattern that merges a reduction with a later one in the same list of ops, so that one loop
    computes both.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.ReduceOp, rewriter: PatternRewriter) -> None:
        """Merge `op` with the first later reduction for which that is legal and pays."""
        kernel = enclosing_symbol(op)
        for other in (r for r in following(op) if isinstance(r, loop.ReduceOp)):
            place = _common_place(op, other)
            if kernel is None or place is None or not take_same_steps(op, other):
                continue
            if not (shared := _bytes_shared(op, other)):
                skipped(RULE, kernel, "its reductions have no element in common")
                continue
            values = len(op.results) + len(other.results)
            if values > MOST_ACCUMULATORS:
                registers = f"{values} values take too many registers in a matrix product"
                skipped(RULE, kernel, f"{registers}: reads {size(shared)} twice")
                continue
            decided(RULE, kernel, f"reduces {values} values at once: reads {size(shared)} once")
            with rewriting(RULE, kernel):
                _merge(rewriter, op, other, place)
            return


def take_same_steps(op: loop.ReduceOp, other: loop.ReduceOp) -> bool:
    """True if one loop can compute both reductions, neither of which contains a loop."""
    if op.monoid != other.monoid or not op.monoid.data.combines_each or op.extent != other.extent:
        return False
    if not all(loop.is_scalar(inner) for r in (op, other) for inner in r.body.block.ops):
        return False
    mine, theirs = op.yield_op, other.yield_op
    operands = [op.axis if value is other.axis else value for value in theirs.mask_operands]
    return mine.mask == theirs.mask and list(mine.mask_operands) == operands


def _common_place(op: loop.ReduceOp, other: loop.ReduceOp) -> Operation | None:
    """Return the one of the two reductions at whose place both can be computed, or None."""
    if all(_is_known_before(value, op) for value in _operands(other)):
        return op
    needed = set[SSAValue]().union(*map(_operands, (*ops_between(op, other), other)))
    return other if needed.isdisjoint(op.results) else None


def _operands(op: Operation) -> set[SSAValue]:
    """Return the values that `op` and the ops inside it use."""
    return {value for inner in ops_in(op) for value in inner.operands}


def _is_known_before(value: SSAValue, op: Operation) -> bool:
    """True if `value` is defined before `op`, or in another block than `op`."""
    owner = value.owner
    if isinstance(owner, Block) or owner.parent is not op.parent:
        return True
    return owner.is_before_in_block(op)


def _bytes_shared(op: loop.ReduceOp, other: loop.ReduceOp) -> int:
    """Return the number of bytes that both reductions read, at equal subscripts in each step."""
    theirs = _loads(other, op.axis)
    shared = [load for what, load in _loads(op).items() if what in theirs]
    return sum(elements_touched(load) * element_bytes(load.memref) for load in shared)


def _loads(op: loop.ReduceOp, axis: SSAValue | None = None) -> dict[Reading, loop.LoadOp]:
    """
    Return the loads in the body of `op` that vary with its step, by buffer, subscripts and mask. If
    `axis` is given, it stands for the axis of `op` in these keys.
    """
    loads = [i for i in op.body.block.ops if isinstance(i, loop.LoadOp) and op.axis in i.indices]
    return readings(loads, {op.axis: axis or op.axis})


def _merge(
    rewriter: PatternRewriter, op: loop.ReduceOp, other: loop.ReduceOp, place: Operation
) -> None:
    """Replace two reductions by one at `place` with the results of both."""
    body = Block(arg_types=[op.axis.type])
    body.args[0].name_hint = op.axis.name_hint
    values, where = _add_steps(body, op)
    more, _ = _add_steps(body, other)
    body.add_op(loop.YieldOp([*values, *more], where))
    merged = loop.ReduceOp(op.axis_extents()[0], op.monoid, Region(body))
    merged.location = op.location
    rewriter.insert(merged, InsertPoint.before(place))
    results = iter(merged.results)
    for reduction in (op, other):
        taken = [next(results) for _ in reduction.results]
        for old, new in zip(reduction.results, taken, strict=True):
            new.name_hint = old.name_hint
        rewriter.replace(reduction, [], taken)


def _add_steps(body: Block, op: loop.ReduceOp) -> tuple[list[SSAValue], Access | None]:
    """
    Clone a step of `op` into `body`, without loads that are there already. Returns its values and
    their mask.
    """
    substitution = Substitution({op.axis: body.args[0]})
    known = readings([i for i in body.ops if isinstance(i, loop.LoadOp)], {})
    for inner in op.body.block.ops:
        if inner is op.yield_op:
            continue
        if isinstance(inner, loop.LoadOp):
            same = known.get(reading(inner, substitution.values))
            if same is not None:
                substitution.values[inner.result] = same.result
                continue
        body.add_op(substitution.clone(inner))
    return [substitution.value(v) for v in op.yield_op.values], substitution.mask(op.yield_op)


class MergeLoopsPass(ModulePass):
    """Merge reductions of one body that take the same steps."""

    name = "merge-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Merge until no two reductions can be merged."""
        PatternRewriteWalker(MergeLoops()).rewrite_module(op)
