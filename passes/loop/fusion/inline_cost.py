# SPDX-License-Identifier: Apache-2.0
"""
The cost of inlining an elementwise kernel into its readers, against the cost of separate kernels.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import prod

from xdsl.dialects import arith

from tilewright.dialects import loop
from tilewright.dialects.target import Target
from tilewright.dialects.types import memref_type
from tilewright.passes.cost.instruction_costs import instructions
from tilewright.passes.facts.nest import FlatNest
from tilewright.passes.loop.fusion.fusion_cost import (
    MOST_INSTRUCTIONS,
    NEAR,
    Decision,
    Work,
    decide,
    fused,
    often,
    work_of,
)
from tilewright.passes.loop.fusion.op_counts import runs
from tilewright.passes.loop.launch_graph import is_temporary, loads_of, readers, writer
from tilewright.passes.loop.plan_index import FlatLaunch, PlanIndex


def cost_per_element(nest: FlatNest) -> int:
    """Return the number of instructions that compute one element, loads included."""
    return sum(instructions(op) for op in nest.body)


def place_of(load: loop.LoadOp) -> tuple[object, ...]:
    """Return a key that is equal for loads of one body that read the same element."""
    return load.parent, load.map, *load.indices, load.mask, *load.mask_operands


def inline_decision(
    plan: PlanIndex,
    inlined: FlatLaunch,
    consumers: list[loop.LaunchOp],
    target: Target,
    *,
    keeper: loop.LaunchOp | None = None,
    in_rows: bool = False,
) -> Decision:
    """
    Return the decision whether the consumers compute the elements of `inlined` themselves. The
    consumer `keeper` also writes them. With `in_rows` it does so in a separate loop, and computes
    each element once more.
    """
    (launch, kernel, nest), buffer = inlined, inlined.buffer
    producer = work_of(kernel, launch)
    elements = max(prod(memref_type(buffer).get_shape()), 1)
    joins = keeper is None or len(consumers) > 1  # else the reduction joins the keeper, too
    alone = _work_apart(plan, launch, producer) if joins else producer
    if _will_be_one_kernel(plan, consumers):  # with the reduction it would join
        alone = replace(alone, launches=1)
    apart, together = [alone], list[Work]()
    computed, is_weight = 0.0, _is_weight(nest)
    for consumer in consumers:
        reader = plan.kernel_of(consumer)
        assert reader is not None
        steps, loads = runs(reader), loads_of(reader, consumer, buffer)
        if cost_per_element(nest) * _most_in_a_body(loads) + len(steps) > MOST_INSTRUCTIONS:
            long = f"{reader.sym_name.data} would have more than {MOST_INSTRUCTIONS} instructions"
            return Decision(False, long)
        evaluations = sum({place_of(load): steps[load] for load in loads}.values())
        if is_weight:
            evaluations = min(evaluations, elements)
        apart.append(work := work_of(reader, consumer))
        kept = consumer is keeper
        evaluations += elements * (kept and in_rows)
        together.append(fused(producer, work, buffer, times=evaluations / elements, kept=kept))
        computed += evaluations
    what = f"recompute {often(computed / elements)} of {costliest(nest)} over {elements} elements"
    margin = NEAR if any(work.products for work in apart) else 1.0
    return decide(what, apart, together, target, margin=margin)


def _is_weight(nest: FlatNest) -> bool:
    """
    True if the nest computes weights of a softmax: `fuse-rows` and `fuse-online` may compute each
    once for all columns of a product. If they do not, `cut-recompute` takes it out again.
    """
    from tilewright.passes.loop.fusion.softmax_terms import weight_of

    value = nest.store.value
    while isinstance(value.owner, arith.TruncFOp | arith.ExtFOp):
        value = value.owner.input
    return weight_of(value, lambda shift: isinstance(shift.owner, loop.LoadOp)) is not None


def _work_apart(plan: PlanIndex, launch: loop.LaunchOp, work: Work) -> Work:
    """
    Return the work that the producer adds if it is not inlined. If the producer is the only reader
    of a reduction (a statistic of a row), it will join the reduction's kernel, which reads the row
    anyway.
    """
    for buffer in launch.inputs:
        host = writer(buffer)
        if host is None or not is_temporary(buffer) or readers(buffer) != [launch]:
            continue
        if plan.flat_launch(host, reduces=True) is not None:
            known = {buffer, *host.inputs}
            reads = {read: bytes for read, bytes in work.reads.items() if read not in known}
            return replace(work, reads=reads, launches=0)
    return work


def _will_be_one_kernel(plan: PlanIndex, consumers: Sequence[loop.LaunchOp]) -> bool:
    """
    True if fusion is expected to make one kernel of the consumers. The last must be elementwise;
    each other one must be a reduction whose result only the last reads.
    """
    *reductions, last = consumers
    if not reductions or plan.flat_launch(last, reduces=False) is None:
        return False
    return all(_joins(plan, reduction, last) for reduction in reductions)


def _joins(plan: PlanIndex, reduction: loop.LaunchOp, last: loop.LaunchOp) -> bool:
    if plan.flat_launch(reduction, reduces=True) is None:
        return False
    (result,) = reduction.outputs
    return is_temporary(result) and readers(result) == [last]


def costliest(nest: FlatNest) -> str:
    """
    Return the name of the op in the nest that takes the most instructions, and the instructions of
    an element: `powf (24 instructions)`.
    """
    computing = [op for op in nest.body if not isinstance(op, loop.LoadOp)]
    op = max(computing or nest.body, key=instructions, default=nest.store)
    return f"{op.name.partition('.')[2]} ({cost_per_element(nest)} instructions)"


def _most_in_a_body(loads: Sequence[loop.LoadOp]) -> int:
    """Return the largest number of different elements that `loads` read in one body."""
    bodies = Counter(load.parent for load in {place_of(load): load for load in loads}.values())
    return max(bodies.values(), default=0)
