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
from tilewright.dialects.faster_xdsl.walk import ops_of
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
    return lambda module: len(ops_of(kind, module)) >= at_least


def _finds_maxima(module: ModuleOp) -> bool:
    """True if a reduction finds a maximum, as in each softmax."""
    return any(op.monoid.data is Monoid.MAX for op in ops_of(loop.ReduceOp, module))


def _has_maxima_or_two_reductions(module: ModuleOp) -> bool:
    reductions = ops_of(loop.ReduceOp, module)
    return len(reductions) > 1 or any(op.monoid.data is Monoid.MAX for op in reductions)


def _stores_selections(module: ModuleOp) -> bool:
    return any(isinstance(op.value.owner, arith.SelectOp) for op in ops_of(loop.StoreOp, module))


def _has_nests(module: ModuleOp) -> bool:
    """True if a loop has several axes."""
    return any(len(op.body.block.args) > 1 for op in ops_of(loop.ForOp, module))


def _divides_subscripts(module: ModuleOp) -> bool:
    """True if a load divides an axis, as those of a convolution do."""
    loads = ops_of(loop.LoadOp, module)
    exprs = (inner for load in loads for expr in load.map.data.results for inner in expr.dfs())
    return any(
        isinstance(expr, AffineBinaryOpExpr) and expr.kind is AffineBinaryOpKind.FloorDiv
        for expr in exprs
    )


def _divides_by_variables(module: ModuleOp) -> bool:
    divisions = ops_of(arith.DivfOp, module)
    return any(not isinstance(op.rhs.owner, arith.ConstantOp) for op in divisions)


def _divides_in_reductions(module: ModuleOp) -> bool:
    return any(ops_of(arith.DivfOp, each) for each in ops_of(loop.ReduceOp, module))


def _joins_pairs(module: ModuleOp) -> bool:
    """True if threads combine values of a monoid on several values."""
    pairs = (Monoid.SOFTMAX, Monoid.MOMENTS)
    return any(op.monoid.data in pairs for op in ops_of(tile.CombineOp, module))


def _weights_values(module: ModuleOp) -> bool:
    """True if a reduction weights values by the exponentials of scores."""
    return any(op.is_softmax for op in ops_of(loop.ReduceOp, module))


def _joins_by_workspace(module: ModuleOp) -> bool:
    joins = [op.join for op in ops_of(tile.CombineOp, module)]
    return any(join is not None and join.data is Join.WORKSPACE for join in joins)


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
