# SPDX-License-Identifier: Apache-2.0
"""
Counts of the ops of a kernel: runs in a launch, instructions, and multiply-adds on tensor cores.

    %sum = loop.reduce %k in 64 with add {
      %0 = loop.load %x[%i, %k] : memref<32x64xbf16>      // free: copied to shared memory as it is
      %1 = arith.extf %0 : bf16 to f32                    // free: a matrix instruction reads bf16
      %2 = loop.load %y[%k, %j] : memref<64x16xf32>
      %3 = math.exp %2 : f32
      %4 = arith.truncf %3 : f32 to bf16
      %5 = arith.extf %4 : bf16 to f32                    // free
      %6 = arith.mulf %1, %5 : f32                        // a product on tensor cores
      loop.yield %6 : f32
    } : f32

The other ops compute a factor (the prologue), and run on the float32 lanes.

A reduction with `softmax` has columns: the free axes with which its scores do not vary. Its scores,
its weights, and all other values that do not vary along the columns are computed once for all.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from math import prod
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.ir import Block, Operation, SSAValue

from tilewright.dialects import loop
from tilewright.dialects.axes import AxesOp
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.monoid import Monoid
from tilewright.passes.cost.instruction_costs import instructions
from tilewright.passes.facts.nest import needed_by, nest_block, only_divided, steps_of
from tilewright.passes.facts.products import (
    Factor,
    Product,
    factor_of,
    half_type_of,
    products_of,
)
from tilewright.passes.loop.launch_graph import evaluations

REUSE = 128
"""
Steps of free axes for which a block computes an operand of a reduction once: the side of a tile.
"""

VECTOR = 4
"""Elements that a thread loads in one instruction where nothing is reused: 128 bits of float32."""

WEIGHT_INSTRUCTIONS = 12
"""Instructions of a weight: its exponential, the maximum of the scores, and the sum of weights."""

_NONE = frozenset[SSAValue]()


def runs(kernel: loop.KernelOp, rows: Collection[SSAValue] = ()) -> dict[Operation, float]:
    """
    Return the number of runs of each op of `kernel` in a launch; a loop counts all its steps. If
    each step of `rows` is a block of its own, blocks do not reuse values, but load vectors.
    """
    reduces = any(isinstance(op, loop.ReduceOp) for op in ops_in(kernel))
    varies = varying(kernel) if reduces else {}  # needed only inside of reductions
    found = dict(_runs(kernel.body.block, 1, None, varies, frozenset(rows)))
    if not rows:
        return found
    loads = [op for op in found if isinstance(op, loop.LoadOp)]
    return found | {load: min(found[load], evaluations(load) / VECTOR) for load in loads}


def varying(kernel: loop.KernelOp) -> dict[Operation, frozenset[SSAValue]]:
    """Return the axes with which each op varies, out of the axes of the loops around it."""
    varies: dict[Operation, frozenset[SSAValue]] = {}
    _add_varying(kernel.body.block, varies)
    return varies


def _add_varying(block: Block, varies: dict[Operation, frozenset[SSAValue]]) -> None:
    for op in block.ops:
        found = _NONE.union(*(_axes_of(value, varies) for value in op.operands))
        for region in op.regions:
            _add_varying(region.block, varies)
            found = found.union(*(varies[inner] for inner in region.block.ops))
            found -= {*region.block.args}
        varies[op] = found


def _axes_of(
    value: SSAValue, varies: Mapping[Operation, frozenset[SSAValue]]
) -> frozenset[SSAValue]:
    owner = value.owner
    if isinstance(owner, Operation):
        return varies[owner]
    return frozenset((value,)) if isinstance(owner.parent_op(), AxesOp) else _NONE


def _runs(
    block: Block,
    steps: float,
    reduction: loop.ReduceOp | None,
    varies: Mapping[Operation, frozenset[SSAValue]],
    rows: frozenset[SSAValue],
) -> Iterator[tuple[Operation, float]]:
    """
    Yield the ops of a body that runs `steps` times, with their runs; `reduction` is the outermost
    around it.
    """
    for op in block.ops:
        if not isinstance(op, AxesOp):
            yield op, steps if reduction is None else steps / _reuse(op, reduction, varies, rows)
            continue
        inside = steps * prod(op.axis_extents())
        columns = _NONE if reduction is None else columns_of(reduction, varies)
        yield op, inside / (steps_of(columns - varies[op]) if columns else 1)
        outermost = op if reduction is None and isinstance(op, loop.ReduceOp) else reduction
        yield from _runs(op.regions[0].block, inside, outermost, varies, rows)


def _reuse(
    op: Operation,
    reduction: loop.ReduceOp,
    varies: Mapping[Operation, frozenset[SSAValue]],
    rows: frozenset[SSAValue],
) -> int:
    """
    Return the number of outputs of `reduction` for which a block computes `op` once. With `softmax`
    these include all columns.
    """
    columns = columns_of(reduction, varies) - rows
    around, own = varies[reduction], varies[op]
    if columns:
        around |= _axes_between(op, reduction)
        own -= columns if isinstance(op, loop.YieldOp) else _NONE  # the yield stands for the weight
    others = around - own - rows
    reused = min(max(steps_of(others - columns), 1), REUSE)
    return reused * steps_of(others & columns)


def columns_of(
    reduction: loop.ReduceOp, varies: Mapping[Operation, frozenset[SSAValue]]
) -> frozenset[SSAValue]:
    """
    Return the free axes with which a reduction with `softmax` varies, but its scores do not. Other
    reductions have none.
    """
    if not is_softmax(reduction):
        return _NONE
    return varies[reduction] - _axes_of(reduction.yield_op.values[0], varies)


def _axes_between(op: Operation, reduction: loop.ReduceOp) -> frozenset[SSAValue]:
    """Return the axes of `reduction` and of the loops inside it that are around `op`."""
    found, scope = _NONE, op
    while scope is not reduction and (scope := scope.parent_op()) is not None:
        found |= {*scope.regions[0].block.args}
    return found


class MatrixOps(NamedTuple):
    """Ops of contractions whose factors have a half type."""

    products: frozenset[Operation] = frozenset()
    """
    Multiplications that tensor cores do, together with the sums of their results; a reduction with
    `softmax` does both.
    """
    free: frozenset[Operation] = frozenset()
    """Casts of factors, and loads of factors that no op computes."""


def matrix_ops(kernel: loop.KernelOp) -> MatrixOps:
    """
    Return the matrix ops of a kernel. There are none unless all reductions in its outermost nest
    sum products of one half type, and each product has one factor for each row and one for each
    column. A reduction with `softmax` multiplies weights of a half type by values.
    """
    block = nest_block(kernel)
    reductions = [op for op in block.ops if isinstance(op, loop.ReduceOp)]
    if len(reductions) == 1 and reductions[0].weights is not None:
        return _weighted(reductions[0])
    if not any(isinstance(op, arith.ExtFOp) for each in reductions for op in each.body.block.ops):
        return MatrixOps()  # all float32 programs end here
    if any(half_type_of(op) is None for op in reductions):
        return MatrixOps()
    varies, axes = varying(kernel), frozenset(block.args)
    products = [product for op in reductions for product in products_of(op)]
    if not all(_is_of_matrices(product, varies, axes) for product in products):
        return MatrixOps()
    factors = [factor for product in products for factor in (product.left, product.right)]
    free = frozenset(op for factor in factors for op in _free(factor))
    return MatrixOps(frozenset(product.op for product in products), free)


def _weighted(reduction: loop.ReduceOp) -> MatrixOps:
    """
    Return the matrix ops of a reduction with `softmax` whose weights have a half type: the
    reduction itself stands for the products if it weighs values of this type.
    """
    factors = [factor_of(value) for value in reduction.yield_op.values[1:]]
    halves = [factor for factor in factors if factor.type == reduction.weights]
    if not halves:
        return MatrixOps()
    return MatrixOps(frozenset([reduction]), frozenset(op for f in halves for op in _free(f)))


def _is_of_matrices(
    product: Product,
    varies: Mapping[Operation, frozenset[SSAValue]],
    axes: frozenset[SSAValue],
) -> bool:
    """
    True if each factor varies with one of `axes` with which the other does not vary, or varies only
    by groups: heads of queries that share their keys are rows of one product (`split-axes`).
    """
    values = product.left.value, product.right.value
    left, right = (_axes_of(value, varies) & axes for value in values)
    one, other = (each - _divided(v, each) for v, each in zip(values, (left, right), strict=True))
    return bool((left - right or one - other) and (right - left or other - one))


def _divided(value: SSAValue, axes: frozenset[SSAValue]) -> frozenset[SSAValue]:
    """Return those of `axes` that the ops which compute `value` use only as `axis floordiv n`."""
    if not isinstance(value.owner, Operation) or value.owner.parent is None:
        return frozenset()
    ops, _ = needed_by([*value.owner.parent.ops], [value])
    every = [(op, only_divided(op)) for op in ops_in(*ops)]
    return axes - {
        operand for op, divided in every for operand in op.operands if operand not in divided
    }


def _free(factor: Factor) -> Iterator[Operation]:
    """Yield the cast of a factor of a half type, and its load."""
    if isinstance(factor.value.owner, Operation):
        yield factor.value.owner
    if isinstance(factor.narrow.owner, loop.LoadOp):
        yield factor.narrow.owner


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
    if isinstance(op, loop.YieldOp) and is_softmax(op.parent_op()):
        return WEIGHT_INSTRUCTIONS
    return 0 if isinstance(op, _FREE) else instructions(op)


def is_softmax(op: Operation | None) -> bool:
    """True if `op` is a reduction with `softmax`."""
    return isinstance(op, loop.ReduceOp) and op.is_softmax


_FREE = (loop.ForOp, loop.ScanOp, loop.YieldOp)


def is_sum_of_products(op: Operation) -> bool:
    """True if `op` is a reduction that sums products: each step is a fused multiply-add."""
    if not isinstance(op, loop.ReduceOp) or op.monoid.data is not Monoid.ADD:
        return False
    return all(isinstance(value.owner, arith.MulfOp) for value in op.yield_op.values)
