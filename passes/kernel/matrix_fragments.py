# SPDX-License-Identifier: Apache-2.0
"""
Loads of the fragments of A and B from slabs into register arrays, for matrix instructions.

    %a = kernel.registers : memref<4x8xbf16, 5 : i64>
    kernel.unroll %sm in 4 {
      kernel.load_matrix %as[...] to %a[%sm, 0] count 4
    }
    %b = kernel.registers : memref<4x4xbf16, 5 : i64>
    kernel.unroll %pair in 2 {
      kernel.load_matrix %bs[...] to %b[%pair * 2, 0] count 4 transposed
    }

A load fetches four registers: a whole fragment of A, or two fragments of B. Fragments whose rows
`ldmatrix` cannot load are read element by element. Fragments that a lane holds already are not
loaded (`held_fragments.py`).
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop
from tilewright.dialects.axes import Access
from tilewright.dialects.index import delinearize
from tilewright.dialects.kernel.matrix import LoadMatrixOp
from tilewright.dialects.kernel.registers import RegistersOp, UnrollOp
from tilewright.dialects.matrix_instruction import MATRIX_ROWS, MOST_MATRICES
from tilewright.dialects.target import WARP_SIZE
from tilewright.passes.facts.held_fragments import HeldFragments, held_fragments
from tilewright.passes.facts.matrix_operand import MatrixOperand
from tilewright.passes.kernel.emitter import Emitter
from tilewright.passes.kernel.thread_values import Indices, ThreadValues

_ZERO = AffineExpr.constant(0)
_D0, _D1 = AffineExpr.dimension(0), AffineExpr.dimension(1)
_LANE = _D0 % WARP_SIZE
"""Lane of a thread, as an expression of the thread id."""


class LoadedFragments(NamedTuple):
    """Register array with a fragment for each step of some register axes."""

    array: SSAValue
    axes: Sequence[SSAValue]
    elements: int
    """Elements of a fragment."""

    def access(self, values: ThreadValues, element: AffineExpr = _ZERO) -> Access:
        """
        Return the subscripts of an element of the fragment at this step of the nest. `element` is
        an expression without dimensions.
        """
        dims = [AffineExpr.dimension(at) for at in range(len(self.axes))]
        return [*dims, element], [values.at(axis) for axis in self.axes]


class StepOfK(NamedTuple):
    """The step `loop * stride + offset` of a reduction, which does all of a fragment's K."""

    loop: SSAValue
    """Index of the loop over steps."""
    stride: int
    offset: int


