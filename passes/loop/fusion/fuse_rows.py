# SPDX-License-Identifier: Apache-2.0
"""
Turns a product of rows with columns into one that goes row by row, where it needs a statistic of
the rows: as attention does, of which the softmax and the product with the values become one kernel.

    loop.kernel @total(%weights) -> (%out) {
      loop.for %h in 8, %i in 128 { ... sum over %k of %weights[%h, %i, %k] }
    }
    loop.kernel @product(%weights, %total, %v) -> (%out) {
      loop.for %h in 8, %i in 128, %e in 64 {
        %0 = loop.reduce %k in 128 with add { ... %weights[%h, %i, %k] * %v[%h, %k, %e] }
        ... %0 / %total[%h, %i]
      }
    }

becomes, when `%weights[%h, %i, %k]` is `exp(%s[%h, %i, %k] - %largest[%h, %i])`,

    loop.kernel @product(%s, %largest, %total, %v) -> (%out) {
      loop.for %h in 8, %i in 128 {
        loop.for %e in 64 {
          %0 = loop.reduce %k in 128 with add { ... exp(...) * %v[%h, %k, %e] }
          ... %0 / %total[%h, %i]
        }
      }
    }

and `@total` reads `%s` too. Then `fuse-reduction` computes `%largest` and `%total` once a row, in
this kernel: the columns share them.

Legal when the statistic is of what the product reduces,

* and one block can do all columns of a row: else each block of columns computes the statistic;
* and the row fits on chip, where the block keeps the weights (`stage-inputs`): each is computed
  once for all columns, and once for the statistic, and is never written;
* and it is a batch of products, each with rows of its own: in a single one, such as a linear layer,
  the columns are the side of a tile.

It pays when there are enough rows to keep the GPU busy: what a block loads for its row it shares
with no other (`fusion_cost`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from tilewright.dialects import loop
from tilewright.dialects.target import MOST_ROW_BYTES, Target
from tilewright.passes.facts.nest import steps_of
from tilewright.passes.loop.fusion.fusion_cost import Decision, decide, fused, size, work_of
from tilewright.passes.loop.fusion.fusion_decisions import accepted
from tilewright.passes.loop.fusion.inline_elementwise import inline_into
from tilewright.passes.loop.fusion.kernel_room import reason_not_fitting
from tilewright.passes.loop.fusion.row_block import row_block
from tilewright.passes.loop.fusion.row_product import RowProduct, row_product
from tilewright.passes.loop.plan import is_temporary, readers, reason_against_fusion, writer
from tilewright.passes.loop.plan_index import FlatLaunch, PlanIndex
from tilewright.passes.reporting.trace import Rule, rewriting, skipped
from tilewright.passes.targeted_pass import TargetedPass

RULE = Rule("f", 8, "fuse_rows")

_MOST_COLUMNS = 256
"""Columns of a row that one block does: as many as it has threads."""


@dataclass
class FuseRows(RewritePattern):
    """Let a product that needs a statistic of its rows go row by row."""

    plan: PlanIndex
    target: Target

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.LaunchOp, rewriter: PatternRewriter) -> None:
        """Match the launch of the statistic."""
        if not is_temporary(op.outputs[0]):
            return
        if (statistic := self.plan.flat_launch(op, reduces=True)) is None:
            return
        kernel = statistic.kernel
        for launch in readers(statistic.buffer):
            reader = self.plan.flat_launch(launch, reduces=True)
            product = None if reader is None else row_product(statistic, reader)
            if product is None:
                continue
            reason = reason_against_fusion(op, [launch], self.plan) or _reason_against(product)
            reason = reason or reason_not_fitting(op, [launch], self.plan, self.target)
            if reason is not None:
                skipped(RULE, kernel, reason)
                continue
            sources = list(self._sources(kernel, product))
            decision = _decision(statistic, product, sources, self.target)
            if not accepted(RULE, kernel, [product.kernel], decision):
                continue
            with rewriting(RULE, product.kernel, whole_module=True):
                row_block(rewriter, product.kernel, product.rows)
                for source in sources:
                    inline_into(rewriter, self.plan, source, readers(source.buffer))
            return

    def _sources(self, statistic: loop.KernelOp, product: RowProduct) -> Iterator[FlatLaunch]:
        """
        Yield the elementwise kernels that compute the weights, which their readers can instead.
        """
        for weights in filter(is_temporary, product.weights):
            launch = writer(weights)
            source = None if launch is None else self.plan.flat_launch(launch, reduces=False)
            if source is None:
                continue
            into = readers(weights)
            reason = reason_against_fusion(source.launch, into, self.plan)
            reason = reason or reason_not_fitting(source.launch, into, self.plan, self.target)
            if reason is not None:
                skipped(RULE, statistic, reason)
                continue
            yield source


def _reason_against(product: RowProduct) -> str | None:
    """Reason why the product keeps its columns, or None."""
    name = product.kernel.sym_name.data
    if (columns := steps_of(product.columns)) > _MOST_COLUMNS:
        return f"{name} has {columns} columns: a block that does a row does {_MOST_COLUMNS} at most"
    if (bytes := product.row_bytes) > MOST_ROW_BYTES:
        return f"a row of {size(bytes)} does not fit on chip: every column would compute it"
    if not product.is_batch:
        return f"{name} is one product for all rows: its columns are worth more in a tile"
    return None


def _decision(
    statistic: FlatLaunch, product: RowProduct, sources: Sequence[FlatLaunch], target: Target
) -> Decision:
    """
    Whether a block should do a row of the product, and its statistic; apart, the statistic joins
    the kernel that writes the weights.
    """
    reducing = work_of(statistic.kernel, statistic.launch)
    writing = [work_of(source.kernel, source.launch) for source in sources]
    apart = [replace(reducing, launches=0 if sources else 1), *writing]
    apart.append(work_of(product.kernel, product.launch))
    row = work_of(product.kernel, product.launch, product.rows)
    together = fused(reducing, row, statistic.buffer)
    for source, work in zip(sources, writing, strict=True):
        together = fused(work, together, source.buffer, times=2)
    what = f"{row.steps} row{'s' * (row.steps > 1)} of {steps_of(product.columns)} columns"
    return decide(what, apart, [together], target)


@dataclass(frozen=True)
class FuseRowsPass(TargetedPass):
    """Let products that need a statistic of their rows go row by row."""

    name = "fuse-rows"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Each product of the module."""
        plan = PlanIndex(op)
        plan.rewrite(FuseRows(plan, self.gpu))
