# SPDX-License-Identifier: Apache-2.0
"""
Products of float32 factors by matrix instructions on tf32, which has 11 significant bits of 24.

A factor is rounded to tf32, or split into two parts. Three products of parts then replace one
product of float32:

    high = tf32(x)                               |x - high| is at most 2^-11 |x|
    low  = (x - high) * 1024                     scaled, so that it is not subnormal
    x * y = high_x * high_y + (low_x * high_y + high_x * low_y) / 1024

The low part has 12 significant bits, of which the instruction ignores the last. The product of both
low parts, at most 2^-22 of the whole, is left out. Tensor cores cut off bits of their sums. The
products of 16 steps are therefore added to a new sum. An instruction that rounds adds this sum to
the float32 sum.

Infinities and NaN are those of float32:

- The high part of an infinity is the infinity. No finite number is rounded to an infinity.
- A sum of products of high parts that is infinite or NaN is the result. Low parts of the same
  numbers may be NaN, and their products may overflow with another sign.

Three limits remain. A sum may become infinite at 2^-10 below the overflow of float32. Factors lose
bits below 2^-146. The high part of numbers below 2^-137 is zero, whose product with an infinity is
NaN.

Ootomo, Yokota: Recovering Single Precision Accuracy from Tensor Cores While Surpassing the FP32
Theoretical Peak Performance, 2022.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from math import inf
from typing import NamedTuple

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, IndexType, f32
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop
from tilewright.dialects.axes import Access
from tilewright.dialects.kernel.matrix import MatrixMultiplyOp, RoundTf32Op
from tilewright.dialects.kernel.registers import RegistersOp, UnrollOp
from tilewright.dialects.matrix_instruction import MatrixInstruction
from tilewright.dialects.types import memref_type
from tilewright.passes.kernel.emitter import Emitter
from tilewright.passes.kernel.matrix_fragments import Fragments
from tilewright.passes.kernel.thread_values import ThreadValues

_TF32 = MatrixInstruction.M16N8K8_TF32
_ZERO = AffineExpr.constant(0)
_D0, _D1 = AffineExpr.dimension(0), AffineExpr.dimension(1)

LARGEST = float.fromhex("0x1.ffcp127")
"""Largest number of tf32."""

SCALE = 1024.0
"""
Factor of low parts: the largest for which the low part of a float32 number is finite in tf32.
"""

_TINY = 2.0**-20
"""Factor of the rest of a finite number, so small that its sum with the high part is that part."""

_PAIR = 2
"""Rows, and columns, of D in a lane."""


class Parts(NamedTuple):
    """Fragments of the high and of the low parts of an operand's elements."""

    high: Fragments
    low: Fragments


def rounded(fragments: Fragments, values: ThreadValues, emit: Emitter) -> Fragments:
    """Round all elements of the fragments to tf32, and return new fragments."""
    new = _new_array(fragments, "rounded", emit)

    def round(element: SSAValue) -> Sequence[SSAValue]:
        return [emit.value(RoundTf32Op(element))]

    _map_elements(fragments, [new], round, values, emit)
    return new


