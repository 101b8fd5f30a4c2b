# SPDX-License-Identifier: Apache-2.0
"""
Lowering of reductions by matrix instructions (`tensor-core`).

    %chunk = loop.reduce %ki in 64 with add by(m16n8k16_bf16) { ... %as[...] ... %bs[...] ... }

becomes

    scf.for %ki = %0 to %4 step %1 {
      ... load %a and %b (matrix_fragments.py) ...
      kernel.unroll %sm in 4, %sn in 4 {
        kernel.matrix_multiply m16n8k16_bf16 %a[%sm, 0], %b[%sn, 0], %sum[%sm, %sn, 0, 0]
      }
    } {unroll}

Each step multiplies every fragment of A by every fragment of B. Factors of float32 are rounded to
tf32 first, or split into two parts (`split_tf32.py`).
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from tilewright.dialects import loop
from tilewright.dialects.axes import Access
from tilewright.dialects.kernel.matrix import MatrixMultiplyOp
from tilewright.passes.facts.matrix_product import MatrixProduct, matrix_product
from tilewright.passes.kernel.emitter import Emitter
from tilewright.passes.kernel.matrix_fragments import FragmentLoads, StepOfK
from tilewright.passes.kernel.split_tf32 import SplitProducts, rounded
from tilewright.passes.kernel.thread_values import ThreadValues
from tilewright.passes.reporting.refusal import refused

_ZERO = AffineExpr.constant(0)


class MatrixReductions:
    """Lowering of reductions whose products matrix instructions add."""

    def __init__(self, values: ThreadValues, emitter: Emitter, thread: SSAValue):
        self.values, self.emit = values, emitter
        self.loads = FragmentLoads(values, emitter, thread)

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
        together = 2 if product.is_split and steps % 2 == 0 else 1

        def step(index: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
            with self.values.scope():
                self._multiply(op, product, [StepOfK(index, together, n) for n in range(together)])
            return ()

        unroll = not product.is_split
        self.emit.loop(steps // together, (), step, op.axis.name_hint, unroll=unroll)

    def _multiply(self, op: loop.ReduceOp, product: MatrixProduct, steps: list[StepOfK]) -> None:
        """Load the fragments of some steps, and add all their products to the sums."""
        if product.is_split:
            self._multiply_split(op, product, steps)
            return
        (step,) = steps
        a, b = (self.loads.load(operand, step) for operand in (product.a, product.b))
        if product.fragments.element == f32:
            a, b = (rounded(each, self.values, self.emit) for each in (a, b))
        with self.values.nest(self._axes(op)):
            fragments = (a.array, a.access(self.values), b.array, b.access(self.values))
            sums = self.values.array(op.results[0]), self._sums(op, [_ZERO, _ZERO])
            self.emit.op(MatrixMultiplyOp(product.instruction, *fragments, *sums))

    def _multiply_split(
        self, op: loop.ReduceOp, product: MatrixProduct, steps: list[StepOfK]
    ) -> None:
        """
        Do the same with factors that are split. Fragments of A are loaded when they are needed:
        with the parts of all of them, a thread would run out of registers.
        """
        split = SplitProducts(self.values, self.emit)
        of_b = [split.parts(self.loads.load(product.b, step)) for step in steps]
        columns = {axis for axis in of_b[0].high.axes}
        rows = [axis for axis in self._axes(op) if axis not in columns]
        with self.values.nest(rows):
            of_a = [split.parts(self.loads.load(product.a, step, rows)) for step in steps]
            with self.values.nest(of_b[0].high.axes):
                parts = [*zip(of_a, of_b, strict=True)]
                split.multiply(parts, self.values.array(op.results[0]), self._sums(op, []))

    def _axes(self, op: loop.ReduceOp) -> Sequence[SSAValue]:
        """Return the register axes of the sums, except those of a fragment."""
        *axes, _, _ = self.values.registers.ordered(self.values.registers.of(op.results))
        return axes

    def _sums(self, op: loop.ReduceOp, in_fragment: Sequence[AffineExpr]) -> Access:
        """Return the subscripts of a fragment of the sums at this step of the nest."""
        axes = self._axes(op)
        dims = [AffineExpr.dimension(at) for at in range(len(axes))]
        return [*dims, *in_fragment], [self.values.at(axis) for axis in axes]
