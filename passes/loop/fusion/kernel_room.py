# SPDX-License-Identifier: Apache-2.0
"""
Limits of a fused kernel, which follow from the registers of the target.

Each element that a thread loads occupies a register, or two, while the load is in flight. A kernel
that adds 400 tensors loads 400 elements. Fusion makes four kernels of it, each of which loads at
most half as many elements as a thread has registers. The other half is for addresses and results.

A thread of a matrix product holds many sums, and uses other loads to finish each one. Few of these
loads are allowed (`MOST_REGISTERS_OUTSIDE_SUMS`). The remaining work goes to another kernel, whose
traffic is small compared with that of its own inputs.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tilewright.dialects import loop
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.target import Target
from tilewright.dialects.types import size_of
from tilewright.passes.loop.fusion.op_counts import is_sum_of_products
from tilewright.passes.loop.fusion.shared_loads import distinct, readings
from tilewright.passes.loop.launch_graph import loads_of
from tilewright.passes.loop.plan_index import PlanIndex

MOST_REGISTERS_OUTSIDE_SUMS = 32
"""Most registers for loads outside the sums of a kernel with products."""

MOST_PRODUCTS = 4
"""Most sums of products that one kernel computes one after the other; each needs accumulators."""

_REGISTER_BYTES = 4


class Load(NamedTuple):
    """A load of a kernel; loads of one element count once."""

    registers: int
    in_reduction: bool


class Contents(NamedTuple):
    """Loads and products in one step of a kernel, which fusion limits."""

    reducing: int
    """Registers of the loads in reductions."""
    beside: int
    """Registers of all other loads."""
    products: int
    """Number of values that are sums of products."""


def reason_not_fitting(
    launch: loop.LaunchOp, consumers: Sequence[loop.LaunchOp], plan: PlanIndex, target: Target
) -> str | None:
    """Reason why one of `consumers` has no room for the work of `launch`, or None."""
    if (own := plan.kernel_of(launch)) is None:
        return None
    mine = contents(own, plan)
    for consumer in consumers:
        if (kernel := plan.kernel_of(consumer)) is None:
            continue
        fused = _fused(mine, contents(kernel, plan), _read(launch, consumer, kernel))
        if (reason := _reason_against_contents(fused, target)) is not None:
            return f"with {own.sym_name.data}, {kernel.sym_name.data} {reason}"
    return None


def contents(kernel: loop.KernelOp, plan: PlanIndex) -> Contents:
    """Return the loads and products of a kernel."""
    if not plan.reduces(kernel):
        return Contents(0, sum(map(_registers, distinct(_reads(kernel)))), 0)
    ops = [op for op in ops_in(kernel) if isinstance(op, loop.LoadOp | loop.ReduceOp)]
    loads = [*_loads([op for op in ops if isinstance(op, loop.LoadOp)])]
    return Contents(
        sum(load.registers for load in loads if load.in_reduction),
        sum(load.registers for load in loads if not load.in_reduction),
        sum(len(op.results) for op in ops if is_sum_of_products(op)),
    )


def _reads(kernel: loop.KernelOp) -> list[loop.LoadOp]:
    """Return the loads of a kernel's inputs, in no particular order."""
    users = [use.operation for argument in kernel.inputs for use in argument.uses]
    return [op for op in users if isinstance(op, loop.LoadOp)]


def _loads(loads: Sequence[loop.LoadOp]) -> Iterator[Load]:
    """Yield one load for each element that `loads` read."""
    for load in readings(loads, {}).values():
        yield Load(_registers(load), _is_in_reduction(load))


def _registers(load: loop.LoadOp) -> int:
    return -(-size_of(load.result.type) // _REGISTER_BYTES)


def _is_in_reduction(load: loop.LoadOp) -> bool:
    around = load.parent_op()
    while around is not None and not isinstance(around, loop.KernelOp):
        if isinstance(around, loop.ReduceOp):
            return True
        around = around.parent_op()
    return False


def _read(launch: loop.LaunchOp, consumer: loop.LaunchOp, kernel: loop.KernelOp) -> Sequence[Load]:
    """
    Return the loads of `kernel`, launched by `consumer`, that read outputs of `launch`; one for
    each element.
    """
    return [
        load
        for buffer in launch.outputs
        if buffer in consumer.inputs
        for load in _loads(loads_of(kernel, consumer, buffer))
    ]


def _fused(own: Contents, reader: Contents, read: Sequence[Load]) -> Contents:
    """
    Return the contents of the reader if it computes the element at each load in `read` itself.
    Computing one element takes the contents `own`.
    """
    times = max(len(read), 1)
    inside = [load for load in read if load.in_reduction]
    beside = times - len(inside)
    saved = sum(load.registers for load in inside)
    return Contents(
        reader.reducing + own.reducing * times + own.beside * len(inside) - saved,
        reader.beside + own.beside * beside - sum(load.registers for load in read) + saved,
        reader.products + own.products * times,
    )


def room_for_loads(target: Target) -> int:
    """
    Return the registers of a thread that may hold loads in flight; the others are for results.
    """
    return target.max_registers_per_thread // 2


def _reason_against_contents(fused: Contents, target: Target) -> str | None:
    """Reason why a kernel cannot have these contents, worded to follow its name, or None."""
    room = room_for_loads(target)
    if (loads := fused.reducing + fused.beside) > room:
        return f"would have {loads} registers for loads in flight, more than {room}"
    if fused.products and fused.beside > MOST_REGISTERS_OUTSIDE_SUMS:
        return (
            f"would have {fused.beside} registers for loads beside its products, "
            f"more than {MOST_REGISTERS_OUTSIDE_SUMS}"
        )
    if fused.products > MOST_PRODUCTS:
        return f"would compute {fused.products} products, more than {MOST_PRODUCTS}"
    return None