class SplitProducts:
    """Lowering of products of float32 factors to three products of tf32."""

    def __init__(self, values: ThreadValues, emitter: Emitter):
        self.values, self.emit = values, emitter

    def parts(self, fragments: Fragments) -> Parts:
        """Split all elements of the fragments into high and low parts."""
        parts = Parts(*(_new_array(fragments, name, self.emit) for name in ("high", "low")))
        _map_elements(fragments, parts, self._split, self.values, self.emit)
        return parts

    def _split(self, element: SSAValue) -> Sequence[SSAValue]:
        """
        Return the high and the low part of an element. The high part of an infinity is rounded to a
        number first, and becomes infinite by the sum with a tiny part of the infinite rest.
        """
        least, most, scale, tiny = map(self._constant, (-LARGEST, LARGEST, SCALE, _TINY))
        above = self.emit.value(arith.MaximumfOp(element, least))
        near = self.emit.value(RoundTf32Op(self.emit.value(arith.MinimumfOp(above, most))))
        rest = self.emit.value(arith.SubfOp(element, near))
        high = self.emit.value(math.FmaOp(rest, tiny, near))
        return high, self.emit.value(arith.MulfOp(rest, scale))

    def multiply(self, steps: Sequence[tuple[Parts, Parts]], sums: SSAValue, at: Access) -> None:
        """
        Add the products of one fragment of A and one of B, for some steps, to the sums that begin
        at `at` of an array.
        """
        main, cross = (self._zeros(name) for name in ("main", "cross"))
        for a, b in steps:
            self._multiply(a.high, b.high, main)
        for a, b in steps:
            self._multiply(a.low, b.high, cross)
            self._multiply(a.high, b.low, cross)
        dims, operands = at
        in_fragment = [AffineExpr.dimension(len(dims) + n) for n in range(2)]
        with self._each_sum() as pair:
            place = [*dims, *in_fragment], [*operands, *pair]
            high, low = (
                self.emit.value(loop.LoadOp(array, ([_D0, _D1], pair))) for array in (main, cross)
            )
            both = self.emit.value(math.FmaOp(low, self._constant(1 / SCALE), high))
            added = self._if_finite(high, both, high)
            before = self.emit.value(loop.LoadOp(sums, place))
            after = self.emit.value(arith.AddfOp(before, added))
            self.emit.op(loop.StoreOp(after, sums, place))

    def _if_finite(self, value: SSAValue, then: SSAValue, otherwise: SSAValue) -> SSAValue:
        """Return `then` if `value` is finite, else `otherwise`."""
        size = self.emit.value(math.AbsFOp(value))
        is_finite = self.emit.value(arith.CmpfOp(size, self._constant(inf), "olt"))
        return self.emit.value(arith.SelectOp(is_finite, then, otherwise))

    def _zeros(self, name: str) -> SSAValue:
        """Return a new fragment of D that holds zeros."""
        array = self.emit.value(RegistersOp(f32, [_PAIR, _PAIR]), name)
        with self._each_sum() as pair:
            self.emit.op(loop.StoreOp(self._constant(0.0), array, ([_D0, _D1], pair)))
        return array

    @contextmanager
    def _each_sum(self) -> Generator[Sequence[SSAValue]]:
        """Run ops that are appended in the context for each row and column of a fragment of D."""
        body = Block(arg_types=[IndexType()] * 2)
        for index, name in zip(body.args, ("row", "column"), strict=True):
            index.name_hint = name
        self.emit.op(UnrollOp([_PAIR, _PAIR], Region(body)))
        with self.emit.inside(body):
            yield body.args

    def _multiply(self, a: Fragments, b: Fragments, to: SSAValue) -> None:
        fragments = (a.array, a.access(self.values), b.array, b.access(self.values))
        self.emit.op(MatrixMultiplyOp(_TF32, *fragments, to, ([_ZERO, _ZERO], [])))

    def _constant(self, value: float) -> SSAValue:
        return self.emit.value(arith.ConstantOp(FloatAttr(value, f32)))


def _new_array(like: Fragments, name: str, emit: Emitter) -> Fragments:
    array = RegistersOp(f32, memref_type(like.array).get_shape())
    return like._replace(array=emit.value(array, name))


def _map_elements(
    source: Fragments,
    targets: Sequence[Fragments],
    function: Callable[[SSAValue], Sequence[SSAValue]],
    values: ThreadValues,
    emit: Emitter,
) -> None:
    """Store the results of a function of each element of `source` at its place in `targets`."""
    body = Block(arg_types=[IndexType()])
    body.args[0].name_hint = "element"
    with values.nest(source.axes):
        emit.op(UnrollOp([source.elements], Region(body)))
        with emit.inside(body):
            (*dims, _), axes = source.access(values)
            place = [*dims, AffineExpr.dimension(len(dims))], [*axes, *body.args]
            element = emit.value(loop.LoadOp(source.array, place))
            for target, result in zip(targets, function(element), strict=True):
                emit.op(loop.StoreOp(result, target.array, place))
