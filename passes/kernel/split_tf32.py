# SPDX-License-Identifier: Apache-2.0
"""
Products of float32 factors by matrix instructions on tf32, which has 11 significant bits of 24.

A factor is rounded to tf32, or it is split into two parts. Three products of the parts in tf32
replace one product of float32 (Ootomo and Yokota 2022, "Recovering single precision accuracy from
Tensor Cores"):

    high = tf32(x)                               |x - high| is at most 2^-11 |x|
    low  = (x - high) * 1024                     scaled, so that it is not subnormal
    x * y = high_x * high_y + (low_x * high_y + high_x * low_y) / 1024

The low part has 12 significant bits, of which the instruction ignores the last. The product of both
low parts, at most 2^-22 of the whole, is left out. Tensor cores cut off bits of
their sums. Therefore the products of 16 steps have a sum of their own, which an instruction that
rounds adds to the float32 sum.

The high part of an infinity is the largest tf32 number, and its low part the infinity. Otherwise
the low part would be NaN.
"""

from collections.abc import Callable, Sequence
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
        """Return the high and the low part of an element."""
        least, most, scale = (self._constant(each) for each in (-LARGEST, LARGEST, SCALE))
        above = self.emit.value(arith.MaximumfOp(element, least))
        high = self.emit.value(RoundTf32Op(self.emit.value(arith.MinimumfOp(above, most))))
        rest = self.emit.value(arith.SubfOp(element, high))
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
        pair = [AffineExpr.dimension(len(dims) + n) for n in range(2)]
        body = Block(arg_types=[IndexType()] * 2)
        self.emit.op(UnrollOp([_PAIR, _PAIR], Region(body)))
        with self.emit.inside(body):
            place = [*dims, *pair], [*operands, *body.args]
            high, low = (
                self.emit.value(loop.LoadOp(array, ([_D0, _D1], [*body.args])))
                for array in (main, cross)
            )
            added = self.emit.value(math.FmaOp(low, self._constant(1 / SCALE), high))
            before = self.emit.value(loop.LoadOp(sums, place))
            after = self.emit.value(arith.AddfOp(before, added))
            self.emit.op(loop.StoreOp(after, sums, place))

    def _zeros(self, name: str) -> SSAValue:
        """Return a new fragment of D that holds zeros."""
        array = self.emit.value(RegistersOp(f32, [_PAIR, _PAIR]), name)
        body = Block(arg_types=[IndexType()] * 2)
        self.emit.op(UnrollOp([_PAIR, _PAIR], Region(body)))
        with self.emit.inside(body):
            zero = self.emit.value(arith.ConstantOp(FloatAttr(0.0, f32)))
            self.emit.op(loop.StoreOp(zero, array, ([_D0, _D1], [*body.args])))
        return array

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
