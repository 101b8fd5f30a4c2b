# SPDX-License-Identifier: Apache-2.0
"""
The cost of attention whose values have more columns than a warp owns (`fuse-rows`, `fuse-scores`).

    loop.kernel @scores(%q, %keys) -> (%out) { ... }
    loop.kernel @product(%scores, %largest, %v) -> (%out) {
      loop.for %h in 8, %i in 128, %e in 320 {
        %0 = loop.reduce %k in 128 with add {
          ... exp(%scores[%h, %i, %k] - %largest[%h, %i]) * %v[%h, %k, %e]

In one pass, a block keeps the sums of its rows in registers, for all columns. With more columns it
has fewer rows, and loads each key and value more often: its products take longer in proportion. A
block owns at most `MOST_COLUMNS`. Several blocks share the columns of longer rows: each reads
queries and keys, and computes all scores of its rows. Chunks of float32 keys and values leave no
memory to request others ahead: the time to move them is added to that of the arithmetic. The
alternative is to store the scores, which costs memory traffic.
"""

from collections.abc import Sequence
from dataclasses import replace

from tilewright.dialects import loop
from tilewright.dialects.axes import Role
from tilewright.dialects.target import Target
from tilewright.passes.facts.nest import needed_by, nest_block, steps_of
from tilewright.passes.facts.roles import axis_roles
from tilewright.passes.loop.fusion.fusion_cost import Decision, Work, decide, fused, often, work_of
from tilewright.passes.loop.fusion.row_product import RowProduct
from tilewright.passes.loop.launch_graph import inputs_of, is_temporary, writer
from tilewright.passes.loop.plan_index import FlatLaunch, PlanIndex

MOST_COLUMNS = 512
"""Most columns that a block owns."""

MOST_COLUMNS_OF_WARP = 256
"""Most columns that a warp owns. Attention with at most as many is not slowed down."""


def blocks_along(columns: int) -> int:
    """Return the number of blocks that share the columns of a row: each computes its scores."""
    return -(-columns // MOST_COLUMNS)


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
    blocks = blocks_along(columns)
    storing = work_of(scores.kernel, scores.launch)
    again = {buffer: bytes * blocks for buffer, bytes in storing.reads.items()}
    once = fused(replace(storing, reads=again), together, scores.buffer, times=blocks)
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
    times = "once" if blocks == 1 else f"{blocks} times"
    what = f"compute scores {times} for {columns} columns, with products {often(longer)} as long"
    return decide(what, stored, [once], target)
