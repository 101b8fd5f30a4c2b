# SPDX-License-Identifier: Apache-2.0
"""
Lowering of reductions by matrix instructions (`tensor-core`).

    %chunk = loop.reduce %ki in 64 with add by(m16n8k16_bf16) { ... %as[...] ... %bs[...] ... }

becomes

    scf.for %ki = %0 to %4 step %1 {
      %a = kernel.registers : memref<4x8xbf16, 5 : i64>
      kernel.unroll %sm in 4 {
        kernel.load_matrix %as[...] to %a[%sm, 0] count 4
      }
      %b = kernel.registers : memref<4x4xbf16, 5 : i64>
      kernel.unroll %pair in 2 {
        kernel.load_matrix %bs[...] to %b[%pair * 2, 0] count 4 transposed
      }
      kernel.unroll %sm in 4, %sn in 4 {
        kernel.matrix_multiply m16n8k16_bf16 %a[%sm, 0], %b[%sn, 0], %sum[%sm, %sn, 0, 0]
      }
    } {unroll}

Each step loads the fragments of A and B from slabs, then multiplies every fragment of A by every
fragment of B. A load fetches four registers: a whole fragment of A, or two fragments of B.
"""

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Region, SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop
from tilewright.dialects.axes import Access
from tilewright.dialects.kernel.matrix import LoadMatrixOp, MatrixMultiplyOp
from tilewright.dialects.kernel.registers import RegistersOp, UnrollOp
from tilewright.dialects.target import WARP_SIZE
from tilewright.passes.facts.matrix_product import (
    MATRIX_ROWS,
    MatrixOperand,
    MatrixProduct,
    matrix_product,
)
from tilewright.passes.kernel.emitter import Emitter
from tilewright.passes.kernel.thread_values import Indices, ThreadValues
from tilewright.passes.reporting.refusal import refused

_ZERO = AffineExpr.constant(0)
_D0, _D1 = AffineExpr.dimension(0), AffineExpr.dimension(1)
_LANE = _D0 % WARP_SIZE
"""Lane of a thread, as an expression of the thread id."""

_MOST_MATRICES = 4
"""Most matrices that one `ldmatrix` loads."""


class _Fragments:
    """Fragments of A or B in a register array, for each step of the register `axes`."""

    def __init__(self, array: SSAValue, axes: Sequence[SSAValue]):
        self.array, self.axes = array, axes

    def access(self, values: ThreadValues) -> Access:
        """Return the subscripts of the fragment at this step of the nest."""
        dims = [AffineExpr.dimension(at) for at in range(len(self.axes))]
        return [*dims, _ZERO], [values.at(axis) for axis in self.axes]


