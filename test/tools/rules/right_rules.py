# SPDX-License-Identifier: Apache-2.0
"""Ten rules of Tensor IR that are right, also for NaN, infinities and both zeros."""

from xdsl.dialects.builtin import FloatAttr
from xdsl.ir.affine import AffineMap
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilewright.dialects import prim
from tilewright.dialects.element_types import COMPUTE_INTEGERS
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.prim.index_map import composed
from tilewright.dialects.scalar_function import ScalarFunction
from tilewright.dialects.types import element_of, shape_of, tensor_type


def constant(value: object) -> float | None:
    """Return the number that all elements of a value have; None if it is no constant."""
    op = getattr(value, "owner", None)
    return op.value.value.data if isinstance(op, prim.ConstantOp) else None


class ReluOfRelu(RewritePattern):
    """Rewrite `max(max(x, 0), 0)` to `max(x, 0)`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the outer maximum."""
        if op.function.data is not ScalarFunction.MAXIMUM or constant(op.inputs[1]) != 0:
            return
        inner = prim.elementwise_op(op.inputs[0], ScalarFunction.MAXIMUM)
        if inner is not None and constant(inner.inputs[1]) == 0:
            rewriter.replace(op, [], [op.inputs[0]])


class DoubleNegation(RewritePattern):
    """Rewrite `-(-x)` to `x`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the outer negation."""
        if op.function.data is not ScalarFunction.NEG:
            return
        if (inner := prim.elementwise_op(op.inputs[0], ScalarFunction.NEG)) is not None:
            rewriter.replace(op, [], [inner.inputs[0]])


class DivideByTwo(RewritePattern):
    """Rewrite `x / 2` of floats to `x * 0.5`, which has no other roundings."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the division."""
        if op.function.data is not ScalarFunction.DIV or constant(op.inputs[1]) != 2:
            return
        divisor = op.inputs[1].owner
        if isinstance(divisor, prim.ConstantOp) and isinstance(divisor.value, FloatAttr):
            half = prim.ConstantOp(FloatAttr(0.5, divisor.value.type), tensor_type(op.inputs[1]))
            element = element_of(op.result)
            product = prim.ElementwiseOp(ScalarFunction.MUL, [op.inputs[0], half.result], element)
            rewriter.replace(op, [half, product])


class SubtractNegated(RewritePattern):
    """Rewrite `a - (-b)` to `a + b`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the difference."""
        if op.function.data is not ScalarFunction.SUB:
            return
        if (inner := prim.elementwise_op(op.inputs[1], ScalarFunction.NEG)) is not None:
            operands = [op.inputs[0], inner.inputs[0]]
            element = element_of(op.result)
            rewriter.replace(op, prim.ElementwiseOp(ScalarFunction.ADD, operands, element))


class ZeroTimesInteger(RewritePattern):
    """Rewrite `x * 0` of integers to `0`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the product."""
        element = element_of(op.result)
        if op.function.data is not ScalarFunction.MUL or element not in COMPUTE_INTEGERS:
            return
        if constant(op.inputs[1]) == 0:
            rewriter.replace(op, [], [op.inputs[1]])


class SelectOfNot(RewritePattern):
    """Rewrite `select(c xor true, a, b)` to `select(c, b, a)`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the select."""
        if op.function.data is not ScalarFunction.SELECT:
            return
        inverted = prim.elementwise_op(op.inputs[0], ScalarFunction.XOR)
        if inverted is None or constant(inverted.inputs[1]) not in (1, -1):
            return
        _, then, otherwise = op.inputs
        operands = [inverted.inputs[0], otherwise, then]
        element = element_of(op.result)
        rewriter.replace(op, prim.ElementwiseOp(ScalarFunction.SELECT, operands, element))


class WideningRoundTrip(RewritePattern):
    """Rewrite a cast of f32 to f64 and back to the f32."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the narrowing cast."""
        if op.function.data is not ScalarFunction.CAST:
            return
        inner = prim.elementwise_op(op.inputs[0], ScalarFunction.CAST)
        if inner is None or inner.inputs[0].type != op.result.type:
            return
        if (str(element_of(op.result)), str(element_of(inner.result))) == ("f32", "f64"):
            rewriter.replace(op, [], [inner.inputs[0]])


class ComposeMaps(RewritePattern):
    """Rewrite an index map of an index map to one, in the right order."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.IndexMapOp, rewriter: PatternRewriter) -> None:
        """Match the outer map."""
        outer = op.only_source
        if outer is None or not isinstance(outer.tensor.owner, prim.IndexMapOp):
            return
        inner, shape = outer.tensor.owner.only_source, shape_of(op.result)
        if inner is None or not shape or 0 in shape or not _permutes(inner.map, outer.map):
            return
        both = composed(inner.map, outer.map, shape)
        rewriter.replace(op, prim.IndexMapOp([prim.Source.always(inner.tensor, both)], shape))


def _permutes(*maps: AffineMap) -> bool:
    """True if all maps permute their dims."""
    return all({*map.results} == {*AffineMap.identity(map.num_dims).results} for map in maps)


class ReduceOfReduce(RewritePattern):
    """Rewrite a maximum of maxima to one maximum over both axes."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ReduceOp, rewriter: PatternRewriter) -> None:
        """Match the outer reduction."""
        inner = op.inputs[0].owner
        if not isinstance(inner, prim.ReduceOp) or len(inner.inputs) > 1:
            return
        if not op.monoid.data is inner.monoid.data is Monoid.MAX:
            return
        rank, first = len(shape_of(inner.inputs[0])), inner.dims.get_values()
        kept = [dim for dim in range(rank) if dim not in first]
        dims = sorted([*first, *(kept[dim] for dim in op.dims.get_values())])
        rewriter.replace(op, prim.ReduceOp(op.monoid, [*inner.inputs], dims))


class ReduceOfUnitAxis(RewritePattern):
    """Rewrite a sum over an axis of size 1 to an index map that drops the axis."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ReduceOp, rewriter: PatternRewriter) -> None:
        """Match the sum."""
        dims, shape = op.dims.get_values(), shape_of(op.inputs[0])
        if op.monoid.data is not Monoid.ADD or len(dims) != 1 or shape[dims[0]] != 1:
            return
        result = shape_of(op.results[0])
        exprs = [*AffineMap.identity(len(result)).results]
        exprs.insert(dims[0], AffineMap.constant_map(0).results[0])
        map = AffineMap(len(result), 0, tuple(exprs))
        rewriter.replace(op, prim.IndexMapOp([prim.Source.always(op.inputs[0], map)], result))
