# SPDX-License-Identifier: Apache-2.0
"""
An operand of a product that does not lie in the order in which the product sums.

    %s = loop.reduce %k in 1440 with add {
      %0 = loop.load %x[%i, %k floordiv 45, %l + %k floordiv 9 mod 5, %p + %k mod 9] ...
      %1 = loop.load %w[%j, %k floordiv 45, %k floordiv 9 mod 5, %k mod 9] ...

Subscripts of `%w` are digits of `%k`. The outermost digit counts 32 channels; the digits below it
count the 45 steps of a window, which are added to positions in `%x`. A chunk of 16 steps of the sum
therefore spans two channels, unless the channels are the innermost digit.
"""

from collections.abc import Sequence
from math import gcd, inf
from typing import NamedTuple

from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from tilewright.dialects import loop
from tilewright.passes.facts.nest import reducing_nest
from tilewright.passes.facts.roles import is_contraction

CHUNK = 16
"""Steps that a chunk of a sum has at least where tensor cores multiply."""


class WindowedOperand(NamedTuple):
    """An operand of a product that sums over channels, and over a window for each channel."""

    product: loop.ReduceOp
    load: loop.LoadOp
    steps: Sequence[int | None]
    """Steps of the product after which each subscript changes; None if it does not change."""

    @property
    def window(self) -> int:
        """Steps of the product for each channel."""
        return max(step for step in self.steps if step is not None)

    @property
    def order(self) -> list[int]:
        """Dimensions of the operand in the order of a sum whose channels come last."""
        kept = [(dim, step) for dim, step in enumerate(self.steps) if step != self.window]
        kept.sort(key=lambda pair: -inf if pair[1] is None else -pair[1])
        return [*(dim for dim, _ in kept), self.steps.index(self.window)]

    @property
    def is_packed(self) -> bool:
        """True if the operand lies in that order in memory."""
        return self.order == [*range(len(self.steps))]


def windowed_operand(kernel: loop.KernelOp) -> WindowedOperand | None:
    """
    Return the first operand of the kernel's products whose order keeps chunks from lying in one
    step of a window, or None.
    """
    nest = reducing_nest(kernel)
    if nest is None or not is_contraction(nest.body.block):
        return None
    for product in (op for op in nest.body.block.ops if isinstance(op, loop.ReduceOp)):
        loads = [op for op in product.body.block.ops if isinstance(op, loop.LoadOp)]
        if product.is_bounded or not any(has_window(load, product.axis) for load in loads):
            continue
        for load in loads:
            if load.memref.has_one_use() and (found := _windowed(load, product)) is not None:
                return found
    return None


def has_window(load: loop.LoadOp, axis: SSAValue) -> bool:
    """True if a subscript adds steps of `axis` to another index, as those of a window are."""
    if axis not in load.indices:
        return False
    dim = [*load.indices].index(axis)
    return any({dim} < expr.used_dims() for expr in load.map.data.results)


def _windowed(load: loop.LoadOp, product: loop.ReduceOp) -> WindowedOperand | None:
    if product.axis not in load.indices:
        return None
    axis, exprs = [*load.indices].index(product.axis), load.map.data.results
    steps = [_steps(expr, axis) for expr in exprs]
    summed = [(expr, n) for expr, n in zip(exprs, steps, strict=True) if axis in expr.used_dims()]
    digits = [count for _, count in summed if count is not None]
    if len(summed) < 2 or len({*digits}) < len(summed):
        return None
    found = WindowedOperand(product, load, steps)
    is_free = all(len(expr.used_dims()) == 1 for expr, count in summed if count != found.window)
    is_linear = gcd(*(count for count in digits if count > 1)) % CHUNK == 0
    extent = product.extent.value.data
    has_whole_chunks = extent > 0 and extent % (found.window * CHUNK) == 0
    return found if is_free and has_whole_chunks and not is_linear else None


def _steps(expr: AffineExpr, dim: int) -> int | None:
    """
    Return the steps of a dimension after which the one digit of it in `expr` changes; None if there
    is no digit, or more than one.
    """
    if dim not in expr.used_dims():
        return None
    match expr:
        case AffineDimExpr():
            return 1
        case AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, AffineDimExpr(), divisor):
            return divisor.value if isinstance(divisor, AffineConstantExpr) else None
        case AffineBinaryOpExpr(AffineBinaryOpKind.Add, left, right):
            terms = [term for term in (left, right) if dim in term.used_dims()]
            return _steps(terms[0], dim) if len(terms) == 1 else None
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mod | AffineBinaryOpKind.Mul, inner):
            return _steps(inner, dim)
        case _:
            return None
