# SPDX-License-Identifier: Apache-2.0
"""
Accesses of one step of a loop to different slots of a ring.

    scf.for %k in ... {
      kernel.barrier                                     // all threads are at the same step
      loop.store %0, %slab[(%k + 1) mod 2, %t]
      kernel.barrier                                     // orders no accesses of different steps
      %1 = loop.load %slab[%k mod 2, 63 - %t]            // never the slot of this step's store
    }

A thread that passes only the second barrier between two ops is at one step: from one step to the
next it also passes the first barrier. Both subscripts therefore have the same `%k`.
"""

from collections.abc import Mapping

from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineExpr,
)

from tilewright.dialects import kernel
from tilewright.dialects.index import sum_of
from tilewright.passes.facts.memory_access import Access


def are_apart(one: Access, other: Access, step: SSAValue) -> bool:
    """True if accesses at the same `step` have different subscripts along some axis."""
    known = {step: AffineExpr.dimension(0)}
    sides = (_over(access, known) for access in (one, other))
    return any(_differ(a, b) for a, b in zip(*sides, strict=True))


def _over(access: Access, known: Mapping[SSAValue, AffineExpr]) -> list[AffineExpr | None]:
    """Return the subscripts of `access` as expressions of `known`; None where they need others."""
    indices = [_expr_of(index, known) for index in access.indices]
    return [_replaced(expr, indices) for expr in access.map.data.results]


def _expr_of(value: SSAValue, known: Mapping[SSAValue, AffineExpr]) -> AffineExpr | None:
    if value in known or not isinstance(value.owner, kernel.IndexOp):
        return known.get(value)
    (expr,) = value.owner.map.data.results
    return _replaced(expr, [_expr_of(index, known) for index in value.owner.indices])


def _replaced(expr: AffineExpr, indices: list[AffineExpr | None]) -> AffineExpr | None:
    if any(indices[dim] is None for dim in expr.used_dims()):
        return None
    return expr.replace_dims_and_symbols([e or AffineExpr.constant(0) for e in indices], ())


def _differ(one: AffineExpr | None, other: AffineExpr | None) -> bool:
    """True if both expressions have different values for all values of their dimensions."""
    match one, other:
        case (
            AffineBinaryOpExpr(AffineBinaryOpKind.Mod, a, AffineConstantExpr(n)),
            AffineBinaryOpExpr(AffineBinaryOpKind.Mod, b, AffineConstantExpr(m)),
        ) if n == m:
            left, right = sum_of(a), sum_of(b)
            return left.terms == right.terms and (left.constant - right.constant) % n != 0
        case _:
            return False
