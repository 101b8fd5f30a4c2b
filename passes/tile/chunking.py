# SPDX-License-Identifier: Apache-2.0
"""
A reduction done in chunks of its steps:

    %sum = loop.reduce %k in 65 with add { ... loop.yield %2 }

becomes, in chunks of 16,

    %sum = loop.reduce %ko in 5 with add {
      %chunk = loop.reduce %ki in 16 with add { ... loop.yield %2 where [64 - %ko * 16 - %ki] }
      loop.yield %chunk
    }

and without a mask where what is yielded is proved to be zero beyond the last step.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop
from tilewright.dialects.axes import Access
from tilewright.dialects.monoid import Monoid
from tilewright.passes.substitution import Substitution, conjunction
from tilewright.passes.tile.annihilation import vanishes_beyond

_OUTER, _INNER = AffineExpr.dimension(0), AffineExpr.dimension(1)


def chunked(op: loop.ReduceOp, length: int, names: tuple[str, str] = ("ko", "ki")) -> loop.ReduceOp:
    """What does the same as `op` in chunks of `length` steps, its axes by their `names`."""
    (steps,) = op.axis_extents()
    outer, inner = Block(arg_types=[IndexType()]), Block(arg_types=[IndexType()])
    outer.args[0].name_hint, inner.args[0].name_hint = names
    axes = [outer.args[0], inner.args[0]]
    step = _OUTER * length + _INNER
    substitution = Substitution(indices={op.axis: (step, axes)})
    bounds: list[Access] = []
    if steps % length:
        substitution.bounds[op.axis] = [step * -1 + (steps - 1)], axes
        bounds.append(substitution.bounds[op.axis])
    inner.add_ops(substitution.clone(i) for i in op.body.block.ops if i is not op.yield_op)
    inner.add_op(_yielded(op, substitution, bounds))
    chunk = loop.ReduceOp(length, op.monoid, Region(inner), unroll=op.is_unrolled)
    outer.add_ops([chunk, loop.YieldOp(chunk.results)])
    whole = loop.ReduceOp(-(-steps // length), op.monoid, Region(outer))
    for result, part, new in zip(op.results, chunk.results, whole.results, strict=True):
        part.name_hint, new.name_hint = "chunk", result.name_hint
    chunk.location = whole.location = op.location
    return whole


def _yielded(
    op: loop.ReduceOp, substitution: Substitution, bounds: Sequence[Access]
) -> loop.YieldOp:
    """What a step yields, masked beyond `bounds` unless it is zero there and that does no harm."""
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
