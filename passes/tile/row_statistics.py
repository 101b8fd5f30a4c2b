# SPDX-License-Identifier: Apache-2.0
"""
Shares the statistics of rows in a contraction that is parted into blocks: what is reduced for each
row alone, such as the maximum and the sum of attention's scores. All threads along the columns
would compute it alike.

    tile.launch (..., %tm = thread 16 m, %tn = thread 16 n) {
      %max = loop.reduce %k in 512 with max { ... %scores[%tm, %k] ... }

becomes

      %p = loop.reduce %k in 32 with max { ... %scores[%tm, %k * 16 + %tn] ... }
      %max = tile.combine %p across %tn with max : f32

as far as the mask of the yield lets any of them join (`step_bounds.py`).
"""

from xdsl.ir import BlockArgument, Operation
from xdsl.pattern_rewriter import PatternRewriter

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Role
from tilewright.dialects.tile import varies_along
from tilewright.dialects.tile.attributes import Axis
from tilewright.passes.rewriting.substitution import Substitution
from tilewright.passes.tile.dealing import Dealing, is_shared
from tilewright.passes.tile.step_bounds import leave_out_masked_steps


def statistics(launch: tile.LaunchOp) -> list[tuple[loop.ReduceOp, Axis]]:
    """What threads along an axis of columns all reduce alike, and that axis."""
    columns = [a for a in launch.thread_axes() if a.role is Role.N and a.extent > 1]
    if len(columns) != 1:
        return []
    reductions = [op for op in launch.body.block.ops if isinstance(op, loop.ReduceOp)]
    known: dict[Operation, frozenset[BlockArgument]] = {}
    alike = [op for op in reductions if columns[0].value not in varies_along(op, known)]
    return [(op, columns[0]) for op in alike if is_shared(op)]


def share_statistics(launch: tile.LaunchOp, rewriter: PatternRewriter) -> None:
    """Deal them out to the threads along the columns."""
    for op, axis in statistics(launch):
        substitution = Substitution()
        dealt = [*Dealing(substitution, axis.extent, axis.value).clone(op)]
        results = [substitution.value(result) for result in op.results]
        rewriter.replace(op, dealt, results)
        for part in (part for part in dealt if isinstance(part, loop.ReduceOp)):
            leave_out_masked_steps(part)
