# SPDX-License-Identifier: Apache-2.0
"""
Products that can become one reduction with the softmax of their rows (`fuse-online`).

    loop.kernel @largest(%s) -> (%out) {
      loop.for %h in 8, %i in 128 { ... max over %k of %s[%h, %i, %k] }
    }
    loop.kernel @product(%s, %largest, %v) -> (%out) {
      loop.for %h in 8, %i in 128, %e in 64 {
        %0 = loop.reduce %k in 8200 with add {
          ... exp(%s[%h, %i, %k] - %largest[%h, %i]) * %v[%h, %k, %e]
        }
        ...
"""

from xdsl.ir import Operation, SSAValue

from tilewright.dialects import loop
from tilewright.passes.loop.fusion.row_product import RowProduct
from tilewright.passes.loop.fusion.softmax_terms import (
    Largest,
    Weight,
    largest_of,
    weighted_sum,
)
from tilewright.passes.loop.launch_graph import inputs_of, is_temporary, readers, writer
from tilewright.passes.loop.plan_index import FlatLaunch, PlanIndex
from tilewright.passes.loop.value_numbers import ValueNumbers
from tilewright.passes.rewriting.substitution import Substitution


def is_softmax_product(product: RowProduct, plan: PlanIndex) -> bool:
    """
    True if the weights of a product are exponentials of scores, less the largest score of a row
    that another kernel finds. The largest scores must serve no other purpose: they are not stored.
    """
    reductions = [op for op in product.nest.body if isinstance(op, loop.ReduceOp)]
    if len(reductions) != 1:
        return False
    found = weighted_sum(reductions[0], lambda value: isinstance(value.owner, loop.LoadOp))
    return (
        found is not None
        and found.factor is not None
        and _is_less_largest(found.op, found.weight, product, plan)
    )


def _is_less_largest(
    op: loop.ReduceOp, weight: Weight, product: RowProduct, plan: PlanIndex
) -> bool:
    """True if a weight in `op` subtracts the largest of the scores that `op` weighs."""
    load, buffers = weight.shift.owner, inputs_of(product.kernel, product.launch)
    assert isinstance(load, loop.LoadOp)
    statistic = _statistic(buffers[load.memref], plan)
    if statistic is None or not _serves_only(statistic.buffer, product.launch):
        return False
    nest = statistic.nest
    largest = next(filter(None, map(_largest, nest.body)), None)
    if largest is None or nest.store.value not in largest.shifts:
        return False
    axis = {largest.op.axis: op.axis}
    at_row = nest.axes_at(load.map.data.results, load.indices)
    own = ValueNumbers({}, Substitution(dict(buffers)))
    of_statistic = inputs_of(statistic.kernel, statistic.launch)
    theirs = own.under(Substitution({**of_statistic, **axis}, at_row))
    same = own.number(weight.score.value) == theirs.number(largest.score.value)
    return same and op.extent == largest.op.extent


def _statistic(buffer: SSAValue, plan: PlanIndex) -> FlatLaunch | None:
    launch = writer(buffer) if is_temporary(buffer) else None
    return None if launch is None else plan.flat_launch(launch, reduces=True)


def _serves_only(buffer: SSAValue, launch: loop.LaunchOp) -> bool:
    """True if only `launch` and launches for it use `buffer`."""
    if not is_temporary(buffer):
        return False
    others = [reader for reader in readers(buffer) if reader is not launch]
    return all(_serves_only(output, launch) for other in others for output in other.outputs)


def _largest(op: Operation) -> Largest | None:
    return largest_of(op) if isinstance(op, loop.ReduceOp) else None
