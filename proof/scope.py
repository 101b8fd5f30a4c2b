# SPDX-License-Identifier: Apache-2.0
"""
Scopes: the value of each axis at a place of a kernel.

The same op has other values in another scope: a combine joins the values of other threads, and a
slab is read where another thread wrote it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects.axes import Access, extent_of
from tilewright.dialects.loop import ToIndexOp
from tilewright.proof.formulas import Formula, NonNegative, Variables, below
from tilewright.proof.points import name_of
from tilewright.proof.uniform import uniform_key


class UnmatchedError(Exception):
    """Two kernels are of different form, or of a form that is not read; the message says which."""


@dataclass(frozen=True)
class Scope:
    """Values of axes and of other indices, as expressions."""

    variables: Variables
    axes: Mapping[SSAValue, AffineExpr]
    mark: str = ""
    """End of the names of new variables."""

    def exprs(self, access: Access) -> list[AffineExpr]:
        """Return subscripts or conditions as expressions."""
        exprs, operands = access
        values = list(map(self._index, operands))
        return [expr.replace_dims_and_symbols(values, ()) for expr in exprs]

    def _index(self, value: SSAValue) -> AffineExpr:
        if value in self.axes:
            return self.axes[value]
        op, key = value.owner, uniform_key(value)
        if not isinstance(op, ToIndexOp) or key is None:
            raise UnmatchedError(f"the index {name_of(value)} is data")
        return self.variables.for_key(key, name_of(value), op.bound.value.data)

    def holds(self, mask: Access | None) -> list[Formula]:
        """Return the conditions of a mask; none without a mask."""
        return [] if mask is None else [NonNegative(expr) for expr in self.exprs(mask)]

    def having(self, axes: Mapping[SSAValue, AffineExpr]) -> "Scope":
        """Return this scope with other values of some axes."""
        return replace(self, axes={**self.axes, **axes})

    def replaced(self, exprs: Sequence[AffineExpr]) -> "Scope":
        """Return this scope with `exprs[n]` in the place of variable `n`."""
        axes = {axis: expr.replace_dims_and_symbols(exprs, ()) for axis, expr in self.axes.items()}
        return replace(self, axes=axes)

    def opened(self, axes: Sequence[SSAValue]) -> "Opened":
        """Return this scope with a new variable for each of `axes`."""
        first = len(self.variables.names)
        extents = [extent_of(axis) or 1 for axis in axes]
        new = {
            axis: self.variables.new(f"{name_of(axis)}{self.mark}", extent)
            for axis, extent in zip(axes, extents, strict=True)
        }
        facts = [below(expr, extent) for expr, extent in zip(new.values(), extents, strict=True)]
        return Opened(self.having(new), [*range(first, len(self.variables.names))], facts)


class Opened(NamedTuple):
    """A scope with new variables, and their ranges."""

    scope: Scope
    positions: Sequence[int]
    facts: Sequence[Formula]


def with_values(variables: Variables, values: Mapping[int, AffineExpr]) -> list[AffineExpr]:
    """Return an expression for each variable: that of `values`, or the variable itself."""
    return [values.get(at, AffineExpr.dimension(at)) for at in range(len(variables.names))]