class FragmentLoads:
    """Lowering of the loads of fragments."""

    def __init__(self, values: ThreadValues, emitter: Emitter, thread: SSAValue):
        self.values, self.emit, self.thread = values, emitter, thread

    def load(
        self, operand: MatrixOperand, step: StepOfK, bound: Collection[SSAValue] = ()
    ) -> LoadedFragments:
        """
        Load the fragments of an operand for a step, for all steps of the register axes except those
        that are `bound` by nests around it.
        """
        registers, digits = self.values.registers, {axis.value for axis in operand.digits}
        axes = registers.ordered(registers.of(operand.load.operands) - digits - {*bound})
        shape = [*(registers.extents[axis] for axis in axes), operand.elements]
        array = RegistersOp(operand.load.result.type, shape)
        name = "a" if operand.is_left else "b"
        fragments = LoadedFragments(self.emit.value(array, name), axes, operand.elements)
        if operand.is_left and (held := held_fragments(operand.load)) is not None:
            self._take(held, step, fragments)
            return fragments
        load = self._load_elements if operand.transposed is None else self._load_matrices
        load(operand, step, fragments)
        return fragments

    def _take(self, held: HeldFragments, step: StepOfK, to: LoadedFragments) -> None:
        """Take the elements of each fragment from two tiles of values that the lane holds."""
        registers = self.values.registers
        extents = [registers.extents[axis] for axis in held.tiles]
        body = Block(arg_types=[IndexType()])
        (element,) = body.args
        element.name_hint = "element"
        number = (_D1 * step.stride + step.offset) * 2 + _D0 // 4
        digits = dict(zip(held.tiles, delinearize(number, extents), strict=True))
        digits |= {held.row: _D0 // 2 % 2, held.column: _D0 % 2}
        with self.values.nest(to.axes):
            self.emit.op(UnrollOp([to.elements], Region(body)))
            with self.emit.inside(body):
                axes = registers.ordered(registers.of([held.value]))
                outer = [self.values.at(axis) for axis in axes if axis not in digits]
                operands = [element, step.loop, *outer]
                dims = iter(AffineExpr.dimension(2 + at) for at in range(len(outer)))
                at = [digits[axis] if axis in digits else next(dims) for axis in axes]
                load = loop.LoadOp(self.values.array(held.value), (at, operands))
                (*dims, _), outer = to.access(self.values)
                place = [*dims, AffineExpr.dimension(len(dims))], [*outer, element]
                self.emit.op(loop.StoreOp(self.emit.value(load), to.array, place))

    def _load_elements(self, operand: MatrixOperand, step: StepOfK, to: LoadedFragments) -> None:
        """Load the elements of each fragment one by one."""
        body = Block(arg_types=[IndexType()])
        (element,) = body.args
        element.name_hint = "element"
        with self.values.nest(to.axes):
            self.emit.op(UnrollOp([operand.elements], Region(body)))
            with self.emit.inside(body):
                indices = self._indices(operand.at(_LANE, _D1), operand, step, [element])
                value = self.emit.value(loop.LoadOp(*self.values.place(operand.load, indices)))
                (*dims, _), axes = to.access(self.values)
                place = [*dims, AffineExpr.dimension(len(dims))], [*axes, element]
                self.emit.op(loop.StoreOp(value, to.array, place))

    def _load_matrices(self, operand: MatrixOperand, step: StepOfK, to: LoadedFragments) -> None:
        """Load the fragments by `ldmatrix`; two fragments of two registers are loaded at once."""
        registers = operand.elements // operand.per_register
        extents = self.values.registers.extents
        row, matrix = _LANE % MATRIX_ROWS, _LANE // MATRIX_ROWS % registers
        indices = self._indices(operand.row_at(row, matrix), operand, step, [])
        is_paired = 2 * registers <= MOST_MATRICES and to.axes and extents[to.axes[-1]] % 2 == 0
        if not is_paired:
            with self.values.nest(to.axes):
                self._load_matrix(operand, indices, to.array, to.access(self.values), registers)
            return
        *outer, inner = to.axes
        body = Block(arg_types=[IndexType()])
        (pair,) = body.args
        pair.name_hint = "pair"
        second = _LANE.replace_dims_and_symbols([_D1], ()) // (MATRIX_ROWS * registers)
        indices = {**indices, inner: (_D0 * 2 + second, (pair, self.thread))}
        dims = [AffineExpr.dimension(at) for at in range(len(to.axes))]
        with self.values.nest(outer):
            self.emit.op(UnrollOp([extents[inner] // 2], Region(body)))
            with self.emit.inside(body):
                axes = [*(self.values.at(axis) for axis in outer), pair]
                place = [*dims[:-1], dims[-1] * 2, _ZERO], axes
                self._load_matrix(operand, indices, to.array, place, 2 * registers)

    def _load_matrix(
        self, operand: MatrixOperand, indices: Indices, array: SSAValue, at: Access, count: int
    ) -> None:
        place = self.values.place(operand.load, indices)
        is_transposed = bool(operand.transposed)
        self.emit.op(LoadMatrixOp(*place, array, at, count, transposed=is_transposed))

    def _indices(
        self,
        at: Mapping[SSAValue, AffineExpr],
        operand: MatrixOperand,
        step: StepOfK,
        more: Sequence[SSAValue],
    ) -> Indices:
        """
        Return the values of an operand's axes in a step; `at` are expressions of the thread id and
        of `more`.
        """
        operands = [self.thread, *more]
        number = AffineExpr.dimension(len(operands)) * step.stride + step.offset
        digits = {axis.value: (at[axis.value], operands) for axis in operand.digits}
        k = at[operand.k] + number * operand.steps
        return {**digits, operand.k: (k, [*operands, step.loop])}
