# SPDX-License-Identifier: Apache-2.0
"""
Makes a product of rows with columns work row by row if it needs a statistic of the rows. In
attention, softmax and the product with the values thereby become one kernel.

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

and `@total` reads `%s` too. Then `fuse-reduction` computes `%largest` and `%total` once per row in
this kernel, for all columns.

The rewrite is legal if the statistic is of the rows that the product reduces, and if

* one block can compute all columns of a row: otherwise each block would repeat the statistic;
* the row fits on chip, where the block keeps the weights (`stage-inputs`): each weight is computed
  once for all columns, and once for the statistic, and is never written;
* the product is a batch of products, each with rows of its own: in a single product, such as a
  linear layer, the columns are better used as the side of a tile.

The rewrite pays if there are enough rows to keep the GPU busy, because a block shares its loads
with no other block (`fusion_cost`).

With `online`, a softmax and its product will become one reduction in a tile of rows and columns
(`fuse-online`). It keeps no row on chip, and shares its loads as other products do. Many columns
pay only if the scores are computed in the same pass (`wide_attention`). A last step with a value of
its own, as a sink, is first taken out of the statistics (`peel-last-step`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from tilewright.dialects import loop
from tilewright.dialects.faster_xdsl.walk import ops_in, rewrite_each
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.target import MOST_ROW_BYTES, Target
from tilewright.passes.facts.nest import steps_of
from tilewright.passes.loop.fusion.fusion_cost import Decision, decide, fused, size, work_of
from tilewright.passes.loop.fusion.fusion_decisions import accepted
from tilewright.passes.loop.fusion.inline_elementwise import inline_into
from tilewright.passes.loop.fusion.kernel_room import reason_not_fitting
from tilewright.passes.loop.fusion.row_block import row_block
from tilewright.passes.loop.fusion.row_product import RowProduct, row_product
from tilewright.passes.loop.fusion.softmax_rows import is_softmax_product
from tilewright.passes.loop.fusion.wide_attention import (
    computed_scores,
    decision_in_one_pass,
    has_single_rows,
)
from tilewright.passes.loop.launch_graph import is_temporary, readers, reason_against_fusion, writer
from tilewright.passes.loop.peel_last_step import PeelLastSteps
from tilewright.passes.loop.plan_index import FlatLaunch, PlanIndex
from tilewright.passes.reporting.trace import Rule, rewriting, skipped
from tilewright.passes.targeted_pass import TargetedPass

RULE = Rule("f", 8, "fuse_rows")

MOST_COLUMNS = 256
"""Most columns of a row that one block computes: one per thread."""


@dataclass
class FuseRows(RewritePattern):
    """Pattern that makes a product work row by row if it needs a statistic of its rows."""

    plan: PlanIndex
    target: Target
    online: bool

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.LaunchOp, rewriter: PatternRewriter) -> None:
        """
        Rewrite the first product for which that pays, among the readers of the statistic that `op`
        computes.
        """
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
            online = self.online and is_softmax_product(product, self.plan)
            reason = reason_against_fusion(op, [launch], self.plan)
            reason = reason or _reason_against(product, self.plan, online=online)
            reason = reason or reason_not_fitting(op, [launch], self.plan, self.target)
            if reason is not None:
                skipped(RULE, kernel, reason)
                continue
            sources = list(self._sources(kernel, product))
            if not product.rows and not sources:
                continue  # a single row has no axis: the product is row by row already
            decision = _decision(statistic, product, sources, self, online=online)
            if not accepted(RULE, kernel, [product.kernel], decision):
                continue
            with rewriting(RULE, product.kernel, whole_module=True):
                row_block(rewriter, product.kernel, product.rows)
                for source in sources:
                    inline_into(rewriter, self.plan, source, readers(source.buffer))
            return

    def _sources(self, statistic: loop.KernelOp, product: RowProduct) -> Iterator[FlatLaunch]:
        """Yield the elementwise launches of the weights that can be inlined into their readers."""
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


def _reason_against(product: RowProduct, plan: PlanIndex, *, online: bool) -> str | None:
    """Reason why the product cannot work row by row, or None."""
    name = product.kernel.sym_name.data
    columns = steps_of(product.columns)
    if online and columns <= MOST_COLUMNS:
        return None
    if online and has_single_rows(product):
        return f"{name} has {columns} columns of single rows, which blocks share"
    if online and computed_scores(product, plan) is not None:
        return None
    if columns > MOST_COLUMNS:
        return f"{name} has {columns} columns: a block computes at most {MOST_COLUMNS}"
    if (bytes := product.row_bytes) > MOST_ROW_BYTES:
        return f"a row of {size(bytes)} does not fit on chip: every column would recompute it"
    if not product.is_batch:
        return f"{name} is one product for all rows: its columns are better used in a tile"
    return None


def _decision(
    statistic: FlatLaunch,
    product: RowProduct,
    sources: Sequence[FlatLaunch],
    pattern: FuseRows,
    *,
    online: bool,
) -> Decision:
    """
    Return the decision whether a block computes a row of the product and its statistic. In the
    alternative, the statistic joins the kernel that writes the weights. With `online`, blocks are
    tiles, and compute each weight once. With many columns they also compute the scores.
    """
    reducing = work_of(statistic.kernel, statistic.launch)
    writing = [work_of(source.kernel, source.launch) for source in sources]
    apart = [replace(reducing, launches=0 if sources else 1), *writing]
    apart.append(work_of(product.kernel, product.launch))
    row = work_of(product.kernel, product.launch, () if online else product.rows)
    together = fused(reducing, row, statistic.buffer)
    for source, work in zip(sources, writing, strict=True):
        together = fused(work, together, source.buffer, times=1 if online else 2)
    scores = computed_scores(product, pattern.plan) if online else None
    if scores is not None and steps_of(product.columns) > MOST_COLUMNS:
        return decision_in_one_pass(product, scores, apart, together, pattern.target)
    rows = steps_of(product.rows)
    what = f"{rows} row{'s' * (rows > 1)} of {steps_of(product.columns)} columns"
    return decide(what, apart, [together], pattern.target)


def _finds_maximum(op: Operation) -> bool:
    return isinstance(op, loop.ReduceOp) and op.monoid.data is Monoid.MAX


@dataclass(frozen=True)
class FuseRowsPass(TargetedPass):
    """Make products that need a statistic of their rows work row by row."""

    name = "fuse-rows"

    online: bool = False
    """True if a later pass makes one reduction of a softmax and its product (`fuse-online`)."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite each product of the module for which that pays."""
        if self.online and any(map(_finds_maximum, ops_in(op))):
            rewrite_each(op, PeelLastSteps(), loop.KernelOp)
        plan = PlanIndex(op)
        plan.rewrite(FuseRows(plan, self.gpu, self.online))
