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
from tilewright.dialects.matrix_instruction import STEPS_OF_SUM
from tilewright.passes.facts.matrix_operand import distinct_operands
from tilewright.passes.facts.matrix_product import (
    MatrixProduct,
    matrix_products,
)
from tilewright.passes.kernel.emitter import Emitter
from tilewright.passes.kernel.matrix_fragments import FragmentLoads, LoadedFragments, StepOfK
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
        products = matrix_products(op, op.instruction)
        if isinstance(products, str):
            raise refused(op, f"'{op.instruction}' cannot do this reduction: {products}")
        fragments, is_split = op.instruction.fragments, op.instruction.is_split
        steps = op.extent.value.data // fragments.k
        of_sum = STEPS_OF_SUM // fragments.k if is_split else 1
        together = of_sum if steps % of_sum == 0 else 1
        multiply = self._multiply_split if is_split else self._multiply

        def step(index: SSAValue, _: Sequence[SSAValue]) -> Sequence[SSAValue]:
            with self.values.scope():
                multiply(op, products, [StepOfK(index, together, n) for n in range(together)])
            return ()

        # Unrolled steps of split factors would need more registers than a thread has.
        self.emit.loop(steps // together, (), step, op.axis.name_hint, unroll=not is_split)

    def _multiply(
        self, op: loop.ReduceOp, products: Sequence[MatrixProduct], steps: Sequence[StepOfK]
    ) -> None:
        """Load the fragments of a step, and add all their products to the sums."""
        (step,) = steps
        loaded: dict[tuple[loop.LoadOp, bool], LoadedFragments] = {}
        for operand in distinct_operands(
            operand for each in products for operand in (each.a, each.b)
        ):
            fragments = self.loads.load(operand, step)
            if products[0].fragments.element == f32:
                fragments = rounded(fragments, self.values, self.emit)
            loaded[operand.key] = fragments
        with self.values.nest(self._axes(op)):
            for product, result in zip(products, op.results, strict=True):
                a, b = loaded[product.a.key], loaded[product.b.key]
                factors = (a.array, a.access(self.values), b.array, b.access(self.values))
                sums = self.values.array(result), self._sums(op, [_ZERO, _ZERO])
                self.emit.op(MatrixMultiplyOp(product.instruction, *factors, *sums))

    def _multiply_split(
        self, op: loop.ReduceOp, products: Sequence[MatrixProduct], steps: Sequence[StepOfK]
    ) -> None:
        """
        Load the fragments of some steps, split them, and add their products to the sums. Fragments
        of A are loaded when they are needed: with the parts of all of them, a thread would run out
        of registers.
        """
        split = SplitProducts(self.values, self.emit)
        of_b = {
            b.key: [split.parts(self.loads.load(b, step)) for step in steps]
            for b in distinct_operands(product.b for product in products)
        }
        columns = {axis: None for parts in of_b.values() for axis in parts[0].high.axes}
        rows = [axis for axis in self._axes(op) if axis not in columns]
        with self.values.nest(rows):
            of_a = {
                a.key: [split.parts(self.loads.load(a, step, rows)) for step in steps]
                for a in distinct_operands(product.a for product in products)
            }
            with self.values.nest([*columns]):
                for product, result in zip(products, op.results, strict=True):
                    parts = [*zip(of_a[product.a.key], of_b[product.b.key], strict=True)]
                    split.multiply(parts, self.values.array(result), self._sums(op, []))

    def _axes(self, op: loop.ReduceOp) -> Sequence[SSAValue]:
        """Return the register axes of the sums, except those of a fragment."""
        *axes, _, _ = self.values.registers.ordered(self.values.registers.of(op.results))
        return axes

    def _sums(self, op: loop.ReduceOp, in_fragment: Sequence[AffineExpr]) -> Access:
        """Return the subscripts of a fragment of the sums at this step of the nest."""
        axes = self._axes(op)
        dims = [AffineExpr.dimension(at) for at in range(len(axes))]
        return [*dims, *in_fragment], [self.values.at(axis) for axis in axes]
