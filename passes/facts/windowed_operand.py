# SPDX-License-Identifier: Apache-2.0
"""
An operand of a product that does not lie in the order in which the product sums.

    %s = loop.reduce %k in 1440 with add {
      %0 = loop.load %x[%i, %k floordiv 45, %l + %k floordiv 9 mod 5, %p + %k mod 9] ...
      %1 = loop.load %w[%j, %k floordiv 45, %k floordiv 9 mod 5, %k mod 9] ...

Subscripts of `%w` are digits of `%k`. The outermost digit counts 32 channels; the digits below it
count the 45 steps of a window, which are added to positions in `%x`. A chunk of 16 steps of the sum
therefore spans two channels, unless the channels are the innermost digit.

A subscript may also add a digit of `%j` that is less than the distance of its steps, as the phase
of a transposed convolution: `%k mod 2 * 2 + %j mod 2`.
"""

from collections.abc import Sequence
from math import gcd, inf
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from tilewright.dialects import loop
from tilewright.dialects.axes import range_of_value
from tilewright.dialects.index import Sum, range_of, sum_of
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.types import memref_type
from tilewright.passes.facts.nest import reducing_nest
from tilewright.passes.facts.roles import is_contraction

_MOST_PADDED = 4 / 3
"""Most steps of a padded sum for each step of the sum: 24 channels are padded to 32."""


class WindowedOperand(NamedTuple):
    """An operand of a product that sums over channels, and over a window for each channel."""

    product: loop.ReduceOp
    load: loop.LoadOp
    steps: Sequence[int | None]
    """Steps of the product after which each subscript changes; None if it does not change."""
    chunk: int
    """Steps that a chunk of the product has at least where tensor cores multiply."""

    @property
    def window(self) -> int:
        """Steps of the product for each channel."""
        return max(step for step in self.steps if step is not None)

    @property
    def channels(self) -> int:
        """Channels that the product sums over."""
        return self.product.extent.value.data // self.window

    @property
    def padded(self) -> int:
        """Channels with those of zeros that fill the last chunk."""
        return -(-self.channels // self.chunk) * self.chunk

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
    chunk = _chunk(load)
    found = WindowedOperand(product, load, steps, chunk)
    is_linear = gcd(*(count for count in digits if count > 1)) % chunk == 0
    others = (expr for expr, count in summed if count != found.window)
    is_packable = all(_is_number(expr, axis, load.indices) for expr in others)
    is_whole = product.extent.value.data > 0 and product.extent.value.data % found.window == 0
    if is_linear or not is_packable or not is_whole:
        return None
    if found.padded == found.channels:
        return found
    is_cheap = found.padded <= _MOST_PADDED * found.channels
    return found if is_cheap and _multiplies_alone(product) else None


def _chunk(load: loop.LoadOp) -> int:
    """Return the steps that matrix instructions add at once, for all types of this element."""
    return 8 if memref_type(load.memref).element_type == f32 else 16


def _multiplies_alone(product: loop.ReduceOp) -> bool:
    """True if the product adds zero in a step whose loads are masked, as after the channels."""
    parts = loop.LoadOp, loop.YieldOp, arith.ExtFOp, arith.MulfOp
    is_alone = all(isinstance(op, parts) for op in product.body.block.ops)
    return is_alone and product.monoid.data is Monoid.ADD


def _is_number(expr: AffineExpr, axis: int, indices: Sequence[SSAValue]) -> bool:
    """
    True if a digit of the axis is all of `expr`, or its outermost digit: steps of a window are none
    that are added to a position.
    """
    ranges = [range_of_value(index) for index in indices]
    value = sum_of(expr, ranges)
    taken = [(atom, n) for atom, n in value.terms.items() if axis in atom.used_dims()]
    rest = Sum({atom: n for atom, n in value.terms.items() if axis not in atom.used_dims()})
    if not rest.terms:
        return True
    known = range_of(rest.expr(), ranges)
    return len(taken) == 1 and known is not None and 0 <= known.low <= known.high < abs(taken[0][1])


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
