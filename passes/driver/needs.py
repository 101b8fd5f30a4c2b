# SPDX-License-Identifier: Apache-2.0
"""
Table of what a module needs to have so that a pass can change it. Most programs have nothing for
many passes: no softmax, one kernel, no barrier.

A need is a necessary condition that is cheap to test; the pass itself decides the rest. Scheduling
steps are needed by kernels whose planned steps name them, and by kernels without planned steps.
"""

from collections.abc import Callable, Mapping

from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind

from tilewright.dialects import kernel, loop, prim, tile
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.kernel.barrier import MeetingOp
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.tile import Join
from tilewright.passes.scheduling_steps import STEPS

Need = Callable[[ModuleOp], bool]
"""Predicate on modules; a pass changes nothing in a module for which its need is false."""


def need_of(name: str) -> Need | None:
    """Return the need of a pass, or None if the pass always runs."""
    return _NEEDS.get(name)


def _op(kind: type[Operation], at_least: int = 1) -> Need:
    """Return the need for some ops of a class."""
    return lambda module: _number(module, kind) >= at_least


def _number(module: ModuleOp, kind: type[Operation]) -> int:
    return sum(isinstance(op, kind) for op in ops_in(module))


def _finds_maxima(module: ModuleOp) -> bool:
    """True if a reduction finds a maximum, as in each softmax."""
    return any(
        isinstance(op, loop.ReduceOp) and op.monoid.data is Monoid.MAX for op in ops_in(module)
    )


def _has_maxima_or_two_reductions(module: ModuleOp) -> bool:
    return _finds_maxima(module) or _number(module, loop.ReduceOp) > 1


def _stores_selections(module: ModuleOp) -> bool:
    return any(
        isinstance(op, loop.StoreOp) and isinstance(op.value.owner, arith.SelectOp)
        for op in ops_in(module)
    )


def _has_nests(module: ModuleOp) -> bool:
    """True if a loop has several axes."""
    return any(isinstance(op, loop.ForOp) and len(op.body.block.args) > 1 for op in ops_in(module))


def _divides_subscripts(module: ModuleOp) -> bool:
    """True if a load divides an axis, as those of a convolution do."""
    loads = (op for op in ops_in(module) if isinstance(op, loop.LoadOp))
    exprs = (inner for load in loads for expr in load.map.data.results for inner in expr.dfs())
    return any(
        isinstance(expr, AffineBinaryOpExpr) and expr.kind is AffineBinaryOpKind.FloorDiv
        for expr in exprs
    )


def _divides_by_variables(module: ModuleOp) -> bool:
    return any(
        isinstance(op, arith.DivfOp) and not isinstance(op.rhs.owner, arith.ConstantOp)
        for op in ops_in(module)
    )


def _divides_in_reductions(module: ModuleOp) -> bool:
    reductions = (op for op in ops_in(module) if isinstance(op, loop.ReduceOp))
    return any(isinstance(op, arith.DivfOp) for each in reductions for op in ops_in(each))


def _joins_pairs(module: ModuleOp) -> bool:
    """True if threads combine values of a monoid on several values."""
    return any(
        isinstance(op, tile.CombineOp) and op.monoid.data in (Monoid.SOFTMAX, Monoid.MOMENTS)
        for op in ops_in(module)
    )


def _weights_values(module: ModuleOp) -> bool:
    """True if a reduction weights values by the exponentials of scores."""
    return any(isinstance(op, loop.ReduceOp) and op.is_softmax for op in ops_in(module))


def _joins_by_workspace(module: ModuleOp) -> bool:
    return any(
        isinstance(op, tile.CombineOp) and op.join is not None and op.join.data is Join.WORKSPACE
        for op in ops_in(module)
    )


def _planned(name: str) -> Need:
    """Return the need of a scheduling step: a kernel that may get it."""

    def is_possible(module: ModuleOp) -> bool:
        kernels = [op for op in module.ops if isinstance(op, loop.KernelOp)]
        return any(each.planned is None or each.planned.names(name) for each in kernels)

    return is_possible


_NEEDS: Mapping[str, Need] = {
    "expand-scatter": _op(prim.ScatterOp),
    "fuse-rows": _has_maxima_or_two_reductions,
    "exclusive-scan": _op(loop.ScanOp),
    "fuse-outputs": _op(loop.LaunchOp, 2),
    "fuse-parts": _op(loop.LaunchOp, 2),
    "fuse-online": _finds_maxima,
    "fuse-scores": _op(loop.ReduceOp, 2),
    "one-pass-softmax": _finds_maxima,
    "one-pass-variance": _op(loop.ReduceOp, 2),
    "merge-siblings": _op(loop.LaunchOp, 2),
    "merge-loops": _op(loop.ReduceOp, 2),
    "predicate-positions": _op(arith.CmpiOp),
    "share-reciprocals": _divides_by_variables,
    "approximate-division": _divides_in_reductions,
    "collapse-axes": _has_nests,
    "pack-operands": _divides_subscripts,
    "update-in-place": _stores_selections,
    "dedupe-kernels": _op(loop.KernelOp, 2),
    **{step.name: _planned(step.name) for step in STEPS},
    "join-registers": _joins_pairs,
    "sum-threads-last": _weights_values,
    "split-joins": _joins_by_workspace,
    "skip-masks": _stores_selections,
    "drop-redundant-barriers": _op(MeetingOp),
    "narrow-barriers": _op(kernel.BarrierOp),
}
