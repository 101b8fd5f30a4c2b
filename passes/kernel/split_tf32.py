# SPDX-License-Identifier: Apache-2.0
"""
Products of float32 factors by matrix instructions on tf32, which has 11 significant bits of 24.

A factor is rounded to tf32, or split into two parts. Three products of parts then replace one
product of float32:

    high = halve_tf32(x)                         |x / 2 - high| is at most 2^-12 |x|
    low  = (x / 2 - high) * 1024                 scaled, so that it is not subnormal
    x * y / 4 = high_x * high_y + (low_x * high_y + high_x * low_y) / 1024

The low part has up to 13 significant bits, of which the instruction ignores the last two. The
product of both low parts, at most 2^-22 of the whole, is left out. Tensor cores cut off bits of
their sums. The products of 16 steps are therefore added to a new sum. An instruction that rounds
adds this sum to the float32 sum.

Infinities and NaN are those of float32. A high part is infinite only if the factor is. The low
part of an infinity is NaN, and products of low parts may overflow with another sign. Their sums are
therefore limited to finite numbers, by instructions that ignore NaN. If the sum of products of high
parts is infinite or NaN, it is the result.

Two limits remain. Factors lose bits below 2^-145. The high part of numbers below 2^-135 is zero,
whose product with an infinity is NaN.

Ootomo, Yokota: Recovering Single Precision Accuracy from Tensor Cores While Surpassing the FP32
Theoretical Peak Performance, 2022.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, IndexType, f32
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop
from tilewright.dialects.axes import Access
from tilewright.dialects.kernel.matrix import (
    HalveTf32Op,
    MatrixMultiplyOp,
    NearestFiniteOp,
    RoundTf32Op,
)
from tilewright.dialects.kernel.registers import RegistersOp, UnrollOp
from tilewright.dialects.matrix_instruction import MatrixInstruction
from tilewright.dialects.types import memref_type
from tilewright.passes.kernel.emitter import Emitter
from tilewright.passes.kernel.matrix_fragments import LoadedFragments
from tilewright.passes.kernel.thread_values import ThreadValues

_TF32 = MatrixInstruction.M16N8K8_TF32
_ZERO = AffineExpr.constant(0)
_D0, _D1 = AffineExpr.dimension(0), AffineExpr.dimension(1)

_SCALE = 1024.0
"""Factor of low parts. With it, the low part of the largest float32 number is finite."""

_PAIR = 2
"""Rows, and columns, of D in a lane."""


class Parts(NamedTuple):
    """Fragments of the high and of the low parts of an operand's elements."""

    high: LoadedFragments
    low: LoadedFragments


def rounded(fragments: LoadedFragments, values: ThreadValues, emit: Emitter) -> LoadedFragments:
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

    def parts(self, fragments: LoadedFragments) -> Parts:
        """Split all elements of the fragments into high and low parts."""
        parts = Parts(*(_new_array(fragments, name, self.emit) for name in ("high", "low")))
        _map_elements(fragments, parts, self._split, self.values, self.emit)
        return parts

    def _split(self, element: SSAValue) -> Sequence[SSAValue]:
        """Return the high and the low part of an element."""
        half, scale = self._constant(0.5), self._constant(_SCALE)
        high = self.emit.value(HalveTf32Op(element))
        negative = self.emit.value(arith.NegfOp(high))
        rest = self.emit.value(math.FmaOp(element, half, negative))
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
            known = self.emit.value(NearestFiniteOp(low))
            both = self.emit.value(math.FmaOp(known, self._constant(1 / _SCALE), high))
            before = self.emit.value(loop.LoadOp(sums, place))
            after = self.emit.value(math.FmaOp(both, self._constant(4.0), before))
            self.emit.op(loop.StoreOp(after, sums, place))

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

    def _multiply(self, a: LoadedFragments, b: LoadedFragments, to: SSAValue) -> None:
        fragments = (a.array, a.access(self.values), b.array, b.access(self.values))
        self.emit.op(MatrixMultiplyOp(_TF32, *fragments, to, ([_ZERO, _ZERO], [])))

    def _constant(self, value: float) -> SSAValue:
        return self.emit.value(arith.ConstantOp(FloatAttr(value, f32)))


def _new_array(like: LoadedFragments, name: str, emit: Emitter) -> LoadedFragments:
    array = RegistersOp(f32, memref_type(like.array).get_shape())
    return like._replace(array=emit.value(array, name))


def _map_elements(
    source: LoadedFragments,
    targets: Sequence[LoadedFragments],
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
