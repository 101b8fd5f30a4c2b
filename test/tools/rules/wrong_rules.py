# SPDX-License-Identifier: Apache-2.0
"""Ten rules of Tensor IR that are subtly wrong; each docstring has the reason."""

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilewright.dialects import prim
from tilewright.dialects.element_types import number_attribute
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.prim.index_map import composed
from tilewright.dialects.scalar_function import ScalarFunction
from tilewright.dialects.types import element_of, shape_of, tensor_type


def constant(value: object) -> float | None:
    """Return the number that all elements of a value have; None if it is no constant."""
    op = getattr(value, "owner", None)
    return op.value.value.data if isinstance(op, prim.ConstantOp) else None


class ZeroTimes(RewritePattern):
    """Rewrite `x * 0` to `0`, which is NaN if x is infinite or NaN."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the product."""
        if op.function.data is ScalarFunction.MUL and constant(op.inputs[1]) == 0:
            rewriter.replace(op, [], [op.inputs[1]])


class SelfDifference(RewritePattern):
    """Rewrite `x - x` to `0`, which is NaN if x is infinite or NaN."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the difference."""
        if op.function.data is ScalarFunction.SUB and op.inputs[0] is op.inputs[1]:
            zero = number_attribute(0, element_of(op.result))
            rewriter.replace(op, prim.ConstantOp(zero, tensor_type(op.result)))


class ExpOfLog(RewritePattern):
    """Rewrite `exp(log(x))` to `x`, which is NaN if x is negative."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the exponential."""
        if op.function.data is not ScalarFunction.EXP:
            return
        if (inner := prim.elementwise_op(op.inputs[0], ScalarFunction.LOG)) is not None:
            rewriter.replace(op, [], [inner.inputs[0]])


class AddAndSubtract(RewritePattern):
    """Rewrite `(a + b) - b` to `a`, which is 0 if b is far larger than a."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the difference."""
        if op.function.data is not ScalarFunction.SUB:
            return
        inner = prim.elementwise_op(op.inputs[0], ScalarFunction.ADD)
        if inner is not None and inner.inputs[1] is op.inputs[1]:
            rewriter.replace(op, [], [inner.inputs[0]])


class MaximumOfMinimum(RewritePattern):
    """Rewrite `max(min(x, a), a)` to `x`; it is `a`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the maximum."""
        if op.function.data is not ScalarFunction.MAXIMUM:
            return
        inner = prim.elementwise_op(op.inputs[0], ScalarFunction.MINIMUM)
        if inner is not None and inner.inputs[1] is op.inputs[1]:
            rewriter.replace(op, [], [inner.inputs[0]])


class SwappedSelect(RewritePattern):
    """Rewrite `select(c xor true, a, b)` to `select(c, a, b)`, with the arms of the other case."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the select."""
        if op.function.data is not ScalarFunction.SELECT:
            return
        inverted = prim.elementwise_op(op.inputs[0], ScalarFunction.XOR)
        if inverted is not None and constant(inverted.inputs[1]) in (1, -1):
            operands: list[SSAValue] = [inverted.inputs[0], *op.inputs[1:]]
            element = element_of(op.result)
            rewriter.replace(op, prim.ElementwiseOp(ScalarFunction.SELECT, operands, element))


class NarrowingRoundTrip(RewritePattern):
    """Rewrite a cast to another type and back to the value, although the type may be narrower."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the second cast."""
        if op.function.data is not ScalarFunction.CAST:
            return
        inner = prim.elementwise_op(op.inputs[0], ScalarFunction.CAST)
        if inner is not None and inner.inputs[0].type == op.result.type:
            rewriter.replace(op, [], [inner.inputs[0]])


class ComposedBackwards(RewritePattern):
    """Rewrite an index map of an index map to one, in the wrong order."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.IndexMapOp, rewriter: PatternRewriter) -> None:
        """Match the outer map, if all sizes are equal."""
        outer = op.only_source
        if outer is None or not isinstance(outer.tensor.owner, prim.IndexMapOp):
            return
        inner, shape = outer.tensor.owner.only_source, shape_of(op.result)
        if inner is None or inner.tensor.type != op.result.type or len({*shape}) != 1:
            return
        if outer.tensor.type != op.result.type:
            return
        both = composed(outer.map, inner.map, shape)
        rewriter.replace(op, prim.IndexMapOp([prim.Source.always(inner.tensor, both)], shape))


class ReduceInnerDims(RewritePattern):
    """
    Rewrite a maximum of maxima to one maximum, with the outer dims as they are. They count the axes
    that the inner reduction leaves.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ReduceOp, rewriter: PatternRewriter) -> None:
        """Match the outer reduction, if this gives the right shape."""
        inner = op.inputs[0].owner
        if not isinstance(inner, prim.ReduceOp) or len(inner.inputs) > 1:
            return
        if not op.monoid.data is inner.monoid.data is Monoid.MAX:
            return
        dims = sorted({*inner.dims.get_values(), *op.dims.get_values()})
        merged = prim.ReduceOp(op.monoid, [*inner.inputs], dims)
        if [each.type for each in merged.results] == [each.type for each in op.results]:
            rewriter.replace(op, merged)


class RootOfSquare(RewritePattern):
    """Rewrite `sqrt(x * x)` to `x`; it is the absolute value."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the root."""
        if op.function.data is not ScalarFunction.SQRT:
            return
        inner = prim.elementwise_op(op.inputs[0], ScalarFunction.MUL)
        if inner is not None and inner.inputs[0] is inner.inputs[1]:
            rewriter.replace(op, [], [inner.inputs[0]])
