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
* and the row fits on chip, where the block keeps the weights (`stage-rows`): each is computed once
  for all columns, and once for the statistic, and is never written;
* and it is a batch of products, each with rows of its own: in a single one, such as a linear layer,
  the columns are the side of a tile.

It pays when there are enough rows to keep the GPU busy: what a block loads for its row it shares
with no other (`fusion_cost`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from tilewright.dialects import loop
from tilewright.dialects.axes import extent_of
from tilewright.dialects.target import DEFAULT_TARGET, Target
from tilewright.dialects.target import target as target_named
from tilewright.passes.footprint import element_bytes
from tilewright.passes.index_sources import index_sources
from tilewright.passes.loop.fusion_cost import Decision, decide, fused, size, work_of
from tilewright.passes.loop.inline_elementwise import inline_into
from tilewright.passes.loop.nest import FlatNest, common_subscript, flat_nest, nest_block
from tilewright.passes.loop.plan import (
    erase_kernel,
    is_temporary,
    loads_of,
    obstacle,
    readers,
    writer,
)
from tilewright.passes.loop.plan_index import PlanIndex
from tilewright.passes.loop.row_block import row_block
from tilewright.passes.loop.shared_loads import readings
from tilewright.passes.trace import Rule, decided, rewriting, skipped

RULE = Rule("f", 8, "fuse_rows")

_MOST_COLUMNS = 256
"""Columns of a row that one block does: as many as it has threads."""

MOST_ROW_BYTES = 32 << 10
"""Bytes of a row that a block keeps on chip: so few leave an SM room for several blocks."""


class Product(NamedTuple):
    """A kernel that reduces the rows whose statistic it needs, for each of several columns."""

    launch: loop.LaunchOp
    kernel: loop.KernelOp
    nest: FlatNest
    rows: Sequence[SSAValue]
    columns: Sequence[SSAValue]
    weights: list[SSAValue]
    """What it reads of a row: the buffers that it shares with the statistic."""


class Source(NamedTuple):
    """An elementwise kernel that computes the weights."""

    launch: loop.LaunchOp
    kernel: loop.KernelOp
    nest: FlatNest
    buffer: SSAValue


@dataclass
class FuseRows(RewritePattern):
    """Let a product that needs a statistic of its rows go row by row."""

    plan: PlanIndex
    target: Target

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: loop.LaunchOp, rewriter: PatternRewriter) -> None:
        """Match the launch of the statistic."""
        kernel = self.plan.kernel_of(op)
        if kernel is None or (statistic := flat_nest(kernel)) is None or not statistic.reduces:
            return
        if not is_temporary(op.outputs[0]):
            return
        for reader in readers(op.outputs[0]):
            consumer = self.plan.kernel_of(reader)
            product = _product(op, kernel, statistic, reader, consumer)
            if product is None:
                continue
            if (reason := obstacle(op, [reader], self.plan) or _illegal(product)) is not None:
                skipped(RULE, kernel, reason)
                continue
            sources = list(self._sources(kernel, product))
            decision = _decision(op, kernel, product, sources, self.target)
            if not decision.pays:
                skipped(RULE, kernel, decision.reason)
                continue
            decided(RULE, kernel, decision.reason)
            with rewriting(RULE, product.kernel, whole_module=True):
                row_block(rewriter, product.kernel, product.rows)
                for source in sources:
                    _compute_where_read(rewriter, self.plan, source)
            return

    def _sources(self, statistic: loop.KernelOp, product: Product) -> Iterator[Source]:
        """The elementwise kernels that compute the weights, which their readers can instead."""
        for weights in filter(is_temporary, product.weights):
            launch = writer(weights)
            kernel = None if launch is None else self.plan.kernel_of(launch)
            if launch is None or kernel is None:
                continue
            if (nest := flat_nest(kernel)) is None or nest.reduces:
                continue
            if (reason := obstacle(launch, readers(weights), self.plan)) is not None:
                skipped(RULE, statistic, reason)
                continue
            yield Source(launch, kernel, nest, weights)


