# SPDX-License-Identifier: Apache-2.0
"""
The cost of attention with long heads in one pass (`fuse-rows`, `fuse-scores`). Values have more
columns than a warp owns, or queries more elements than a block stages at once.

    loop.kernel @scores(%q, %keys) -> (%out) { ... }
    loop.kernel @product(%scores, %largest, %v) -> (%out) {
      loop.for %h in 8, %i in 128, %e in 320 {
        %0 = loop.reduce %k in 128 with add {
          ... exp(%scores[%h, %i, %k] - %largest[%h, %i]) * %v[%h, %k, %e]

In one pass, a block keeps the sums of its rows in registers, for all columns. With more columns it
has fewer rows, and loads each key and value more often: its products take longer in proportion. A
block owns at most `_MOST_COLUMNS`. Several blocks share the columns of longer rows: each reads
queries and keys, and computes all scores of its rows. Chunks of float32 keys and values leave no
memory to request others ahead: the time to move them is added to that of the arithmetic. The
alternative is to store the scores, which costs memory traffic.

Queries and keys are staged in slices if a block has no room for `_ROWS` of them, as in 1024
elements of a half type. Each chunk of keys then stages the queries again, and each slice has its
own barrier: the products of the scores take longer.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from tilewright.dialects import loop
from tilewright.dialects.axes import Role
from tilewright.dialects.target import Target
from tilewright.dialects.types import size_of
from tilewright.passes.facts.nest import needed_by, nest_block, steps_of
from tilewright.passes.facts.products import products_of
from tilewright.passes.facts.roles import axis_roles
from tilewright.passes.loop.fusion.fusion_cost import Decision, Work, decide, fused, often, work_of
from tilewright.passes.loop.fusion.row_product import RowProduct
from tilewright.passes.loop.launch_graph import inputs_of, is_temporary, writer
from tilewright.passes.loop.plan_index import FlatLaunch, PlanIndex

_MOST_COLUMNS, _MOST_OF_SLICES = 512, 1024
"""
Most columns that a block owns, and most if it computes scores in slices: computing these once more
takes longer than loading keys and values for fewer rows.
"""

MOST_COLUMNS_OF_WARP = 256
"""Most columns that a warp owns. Attention with at most as many is not slowed down."""

_ROWS = 128
"""
Rows of queries and of keys, together, that a block stages. With fewer rows it would load each of
them too often.
"""

_SLICED = 1.3
"""
Time of the products of scores in slices, relative to whole rows: by the clock of the machine code,
for 1024 elements of float16 with 64 columns.
"""

_SCORES_OF_BLOCK = 16 * 32
"""Fewest scores that a block computes in slices: of 16 queries and 32 keys."""


class Slicing(NamedTuple):
    """Cost of scores that are computed from slices of queries and keys."""

    longer: float
    """Factor by which their products take longer; 1 for whole queries and keys."""
    most_blocks: int | None
    """Most blocks that can share the scores, if that matters."""

    def __str__(self) -> str:
        return "" if self.longer == 1 else f", in slices that take {often(self.longer)} as long"

    def blocks_along(self, columns: int) -> int:
        """Return the number of blocks that share the columns of a row: each computes its scores."""
        most = _MOST_COLUMNS if self.longer == 1 else _MOST_OF_SLICES
        return -(-columns // most)

    def slowed(self, work: Work) -> Work:
        """Return the work of a kernel that computes the scores, spread over fewer blocks."""
        return replace(work, steps=min(work.steps, self.most_blocks or work.steps))


def slicing_of(scores: FlatLaunch, target: Target) -> Slicing:
    """
    Return the cost of computing scores in slices if a block has no room for whole queries and keys.
    """
    sums = [op for op in scores.nest.body if isinstance(op, loop.ReduceOp)]
    longest = max(map(_bytes_of_factor, sums), default=0)
    if _ROWS * longest <= target.shared_per_block:
        return Slicing(1.0, None)
    return Slicing(_SLICED, -(-steps_of(scores.nest.axes) // _SCORES_OF_BLOCK))


def _bytes_of_factor(op: loop.ReduceOp) -> int:
    """Return the bytes of the factors of the products that `op` adds, for one row or column."""
    factors = [f for product in products_of(op) for f in (product.left, product.right)]
    return op.axis_extents()[0] * max((size_of(factor.type) for factor in factors), default=0)


def computed_scores(product: RowProduct, plan: PlanIndex) -> FlatLaunch | None:
    """Return the launch of the product that computes the scores of `product`, or None."""
    buffers = inputs_of(product.kernel, product.launch)
    for op in product.nest.body:
        if not isinstance(op, loop.ReduceOp):
            continue
        needed, _ = needed_by([*op.body.block.ops], op.yield_op.values)
        for load in (each for each in needed if isinstance(each, loop.LoadOp)):
            buffer = buffers[load.memref]
            launch = writer(buffer) if is_temporary(buffer) else None
            found = None if launch is None else plan.flat_launch(launch, reduces=True)
            if found is not None and op.axis in load.indices:
                return found
    return None


def has_single_rows(product: RowProduct) -> bool:
    """True if each row of a product has keys and values of its own, as the query of one step."""
    return Role.M not in axis_roles(nest_block(product.kernel))


def decision_in_one_pass(
    product: RowProduct, scores: FlatLaunch, apart: Sequence[Work], together: Work, target: Target
) -> Decision:
    """
    Return the decision whether one kernel computes scores, their softmax and the product. The
    softmax and the product are `apart`, or `together` in a kernel that reads the scores.
    """
    columns = steps_of(product.columns)
    slicing = slicing_of(scores, target)
    blocks = slicing.blocks_along(columns)
    storing = work_of(scores.kernel, scores.launch)
    again = {buffer: bytes * blocks for buffer, bytes in storing.reads.items()}
    times = blocks * slicing.longer
    once = fused(replace(storing, reads=again), together, scores.buffer, times=times)
    once = slicing.slowed(once)
    longer = max(1.0, columns / blocks / MOST_COLUMNS_OF_WARP)
    if once.products:
        once = replace(once, products=once.products * longer)
    else:
        moving = once.bytes / target.bandwidth * target.flops / 2
        once = replace(once, instructions=once.instructions * longer + moving)
    stored = min(
        ([storing, *apart], [storing, together]),
        key=lambda form: sum(work.seconds(target) for work in form),
    )
    number = "once" if blocks == 1 else f"{blocks} times"
    what = f"compute scores {number} for {columns} columns{slicing}"
    what = f"{what}, with products {often(longer)} as long"
    return decide(what, stored, [once], target)
