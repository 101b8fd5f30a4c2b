# SPDX-License-Identifier: Apache-2.0
"""
Splits an axis into quotient and remainder where a factor of a product depends on the quotient only:
groups, and the columns in each group.

    loop.for %i in 70, %j in 8 {
      %s = loop.reduce %k in 2 with add {
        %0 = loop.load %x[%i, %j floordiv 4 * 2 + %k] ...
        %1 = loop.load %w[%j, %k] ...
        %2 = arith.mulf %0, %1 : f32

becomes

    loop.for %i in 70, %j in 2, %l in 4 {
      %s = loop.reduce %k in 2 with add {
        %0 = loop.load %x[%i, %j * 2 + %k] ...
        %1 = loop.load %w[%j * 4 + %l, %k] ...
        %2 = arith.mulf %0, %1 : f32

Both factors vary with the group, so that the groups are a batch of products, as in a grouped
convolution. Splitting is legal where the divisor divides the extent. Splitting pays where it turns
a nest into a contraction.
"""

from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir.affine import AffineDimExpr, AffineExpr
from xdsl.passes import ModulePass

from tilewright.dialects import loop
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.passes.facts.nest import quotients_of, reducing_nest
from tilewright.passes.facts.roles import is_contraction
from tilewright.passes.loop.nest_axes import over_axes, replace_nest
from tilewright.passes.reporting.trace import Rule, rewriting, skipped

RULE = Rule("f", 14, "split_axes")


class Quotient(NamedTuple):
    """An axis of a nest, by position, that a load divides by a divisor of the extent."""

    axis: int
    divisor: int


def largest_groups(nest: loop.ForOp) -> Quotient | None:
    """
    Return the quotient with the largest divisor, which leaves the most columns; None if there is
    none.
    """
    axes, extents = nest.body.block.args, nest.axis_extents()
    found = [
        Quotient(axes.index(axis), divisor)
        for load in ops_in(nest)
        if isinstance(load, loop.LoadOp)
        for axis, divisor in quotients_of(load)
        if axis in axes and extents[axes.index(axis)] % divisor == 0
    ]
    return max(found, key=lambda quotient: quotient.divisor, default=None)


def split(nest: loop.ForOp, quotient: Quotient) -> loop.ForOp:
    """Return a copy of the nest with the axis split into quotient and remainder."""
    (position, divisor), extents = quotient, [*nest.axis_extents()]
    extents[position : position + 1] = [extents[position] // divisor, divisor]
    axes: list[AffineExpr] = [AffineDimExpr(axis) for axis in range(len(extents))]
    axes[position : position + 2] = [axes[position] * divisor + axes[position + 1]]
    return over_axes(nest, extents, axes)


def contraction_of(nest: loop.ForOp) -> loop.ForOp | None:
    """
    Return a copy of the nest that is a contraction after some of its axes are split. Returns None
    if splitting gives no contraction.
    """
    if (groups := largest_groups(nest)) is None:
        return None
    copy = split(nest, groups)
    if is_contraction(copy.body.block):
        return copy
    contraction = contraction_of(copy)
    copy.erase()  # else its loads would still count as readers
    return contraction


class SplitAxesPass(ModulePass):
    """Split axes that hide a contraction."""

    name = "split-axes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Split axes of the reducing nests that are not contractions yet."""
        for kernel in [k for k in op.ops if isinstance(k, loop.KernelOp)]:
            nest = reducing_nest(kernel)
            if nest is None or largest_groups(nest) is None:
                continue
            if is_contraction(nest.body.block):
                skipped(RULE, kernel, "it is a contraction already")
                continue
            if (contraction := contraction_of(nest)) is None:
                skipped(RULE, kernel, "no axis that a load divides hides a contraction")
                continue
            with rewriting(RULE, kernel):
                replace_nest(nest, contraction)
