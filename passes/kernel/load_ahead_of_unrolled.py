# SPDX-License-Identifier: Apache-2.0
"""
Hoists loads of adjacent elements out of an unrolled loop, so that vectors can be loaded.

    scf.for %k = %0 to %4 step %1 {
      kernel.unroll %m in 8 {
        %0 = loop.load %a[%m * 16 + %t, %k] : memref<128x16xf32, 3 : i64>
        loop.store %0, %x[%m] : memref<8xf32, 5 : i64>
      }
      ...                                   // reads %x[%m]
    } {unroll}

becomes

    %r = kernel.registers : memref<8x4xf32, 5 : i64>
    kernel.unroll %m in 8, %k in 4 {
      %0 = loop.load %a[%m * 16 + %t, %k] : memref<128x16xf32, 3 : i64>
      loop.store %0, %r[%m, %k] : memref<8x4xf32, 5 : i64>
    }
    scf.for %k = %0 to %4 step %1 {
      ...                                   // reads %r[%m, %k]
    } {unroll}

The elements of all steps are in registers at once. Hoisting is worthwhile only for vectors
(`vectorize`): eight loads of 16 bytes instead of 32 loads of 4 bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Block, BlockArgument, Region, SSAValue
from xdsl.ir.affine import AffineExpr
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint

from tilewright.dialects import kernel, loop
from tilewright.dialects.axes import cached_ranges, range_of_value
from tilewright.dialects.faster_xdsl.walk import rewrite_each
from tilewright.dialects.kernel.barrier import MeetingOp
from tilewright.dialects.kernel.registers import LOCAL, UNROLL, RegistersOp, UnrollOp
from tilewright.dialects.origin import from_same
from tilewright.dialects.types import memref_type
from tilewright.passes.facts.vector_width import vector_width
from tilewright.passes.reporting.trace import Rule, rewriting, skipped
from tilewright.passes.rewriting.substitution import Substitution

RULE = Rule("k", 2, "load_ahead_of_unrolled")


@dataclass
class Loading:
    """Nest in an unrolled loop that only loads elements into a register array."""

    nest: UnrollOp
    load: loop.LoadOp
    array: RegistersOp
    users: Sequence[loop.LoadOp]
    """Loads that read the array."""

    @property
    def axes(self) -> list[BlockArgument]:
        """Axes of the nest, which are the subscripts of the array."""
        return list(self.nest.body.block.args)


def loading_of(nest: UnrollOp) -> Loading | None:
    """Return `nest` as a `Loading`; None if it does more, or if other ops also write its array."""
    match list(nest.body.block.ops):
        case [loop.LoadOp() as load, loop.StoreOp() as store]:
            array = store.memref.owner
        case _:
            return None
    if not isinstance(array, RegistersOp) or array.parent is not nest.parent:
        return None
    dims = tuple(AffineExpr.dimension(at) for at in range(len(nest.body.block.args)))
    is_whole = store.map.data.results == dims and [*store.indices] == [*nest.body.block.args]
    if store.value is not load.result or store.mask is not None or not is_whole:
        return None
    users = [use.operation for use in array.memref.uses if use.operation is not store]
    loads = [user for user in users if isinstance(user, loop.LoadOp)]
    return Loading(nest, load, array, loads) if len(loads) == len(users) else None


def unrolled_steps(op: scf.ForOp) -> int | None:
    """
    Return the number of steps of an unrolled loop with start 0 and step 1; None for other loops.
    """
    bounds = [range_of_value(value) for value in (op.lb, op.ub, op.step)]
    if UNROLL not in op.attributes or any(b is None or b.low != b.high for b in bounds):
        return None
    low, high, step = (bound.low for bound in bounds if bound is not None)
    return high if (low, step) == (0, 1) else None


def reason_against(loading: Loading, op: scf.ForOp) -> str | None:
    """Reason why the load cannot be hoisted ahead of the loop, or None."""
    for inner in op.walk():
        if isinstance(inner, MeetingOp) or inner.name.startswith("kernel.ring"):
            return "threads synchronise in the loop"
        is_read = isinstance(inner, loop.LoadOp)
        if loading.load.memref in inner.operands and not is_read:
            return "the loop writes the memory that it loads from"
    named = {*loading.load.indices, *loading.load.mask_operands}
    own = {op.body.block.args[0], *loading.axes}
    inside = {result for inner in op.walk() for result in inner.results}
    if inside.isdisjoint(named - own):
        return None
    return "the loop computes subscripts or masks of the load"


class _LoadAhead(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ForOp, rewriter: PatternRewriter) -> None:
        steps, index = unrolled_steps(op), op.body.block.args[0]
        if steps is None or steps < 2:
            return
        for nest in [inner for inner in op.body.block.ops if isinstance(inner, UnrollOp)]:
            loading = loading_of(nest)
            if loading is None or memref_type(loading.load.memref).memory_space == LOCAL:
                continue
            if vector_width(loading.load, index, steps) < 2:
                continue
            if (reason := reason_against(loading, op)) is not None:
                skipped(RULE, kernel.function_of(op), reason)
                continue
            with rewriting(RULE, kernel.function_of(op)):
                _load_ahead(loading, op, steps, rewriter)


def _load_ahead(loading: Loading, op: scf.ForOp, steps: int, rewriter: PatternRewriter) -> None:
    index = op.body.block.args[0]
    extents = [*loading.nest.axis_extents(), steps]
    array = RegistersOp(loading.load.result.type, extents)
    array.memref.name_hint = loading.array.memref.name_hint
    body = Block(arg_types=[IndexType()] * len(extents))
    old: list[SSAValue] = [*loading.axes, index]
    for new, axis in zip(body.args, old, strict=True):
        new.name_hint = axis.name_hint
    load = Substitution(dict(zip(old, body.args, strict=True))).clone(loading.load)
    dims = [AffineExpr.dimension(at) for at in range(len(extents))]
    store = loop.StoreOp(load.results[0], array.memref, (dims, body.args))
    body.add_ops((load, store))
    nest = UnrollOp(extents, Region(body))
    for ahead in (array, store, nest):
        from_same(loading.load, ahead)
    rewriter.insert((array, nest), InsertPoint.before(op))
    for user in loading.users:
        exprs, operands = user.map.data.results, user.indices
        step = AffineExpr.dimension(len(operands))
        access = [*exprs, step], [*operands, index]
        rewriter.replace(user, from_same(user, loop.LoadOp(array.memref, access)))
    rewriter.erase(loading.nest)
    rewriter.erase(loading.array)


class LoadAheadOfUnrolledPass(ModulePass):
    """Hoist loads of adjacent elements out of unrolled loops."""

    name = "load-ahead-of-unrolled"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Hoist loads out of every unrolled loop of the module."""
        with cached_ranges():
            rewrite_each(op, _LoadAhead(), scf.ForOp)