def _product(
    launch: loop.LaunchOp,
    kernel: loop.KernelOp,
    statistic: FlatNest,
    reader: loop.LaunchOp,
    consumer: loop.KernelOp | None,
) -> Product | None:
    """`reader`, which runs `consumer`, if it reduces the rows that the statistic is of."""
    if consumer is None or (nest := flat_nest(consumer)) is None or not nest.reduces:
        return None
    subscript = common_subscript(loads_of(consumer, reader, launch.outputs[0]))
    axes = list(nest_block(consumer).args)
    if subscript is None or not set(subscript.indices) < set(axes):
        return None
    same: dict[SSAValue, SSAValue] = dict(zip(kernel.inputs, launch.inputs, strict=True))
    at_rows = statistic.axes_at(subscript.map.results, subscript.indices)
    same |= {a: i[e.position] for a, (e, i) in at_rows.items() if isinstance(e, AffineDimExpr)}
    for theirs in _reductions(statistic):
        same |= {theirs.axis: r.axis for r in _reductions(nest) if r.extent == theirs.extent}
    inputs = dict[SSAValue, SSAValue](zip(consumer.inputs, reader.inputs, strict=True))
    of_statistic = readings(_reduced_loads(statistic), same)
    shared = of_statistic.keys() & readings(_reduced_loads(nest), inputs).keys()
    columns = [axis for axis in axes if axis not in subscript.indices]
    rows = [axis for axis in axes if axis in subscript.indices]
    weights = list(dict.fromkeys(what.memref for what in of_statistic if what in shared))
    return Product(reader, consumer, nest, rows, columns, weights) if weights else None


def _reductions(nest: FlatNest) -> list[loop.ReduceOp]:
    return [op for op in nest.body if isinstance(op, loop.ReduceOp)]


def _reduced_loads(nest: FlatNest) -> list[loop.LoadOp]:
    return [op for r in _reductions(nest) for op in r.walk() if isinstance(op, loop.LoadOp)]


def _illegal(product: Product) -> str | None:
    """Why the product keeps its columns."""
    name = product.kernel.sym_name.data
    if (columns := _steps(product.columns)) > _MOST_COLUMNS:
        return f"{name} has {columns} columns: a block that does a row does {_MOST_COLUMNS} at most"
    if (bytes := _row_bytes(product)) > MOST_ROW_BYTES:
        return f"a row of {size(bytes)} does not fit on chip: every column would compute it"
    if not any(_varies(load, product) for load in _reduced_loads(product.nest)):
        return f"{name} is one product for all rows: its columns are worth more in a tile"
    return None


def _row_bytes(product: Product) -> int:
    steps = max(op.axis_extents()[0] for op in _reductions(product.nest))
    return steps * max(map(element_bytes, product.weights))


def _varies(load: loop.LoadOp, product: Product) -> bool:
    """Whether a factor varies with the columns and, from product to product, with the rows."""
    sources = index_sources(load.indices)
    return not sources.isdisjoint(product.columns) and not sources.isdisjoint(product.rows)


def _steps(axes: Sequence[SSAValue]) -> int:
    return prod(extent_of(axis) or 1 for axis in axes)


def _decision(
    launch: loop.LaunchOp,
    kernel: loop.KernelOp,
    product: Product,
    sources: Sequence[Source],
    target: Target,
) -> Decision:
    """
    Whether a block should do a row of the product, and its statistic; apart, the statistic joins
    the kernel that writes the weights.
    """
    statistic = work_of(kernel, launch)
    writing = [work_of(source.kernel, source.launch) for source in sources]
    apart = [replace(statistic, launches=0 if sources else 1), *writing]
    apart.append(work_of(product.kernel, product.launch))
    row = work_of(product.kernel, product.launch, product.rows)
    together = fused(statistic, row, launch.outputs[0])
    for source, work in zip(sources, writing, strict=True):
        together = fused(work, together, source.buffer, times=2)
    what = f"{row.steps} row{'s' * (row.steps > 1)} of {_steps(product.columns)} columns"
    return decide(what, apart, [together], target)


def _compute_where_read(rewriter: PatternRewriter, plan: PlanIndex, source: Source) -> None:
    """Inline what computes an element of the weights."""
    launch, kernel, nest, weights = source
    for reader in readers(weights):
        inline_into(rewriter, plan, launch, kernel, nest, reader, weights)
    rewriter.erase(launch)
    erase_kernel(rewriter, kernel, weights)


@dataclass(frozen=True)
class FuseRowsPass(ModulePass):
    """Let products that need a statistic of their rows go row by row."""

    name = "fuse-rows"

    target: str = DEFAULT_TARGET
    """The GPU whose times are compared."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Each product of the module."""
        plan = PlanIndex(op)
        plan.rewrite(FuseRows(plan, target_named(self.target)))
