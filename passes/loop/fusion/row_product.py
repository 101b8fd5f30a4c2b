# SPDX-License-Identifier: Apache-2.0
"""
Products of rows with columns that need a statistic of the rows, such as the total of softmax.

    loop.kernel @total(%weights) -> (%out) {
      loop.for %h in 8, %i in 128 { ... sum over %k of %weights[%h, %i, %k] }
    }
    loop.kernel @product(%weights, %total, %v) -> (%out) {
      loop.for %h in 8, %i in 128, %e in 64 {
        %0 = loop.reduce %k in 128 with add { ... %weights[%h, %i, %k] * %v[%h, %k, %e] }
        ... %0 / %total[%h, %i]
      }
    }

is a product whose rows are `%h, %i`, whose columns are `%e`, and whose weights are `%weights`.
"""

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr

from tilewright.dialects import loop
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.passes.facts.footprint import element_bytes
from tilewright.passes.facts.nest import FlatNest, Subscript, common_subscript, nest_block
from tilewright.passes.facts.roles import index_sources
from tilewright.passes.loop.fusion.shared_loads import readings
from tilewright.passes.loop.launch_graph import inputs_of, loads_of
from tilewright.passes.loop.plan_index import FlatLaunch


class RowProduct(NamedTuple):
    """
    A kernel that reduces rows once for each of several columns, and needs a statistic of these
    rows.
    """

    launch: loop.LaunchOp
    kernel: loop.KernelOp
    nest: FlatNest
    rows: Sequence[SSAValue]
    columns: Sequence[SSAValue]
    weights: Sequence[SSAValue]
    """Buffers of the rows that both the product and the statistic reduce."""

    @property
    def row_bytes(self) -> int:
        """Bytes of a row of the weights."""
        steps = max(op.axis_extents()[0] for op in _reductions(self.nest))
        return steps * max(map(element_bytes, self.weights))

    @property
    def is_batch(self) -> bool:
        """
        True if some load in the reductions varies with the columns and with the rows. Rows then
        belong to different products of a batch.
        """
        sources = [index_sources(load.indices) for load in _reduced_loads(self.nest)]
        return any(of.intersection(self.columns) and of.intersection(self.rows) for of in sources)


def row_product(statistic: FlatLaunch, reader: FlatLaunch) -> RowProduct | None:
    """
    Return `reader` as a row product if it reduces the rows of the statistic that it reads, or None.
    """
    launch, consumer, nest = reader
    subscript = common_subscript(loads_of(consumer, launch, statistic.buffer))
    axes = list(nest_block(consumer).args)
    if subscript is None or not set(subscript.indices) < set(axes):
        return None
    same = _correspondence(statistic, nest, subscript)
    of_statistic = readings(_reduced_loads(statistic.nest), same)
    of_product = readings(_reduced_loads(nest), inputs_of(consumer, launch))
    columns = [axis for axis in axes if axis not in subscript.indices]
    rows = [axis for axis in axes if axis in subscript.indices]
    weights = list(dict.fromkeys(what.memref for what in of_statistic if what in of_product))
    return RowProduct(launch, consumer, nest, rows, columns, weights) if weights else None


def _correspondence(
    statistic: FlatLaunch, nest: FlatNest, subscript: Subscript
) -> dict[SSAValue, SSAValue]:
    """
    Return a map from the statistic to its reader: kernel arguments to launched buffers, and axes to
    the axes of `nest` at which the reader loads the statistic (`subscript`).
    """
    launch, kernel, own = statistic
    same = inputs_of(kernel, launch)
    at_rows = own.axes_at(subscript.map.results, subscript.indices)
    same |= {a: i[e.position] for a, (e, i) in at_rows.items() if isinstance(e, AffineDimExpr)}
    for theirs in _reductions(own):
        same |= {theirs.axis: r.axis for r in _reductions(nest) if r.extent == theirs.extent}
    return same


def _reductions(nest: FlatNest) -> list[loop.ReduceOp]:
    return [op for op in nest.body if isinstance(op, loop.ReduceOp)]


def _reduced_loads(nest: FlatNest) -> list[loop.LoadOp]:
    return [op for r in _reductions(nest) for op in ops_in(r) if isinstance(op, loop.LoadOp)]