class MatrixReductions:
    """Lowering of reductions whose products matrix instructions add."""

    def __init__(self, values: ThreadValues, emitter: Emitter, thread: SSAValue):
        self.values, self.emit, self.thread = values, emitter, thread

    def lower(self, op: loop.ReduceOp) -> None:
        """
        Lower the steps of `op`, which add to the register array of its result.

        Raises `PlacedPassError` if the instruction cannot do the reduction.
        """
        assert op.instruction is not None
        product = matrix_product(op, op.instruction)
        if isinstance(product, str):
            raise refused(op, f"'{op.instruction}' cannot do this reduction: {product}")
        steps = op.extent.value.data // product.fragments.k

        def step(index: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
            with self.values.scope():
                self._multiply(op, product, index)
            return ()

        self.emit.loop(steps, (), step, op.axis.name_hint, unroll=True)

    def _multiply(self, op: loop.ReduceOp, product: MatrixProduct, index: SSAValue) -> None:
        """Load the fragments of one step, and add all their products to the sums."""
        fragments, registers = product.fragments, self.values.registers
        a = self._load(product.a, index, fragments.k, fragments.elements_a)
        b = self._load(product.b, index, fragments.k, fragments.elements_b)
        *axes, _, _ = registers.ordered(registers.of(op.results))
        dims = [AffineExpr.dimension(at) for at in range(len(axes))]
        with self.values.nest(axes):
            sums = [*dims, _ZERO, _ZERO], [self.values.at(axis) for axis in axes]
            self.emit.op(
                MatrixMultiplyOp(
                    product.instruction,
                    a.array,
                    a.access(self.values),
                    b.array,
                    b.access(self.values),
                    self.values.array(op.results[0]),
                    sums,
                )
            )

    def _load(self, operand: MatrixOperand, index: SSAValue, k: int, elements: int) -> _Fragments:
        """Load the fragments of an operand for the step `index`, which does `k` steps of K."""
        registers, digits = self.values.registers, {axis.value for axis in operand.digits}
        axes = [
            v for v in registers.ordered(registers.of(operand.load.operands)) if v not in digits
        ]
        shape = [*(registers.extents[axis] for axis in axes), elements]
        array = RegistersOp(operand.load.result.type, shape)
        name = "a" if operand.is_left else "b"
        fragments = _Fragments(self.emit.value(array, name), axes)
        if operand.transposed is None:
            self._load_elements(operand, index, k, fragments, elements)
        else:
            self._load_matrices(operand, index, k, fragments, elements)
        return fragments

    def _load_elements(
        self, operand: MatrixOperand, index: SSAValue, k: int, to: _Fragments, elements: int
    ) -> None:
        """Load the elements of each fragment one by one."""
        body = Block(arg_types=[IndexType()])
        body.args[0].name_hint = "element"
        with self.values.nest(to.axes):
            self.emit.op(UnrollOp([elements], Region(body)))
            with self.emit.inside(body):
                at = operand.at(_LANE, _D1)
                indices = self._indices(at, operand, index, k, [body.args[0]])
                memref, subscripts = self.values.place(operand.load, indices)
                value = self.emit.value(loop.LoadOp(memref, subscripts))
                (*dims, _), values = to.access(self.values)
                place = [*dims, AffineExpr.dimension(len(dims))], [*values, body.args[0]]
                self.emit.op(loop.StoreOp(value, to.array, place))

    def _load_matrices(
        self, operand: MatrixOperand, index: SSAValue, k: int, to: _Fragments, elements: int
    ) -> None:
        """Load the fragments by `ldmatrix`; two fragments of two registers are loaded at once."""
        registers = elements // operand.per_register
        extents = self.values.registers.extents
        is_paired = 2 * registers <= _MOST_MATRICES and to.axes and extents[to.axes[-1]] % 2 == 0
        matrix = _LANE // MATRIX_ROWS % registers
        indices = self._indices(operand.row_at(_LANE % MATRIX_ROWS, matrix), operand, index, k, [])
        if not is_paired:
            with self.values.nest(to.axes):
                self._load_matrix(operand, indices, to.array, to.access(self.values), registers)
            return
        *outer, inner = to.axes
        body = Block(arg_types=[IndexType()])
        body.args[0].name_hint = "pair"
        with self.values.nest(outer):
            self.emit.op(UnrollOp([extents[inner] // 2], Region(body)))
            with self.emit.inside(body):
                second = _LANE // (MATRIX_ROWS * registers)
                second = second.replace_dims_and_symbols([_D1], ())
                pair = {inner: (_D0 * 2 + second, (body.args[0], self.thread))}
                dims = [AffineExpr.dimension(at) for at in range(len(outer))]
                first = [*dims, AffineExpr.dimension(len(outer)) * 2, _ZERO]
                place = first, [*(self.values.at(axis) for axis in outer), body.args[0]]
                both = {**indices, **pair}
                self._load_matrix(operand, both, to.array, place, 2 * registers)

    def _load_matrix(
        self, operand: MatrixOperand, indices: Indices, array: SSAValue, at: Access, count: int
    ) -> None:
        memref, subscripts = self.values.place(operand.load, indices)
        is_transposed = bool(operand.transposed)
        self.emit.op(LoadMatrixOp(memref, subscripts, array, at, count, transposed=is_transposed))

    def _indices(
        self,
        at: Mapping[SSAValue, AffineExpr],
        operand: MatrixOperand,
        index: SSAValue,
        k: int,
        more: Sequence[SSAValue],
    ) -> Indices:
        """
        Return the values of an operand's axes at the step `index`; `at` are expressions of the
        thread id and of `more`.
        """
        operands = [self.thread, *more]
        step = at[operand.k] + AffineExpr.dimension(len(operands)) * k
        digits = {axis.value: (at[axis.value], operands) for axis in operand.digits}
        return {**digits, operand.k: (step, [*operands, index])}
