# SPDX-License-Identifier: Apache-2.0
"""
Merges the axes of a contraction that have the same role into one axis: every matrix product then
has one axis of rows `m`, one of columns `n`, and at most one batch axis.

    loop.for %i in 2, %j in 8, %l in 7, %p in 9 {
      %s = loop.reduce %k in 36 with add {
        %0 = loop.load %x[%i, %k floordiv 9, %l + %k floordiv 3 mod 3, %p + %k mod 3] ...
        %1 = loop.load %w[%j, %k floordiv 9, %k floordiv 3 mod 3, %k mod 3] ...

becomes

    loop.for %i in 126, %j in 8 {
      %s = loop.reduce %k in 36 with add {
        %0 = loop.load %x[%i floordiv 63, ..., %i floordiv 9 mod 7 + ..., %i mod 9 + ...] ...
        %1 = loop.load %w[%j, ...] ...

A convolution thereby becomes a contraction with one index-mapped operand. Its rows are the
positions in all images; `k` counts the input channels and the steps of the window. The batch axis
comes first, then rows, then columns.
"""

from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir.affine import AffineExpr
from xdsl.passes import ModulePass

from tilewright.dialects import loop
from tilewright.dialects.axes import Role
from tilewright.dialects.index import delinearize
from tilewright.passes.facts.nest import reducing_nest
from tilewright.passes.facts.roles import axis_roles, is_contraction
from tilewright.passes.loop.nest_axes import over_axes, replace_nest
from tilewright.passes.reporting.trace import Rule, rewriting, skipped

RULE = Rule("f", 15, "collapse_axes")

_ORDER = (Role.BATCH, Role.M, Role.N)


def reason_against(nest: loop.ForOp) -> str | None:
    """Reason why the axes of the nest cannot be collapsed, or None."""
    if not is_contraction(nest.body.block):
        return "it is not a contraction: all its axes are rows"
    roles = axis_roles(nest.body.block)
    if len({*roles}) == len(roles):
        return "each of its axes has its own role"
    return None


def collapsed(nest: loop.ForOp) -> loop.ForOp:
    """Return a copy of the nest with one axis per role."""
    roles, old = axis_roles(nest.body.block), nest.axis_extents()
    extents: list[int] = []
    axes = [AffineExpr.constant(0)] * len(roles)
    for role in [role for role in _ORDER if role in roles]:
        members = [position for position, of_axis in enumerate(roles) if of_axis is role]
        sizes = [old[position] for position in members]
        parts = delinearize(AffineExpr.dimension(len(extents)), sizes)
        extents.append(prod(sizes))
        for position, part in zip(members, parts, strict=True):
            axes[position] = part
    return over_axes(nest, extents, axes)


class CollapseAxesPass(ModulePass):
    """Give contractions one axis per role."""

    name = "collapse-axes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Collapse the axes of each reducing nest in the module."""
        for kernel in [k for k in op.ops if isinstance(k, loop.KernelOp)]:
            if (nest := reducing_nest(kernel)) is None:
                continue
            if (reason := reason_against(nest)) is not None:
                skipped(RULE, kernel, reason)
                continue
            with rewriting(RULE, kernel):
                replace_nest(nest, collapsed(nest))
