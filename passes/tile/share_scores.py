# SPDX-License-Identifier: Apache-2.0
"""
Shares the scores of a softmax reduction among the threads along the columns.

    tile.launch (%bm = block 2 m, %bn = block 1 n, %tm = thread 64 m, %tn = thread 64 n) {
      %max, %sum, %out = loop.reduce %ko in 2 below [%bm + 1] with softmax {
        %mc, %sc, %oc = loop.reduce %ki in 64 with softmax {
          %x = ... %scores[%bm * 64 + %tm, %ko * 64 + %ki] ...
          %v = loop.load %values[%ko * 64 + %ki, %tn]
          loop.yield %x, %one, %v where [%bm * 64 + %tm - %ko * 64 - %ki]
        }
        loop.yield %mc, %sc, %oc
      }

Each thread of a row computes all scores of the row. With `share-scores` it computes the score of
one key, and reads the weights of the others from shared memory:

      %max, %sum, %out = loop.reduce %ko in 2 below [%bm + 1] with softmax {
        %x = ... %scores[%bm * 64 + %tm, %ko * 64 + %tn] ...                %tn is a key
        %p = loop.predicate [%bm * 64 + %tm - %ko * 64 - %tn]
        %masked = arith.select %p, %x, %minus_infinity
        %mc = tile.combine %masked across %tn with max
        %finite = arith.maximumf %mc, %lowest                               -inf - -inf is NaN
        %weight = math.exp %masked - %finite
        %sc = tile.combine %weight across %tn with add
        %weights = tile.share %weight at [%tm, %tn]
        %oc = loop.reduce %kk in 64 with add {                              %tn is a column
          %v = loop.load %values[%ko * 64 + %kk, %tn]
          loop.yield %weights[%tm, %kk] * %v
        }
        loop.yield %mc, %sc, %oc
      }

A chunk of the outer reduction has the same element of the monoid in both programs. The values that
do not vary along the columns are summed by combines, all others by reductions over the keys.

A block may have more columns than a chunk has keys, or fewer. The number of threads along the
columns then divides both. Register axes count the columns and the keys of a thread: `%un * 64 +
%tn` is a column, and `%uk * 64 + %tn` a key.

With `slice`, the keys of a chunk are multiplied in slices: `%oc` is a sum of sums. Values of long
rows, such as 1024 elements, are then staged a few keys at a time.

A product is masked if its value may be NaN or infinite where the mask of the chunk fails. A value
that is 0 there needs no mask. With the flags `nnan` and `ninf`, nor does a key that a row leaves
out; the flags say nothing of steps beyond the last key. Weights of values of a half type are
rounded to this type if the reduction allows it (`weights`).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import gcd
from typing import ClassVar

from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Role
from tilewright.dialects.tile.attributes import Axis, Level
from tilewright.passes.facts.nest import nested_chunk, softmaxes_in
from tilewright.passes.reporting.trace import Rule
from tilewright.passes.rewriting.share_values import share_values
from tilewright.passes.tile.kernel_schedule import is_scheduled
from tilewright.passes.tile.rebind import NewAxis, Rebinding
from tilewright.passes.tile.scheduling_pass import SchedulingPass
from tilewright.passes.tile.shared_chunk import Key, SharedChunk


@dataclass(frozen=True)
class ShareScoresPass(SchedulingPass, RewritePattern):
    """Share the scores of a softmax reduction among the threads along the columns."""

    name = "share-scores"
    RULE: ClassVar[Rule] = Rule("t", 18, "share_scores")

    slice: int | None = None
    """Number of keys whose values are multiplied at once; by default all keys of a chunk."""

    def reason_against(self, launch: tile.LaunchOp) -> str | None:
        if is_scheduled(launch.kernel, self.name):
            return "its scores are shared already"
        wholes = softmaxes_in(launch.body.block)
        if not wholes:
            return "it has no reduction by softmax"
        if not launch.thread_axes():
            return "its axes are not split into blocks and threads (blockify-launch)"
        if sorted(axis.role for axis in launch.thread_axes()) != [Role.M, Role.N]:
            return "the threads of a block are no rectangle of rows and columns"
        if launch.axes_at(Level.REGISTER):
            return "each thread has several elements already"
        if tile.stages_of(launch):
            return "its operands are staged already"
        reasons = [reason_against_sharing(launch, whole) for whole in wholes]
        return next((reason for reason in reasons if reason is not None), None)

    def reason_not_possible(self, launch: tile.LaunchOp) -> str | None:
        chunks = [chunk for op in softmaxes_in(launch.body.block) if (chunk := nested_chunk(op))]
        keys = [chunk.axis_extents()[0] for chunk in chunks]
        if self.slice is None or all(self.slice > 0 and n % self.slice == 0 for n in keys):
            return None
        return f"{keys[0]} keys of a chunk are no slices of {self.slice}"

    @op_type_rewrite_pattern
    def match_and_rewrite(self, launch: tile.LaunchOp, rewriter: PatternRewriter) -> None:
        kernel = launch.kernel
        sharing = _Sharing(launch, self.slice)
        sharing.rebinding.finish(launch, rewriter, sharing.clone)
        share_values(kernel, rewriter)


def _along(launch: tile.LaunchOp, role: Role) -> list[Axis]:
    return [axis for axis in launch.thread_axes() if axis.role is role]


def reason_against_sharing(launch: tile.LaunchOp, whole: loop.ReduceOp) -> str | None:
    """Reason why the threads along the columns cannot share the scores of `whole`, or None."""
    chunk = nested_chunk(whole)
    if chunk is None:
        return "its reduction by softmax is not in chunks (chunk-matmul-k)"
    known: dict[Operation, frozenset[BlockArgument]] = {}
    columns = _along(launch, Role.N)[0].value
    bounds = (*whole.bound_operands, *chunk.bound_operands)
    used = (chunk.yield_op.values[0], *chunk.yield_op.mask_operands, *bounds)
    if any(columns in tile.value_varies_along(value, known) for value in used):
        return "its scores vary along the columns"
    if not _products(chunk, columns):
        return "no value that it weights varies along the columns"
    return None


def _products(chunk: loop.ReduceOp, columns: SSAValue) -> set[SSAValue]:
    """Return the values that a chunk weights and that vary along the columns."""
    known: dict[Operation, frozenset[BlockArgument]] = {}
    values = chunk.yield_op.values[1:]
    return {value for value in values if columns in tile.value_varies_along(value, known)}


class _Sharing:
    """Cloning of the ops of a launch whose threads share the scores of each chunk."""

    def __init__(self, launch: tile.LaunchOp, slice: int | None):
        self.slice = slice
        softmaxes = softmaxes_in(launch.body.block)
        self.chunks = {op: chunk for op in softmaxes if (chunk := nested_chunk(op))}
        ((self.rows,), (self.columns,)) = (_along(launch, role) for role in (Role.M, Role.N))
        lengths = dict.fromkeys(chunk.axis_extents()[0] for chunk in self.chunks.values())
        self.threads = gcd(self.columns.extent, *lengths)
        self.rebinding = Rebinding()
        self.substitution = self.rebinding.substitution
        for axis in launch.bound_axes():
            if axis != self.columns:
                self.rebinding.keep(axis)
                continue
            name = axis.value.name_hint or "tn"
            self._thread = self.rebinding.add(NewAxis(name, axis.level, self.threads, axis.role))
        column, parts = self._number("un", self.columns.extent)
        self.rebinding.substitute([self.columns], column, overruns=False)
        self.substitution.parts[self.columns.value] = parts
        self._keys = {length: self._number("uk", length) for length in lengths}

    def _number(self, name: str, extent: int) -> tuple[AffineExpr, list[SSAValue]]:
        """
        Return a number below `extent` that is made of the thread along the columns, and of a new
        register axis if there are fewer threads. Return also its axes.
        """
        thread = self.rebinding.body.args[self._thread.position]
        if extent == self.threads:
            return self._thread, [thread]
        axis = NewAxis(name, Level.REGISTER, extent // self.threads, Role.FREE)
        at = self.rebinding.add(axis) * self.threads + self._thread
        return at, [thread, self.rebinding.body.args[-1]]

    def clone(self, op: Operation) -> Iterable[Operation]:
        """Return the op that replaces `op`, which is in the body of the launch."""
        if isinstance(op, loop.ReduceOp) and op in self.chunks:
            return [self._shared(op, self.chunks[op])]
        return [self.substitution.clone(op)]

    def _shared(self, whole: loop.ReduceOp, chunk: loop.ReduceOp) -> loop.ReduceOp:
        """Return the reduction that replaces `whole`, with the scores of its chunks shared."""
        new = whole.begun(whole.axis_extents()[0], whole.axis.name_hint)
        bounds = (whole.start, whole.below)
        new.set_bounds(*(bound and self.substitution.access(*bound) for bound in bounds))
        self.substitution.values[whole.axis] = new.axis
        self.substitution.values.update(zip(whole.results, new.results, strict=True))
        body = new.body.block
        body.add_ops(
            self.substitution.clone(op)
            for op in whole.body.block.ops
            if op is not chunk and op is not whole.yield_op
        )
        row = self.substitution.value(self.rows.value)
        at, across = self._keys[chunk.axis_extents()[0]]
        key = Key(at, self.rebinding.body.args, across)
        shared = SharedChunk(chunk, body, self.substitution, row, key, self.slice)
        body.add_op(loop.YieldOp(shared.results(_products(chunk, self.columns.value))))
        return new
