# SPDX-License-Identifier: Apache-2.0
"""
Proof that scores are minus infinity where a condition fails, because their kernel stores it there.

    loop.kernel @scores(...) -> (%out: memref<37x65xf32>) {
      loop.for %i in 37, %l in 65 {
        ...
        %1 = loop.predicate [%i - %l] : i1
        %2 = arith.select %1, %0, %minus_infinity : f32
        loop.store %2, %out[%i, %l] : memref<37x65xf32>
      }
    }

A load of `[%j, %k]` from the buffer that the kernel writes is minus infinity unless `%j - %k` is at
least 0.
"""

from math import inf

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from tilewright.dialects import loop
from tilewright.dialects.element_types import is_constant
from tilewright.passes.facts.nest import subscripted_dims
from tilewright.passes.loop.launch_graph import (
    holds_one_value,
    inputs_of,
    reason_against_fusion,
    writer,
)
from tilewright.passes.loop.plan_index import PlanIndex
from tilewright.passes.loop.value_numbers import Condition, ValueNumbers
from tilewright.passes.rewriting.substitution import Substitution


def is_hidden(
    value: SSAValue,
    condition: Condition,
    launch: loop.LaunchOp,
    numbers: ValueNumbers,
    plan: PlanIndex,
) -> bool:
    """
    True if `value` is proved to be minus infinity wherever `condition` fails. The value is computed
    by the kernel of `launch`; `numbers` maps the kernel's arguments to buffers.
    """
    match value.owner:
        case arith.ConstantOp():
            return is_constant(value, -inf)
        case arith.ExtFOp(input=narrow) | arith.TruncFOp(input=narrow):
            return is_hidden(narrow, condition, launch, numbers, plan)
        case arith.SelectOp(cond=cond, lhs=lhs, rhs=rhs):
            if not is_hidden(rhs, condition, launch, numbers, plan):
                return False
            fails = condition in numbers.conditions(cond)
            return fails or is_hidden(lhs, condition, launch, numbers, plan)
        case loop.LoadOp(mask=None) as load:
            return _is_stored_hidden(load, condition, launch, numbers, plan)
        case _:
            return False


def _is_stored_hidden(
    load: loop.LoadOp,
    condition: Condition,
    reader: loop.LaunchOp,
    numbers: ValueNumbers,
    plan: PlanIndex,
) -> bool:
    """
    True if the element that `load` reads was stored as minus infinity where a condition fails.
    """
    buffer = numbers.substitution.value(load.memref)
    launch = writer(buffer) if holds_one_value(buffer) else None
    kernel = None if launch is None else plan.kernel_of(launch)
    if launch is None or kernel is None:
        return False
    if reason_against_fusion(launch, [reader], plan) is not None:
        return False  # the condition may have changed since
    exprs, indices = numbers.substitution.access(load.map.data.results, load.indices)
    output = kernel.outputs[list(launch.outputs).index(buffer)]
    for store in (use.operation for use in output.uses):
        if not isinstance(store, loop.StoreOp):
            return False
        dims = subscripted_dims(store.map.data.results, store.indices)
        axes = {axis: (exprs[dim], indices) for axis, dim in dims.items()}
        stored = numbers.under(Substitution(dict(inputs_of(kernel, launch)), dict(axes)))
        if not is_hidden(store.value, condition, launch, stored, plan):
            return False
    return True
