# SPDX-License-Identifier: Apache-2.0
"""
Splitting of a reduction into chunks of its steps:

    %sum = loop.reduce %k in 65 with add { ... loop.yield %2 }

becomes, in chunks of 16,

    %sum = loop.reduce %ko in 5 with add {
      %chunk = loop.reduce %ki in 16 with add { ... loop.yield %2 where [64 - %ko * 16 - %ki] }
      loop.yield %chunk
    }

The mask is left out if a sum adds values that are proved to be zero beyond the last step.

A reduction may also get more steps, which change nothing:

    %sum = loop.reduce %k in 40 with add { ... %q[%i, %k] * %keys[%j, %k] ... }

becomes, with 48 steps,

    %sum = loop.reduce %k in 48 with add {
      ... (%q[%i, %k] where [39 - %k]) * (%keys[%j, %k] where [39 - %k]) ...
    }
"""

from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilewright.dialects import loop
from tilewright.dialects.axes import Access
from tilewright.dialects.monoid import Monoid
from tilewright.passes.rewriting.substitution import Substitution, conjunction
from tilewright.passes.tile.annihilation import vanishes_beyond
from tilewright.passes.tile.step_bounds import bound_masked_steps

_OUTER, _INNER = AffineExpr.dimension(0), AffineExpr.dimension(1)


class ChunkReductions(RewritePattern):
    """
    Pattern that splits reductions into chunks, and bounds them where a mask hides whole chunks.
    """

    def __init__(
        self,
        lengths: Mapping[loop.ReduceOp, int],
        steps: Mapping[loop.ReduceOp, int] | None = None,
        slices: Mapping[loop.ReduceOp, int] | None = None,
    ):
        self.lengths = lengths
        self.steps = steps or {}
        """Steps of the reductions inside of those that are split, if they get more."""
        self.slices = slices or {}
        """Steps of the chunks of the reductions inside of those that are split."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.ReduceOp, rewriter: PatternRewriter) -> None:
        if op in self.lengths:
            for inner in [*op.body.walk()]:
                if isinstance(inner, loop.ReduceOp) and inner in self.slices:
                    rewriter.replace(inner, chunked(inner, self.slices[inner], ("do", "di")))
                elif isinstance(inner, loop.ReduceOp) and inner in self.steps:
                    rewriter.replace(inner, lengthened(inner, self.steps[inner]))
            whole = chunked(op, self.lengths[op])
            rewriter.replace(op, whole)
            bound_masked_steps(whole, rewriter)


def chunked(op: loop.ReduceOp, length: int, names: tuple[str, str] = ("ko", "ki")) -> loop.ReduceOp:
    """
    Return a reduction that is equal to `op`, in chunks of `length` steps. `names` are the names of
    the axis over chunks and of the axis within a chunk.
    """
    (steps,) = op.axis_extents()
    whole, chunk = op.begun(-(-steps // length), names[0]), op.begun(length, names[1])
    axes = [whole.axis, chunk.axis]
    _fill(chunk, op, (_OUTER * length + _INNER, axes), may_exceed=steps % length != 0)
    whole.body.block.add_ops([chunk, loop.YieldOp(chunk.results)])
    for part in chunk.results:
        part.name_hint = "chunk"
    return whole


def lengthened(op: loop.ReduceOp, steps: int) -> loop.ReduceOp:
    """Return a reduction that is equal to `op`, with `steps` steps; further ones change nothing."""
    new = op.begun(steps, op.axis.name_hint)
    _fill(new, op, (AffineExpr.dimension(0), [new.axis]), may_exceed=steps > op.axis_extents()[0])
    return new


def _fill(
    new: loop.ReduceOp,
    op: loop.ReduceOp,
    step: tuple[AffineExpr, Sequence[SSAValue]],
    *,
    may_exceed: bool,
) -> None:
    """
    Fill the body of `new` with that of `op` at `step`, which may exceed the last step of `op`.
    """
    new.unroll = op.unroll
    substitution = Substitution(indices={op.axis: step})
    bounds: list[Access] = []
    if may_exceed:
        expr, axes = step
        substitution.bounds[op.axis] = [expr * -1 + (op.axis_extents()[0] - 1)], axes
        bounds.append(substitution.bounds[op.axis])
    body = new.body.block
    body.add_ops(substitution.clone(i) for i in op.body.block.ops if i is not op.yield_op)
    body.add_op(_yielded(op, substitution, bounds))


def _yielded(
    op: loop.ReduceOp, substitution: Substitution, bounds: Sequence[Access]
) -> loop.YieldOp:
    """Return the yield of a step, masked beyond `bounds` unless a sum adds zeros there."""
    terminator = op.yield_op
    values = [substitution.value(value) for value in terminator.values]
    masks = [substitution.mask(terminator)]
    for bound in bounds:
        is_zero = all(vanishes_beyond(value, bound) for value in values)
        if op.monoid.data is not Monoid.ADD or not is_zero:
            masks.append(bound)
    masks.append(substitution.access(*op.done_where))
    new = loop.YieldOp(values, conjunction(masks))
    new.location = terminator.location
    return new
