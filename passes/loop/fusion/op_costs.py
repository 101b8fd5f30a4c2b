# SPDX-License-Identifier: Apache-2.0
"""Instructions of the ops of a kernel, and its multiply-adds on tensor cores."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.ir import Operation

from tilewright.dialects import loop
from tilewright.dialects.monoid import Monoid
from tilewright.passes.cost.instruction_costs import instructions
from tilewright.passes.loop.fusion.matrix_ops import MatrixOps


class Count(NamedTuple):
    """Number of instructions, and of multiply-adds on tensor cores."""

    instructions: float
    products: float


def counted(ops: Iterable[Operation], times: Mapping[Operation, float], matrix: MatrixOps) -> Count:
    """
    Return the count of `ops` of a kernel with the matrix ops `matrix`. Each op runs as often as
    `times` says; ops that are not in `times` do not run.
    """
    total = products = 0.0
    for op in ops:
        if op in matrix.products:
            products += times.get(op, 0.0)
        elif op not in matrix.free:
            total += times.get(op, 0.0) * cost_of(op)
    return Count(total, products)


def cost_of(op: Operation) -> int:
    """Return the instructions of one step of `op`; for a reduction, those that join one value."""
    if isinstance(op, loop.ReduceOp):
        return 0 if is_sum_of_products(op) else instructions(op)
    return 0 if isinstance(op, _FREE) else instructions(op)


_FREE = (loop.ForOp, loop.ScanOp, loop.YieldOp)


def is_sum_of_products(op: Operation) -> bool:
    """True if `op` is a reduction that sums products: each step is a fused multiply-add."""
    if not isinstance(op, loop.ReduceOp) or op.monoid.data is not Monoid.ADD:
        return False
    return all(isinstance(value.owner, arith.MulfOp) for value in op.yield_op.values)
