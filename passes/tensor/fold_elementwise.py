# SPDX-License-Identifier: Apache-2.0
"""
Elementwise functions whose result is known, or is an operand: constants are computed, and what
`identities` lists is dropped.

    %one = prim.constant 1.000000e+00 : f32 -> tensor<4xf32>
    %a = prim.elementwise mul(%x, %one) : tensor<4xf32>
    %b = prim.elementwise neg(%a) : tensor<4xf32>
    %c = prim.elementwise neg(%b) : tensor<4xf32>

is %x. Nothing is folded that rounds: a quotient such as 1 / 3 is left to the program, in whatever
precision that is run.
"""

import operator
from collections.abc import Callable, Mapping
from math import isfinite, isnan, sqrt
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, ModuleOp, i1, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from tilewright.dialects import prim
from tilewright.dialects.element_types import COMPUTE_FLOATS, number_attribute
from tilewright.dialects.scalar_function import ScalarFunction
from tilewright.dialects.types import element_of, tensor_type
from tilewright.passes.reporting.trace import Rule, TracedPattern
from tilewright.passes.tensor.identities import (
    FLOAT_NEUTRALS,
    HOLDS_EXACTLY,
    IDEMPOTENT,
    INTEGER_NEUTRALS,
    INVOLUTIONS,
    OF_ITSELF,
)

_F = ScalarFunction


def _number(value: SSAValue) -> int | float | None:
    """The number that every element of `value` is, if it is a constant; true is -1, as an i1 is."""
    op = value.owner
    return op.value.value.data if isinstance(op, prim.ConstantOp) else None


def _inner(value: SSAValue, function: ScalarFunction) -> prim.ElementwiseOp | None:
    """The op that `value` is made by, if it computes `function`."""
    op = value.owner
    is_it = isinstance(op, prim.ElementwiseOp) and op.function.data is function
    return op if is_it and isinstance(op, prim.ElementwiseOp) else None


class DropNeutral(RewritePattern):
    """A function of x and a constant that is x, or of x alone or twice."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the function."""
        if (operand := _operand_that_is(op)) is not None:
            rewriter.replace(op, [], [operand])


def _operand_that_is(op: prim.ElementwiseOp) -> SSAValue | None:
    """The value that the result of `op` is equal to."""
    function, first = op.function.data, op.inputs[0]
    if function in OF_ITSELF and op.inputs[0] is op.inputs[1]:
        return first
    if function in INVOLUTIONS and (inner := _inner(first, function)) is not None:
        return inner.inputs[0]
    if function in IDEMPOTENT and _inner(first, function) is not None:
        return first
    neutrals = FLOAT_NEUTRALS if element_of(op.result) in COMPUTE_FLOATS else INTEGER_NEUTRALS
    for position, value in enumerate(op.inputs if len(op.inputs) == 2 else ()):
        number = _number(value)
        if number is not None and any(n.is_met(function, position, number) for n in neutrals):
            return op.inputs[1 - position]
    return None


class FoldSelect(RewritePattern):
    """A choice between equal values, or whose condition is known."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the choice."""
        if op.function.data is not _F.SELECT:
            return
        condition, then, otherwise = op.inputs
        known = _number(condition)
        if known is not None or then is otherwise:
            rewriter.replace(op, [], [otherwise if known == 0 else then])


class FoldCasts(RewritePattern):
    """A cast of a cast by way of a type that has all values: the second alone, or none."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the outer cast."""
        if op.function.data is not _F.CAST:
            return
        value, target = op.inputs[0], element_of(op.result)
        if element_of(value) == target:
            rewriter.replace(op, [], [value])
            return
        if (inner := _inner(value, _F.CAST)) is None:
            return
        source = inner.inputs[0]
        if str(element_of(value)) not in HOLDS_EXACTLY.get(str(element_of(source)), ()):
            return
        rewriter.replace(op, prim.ElementwiseOp(_F.CAST, [source], target))


Compute = Callable[..., Any]

_FLOATS: Mapping[ScalarFunction, Compute] = {
    _F.ADD: operator.add,
    _F.SUB: operator.sub,
    _F.MUL: operator.mul,
    _F.NEG: operator.neg,
    _F.ABS: operator.abs,
}
_POSITIVE_FLOATS: Mapping[ScalarFunction, Compute] = {
    _F.DIV: float.__truediv__,
    _F.SQRT: sqrt,
}
"""What Python refuses for 0, negative or infinite operands."""
_INTEGERS: Mapping[ScalarFunction, Compute] = {
    **_FLOATS,
    _F.AND: int.__and__,
    _F.OR: int.__or__,
    _F.XOR: int.__xor__,
    _F.MAXIMUM: max,
    _F.MINIMUM: min,
}
_COMPARISONS: Mapping[ScalarFunction, Compute] = {
    _F.EQ: operator.eq,
    _F.NE: operator.ne,
    _F.LT: operator.lt,
    _F.LE: operator.le,
    _F.GT: operator.gt,
    _F.GE: operator.ge,
}


class FoldConstants(RewritePattern):
    """A function of constants."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ElementwiseOp, rewriter: PatternRewriter) -> None:
        """Match the function."""
        numbers = [number for value in op.inputs if (number := _number(value)) is not None]
        if len(numbers) < len(op.inputs):
            return
        if (result := _computed(op, numbers)) is not None:
            rewriter.replace(op, prim.ConstantOp(result, tensor_type(op.result)))


def _computed(op: prim.ElementwiseOp, numbers: list[int | float]) -> FloatAttr | IntegerAttr | None:
    function, element = op.function.data, element_of(op.inputs[0])
    if function is _F.CAST:
        return _cast(numbers[0], element, element_of(op.result))
    if function.is_comparison:
        bits = [abs(n) for n in numbers] if element == i1 else numbers
        return number_attribute(_COMPARISONS[function](*bits), i1)
    if element not in COMPUTE_FLOATS:
        compute = _INTEGERS.get(function)
        return None if compute is None else number_attribute(compute(*numbers), element)
    compute = _FLOATS.get(function)
    if all(isfinite(n) and n > 0 for n in numbers):
        compute = compute or _POSITIVE_FLOATS.get(function)
    return None if compute is None else _exact(compute(*numbers), element)


def _exact(number: float, element: Attribute) -> FloatAttr | IntegerAttr | None:
    """A float as a constant, unless it has to be rounded."""
    attribute = number_attribute(number, element)
    held = attribute.value.data
    return attribute if held == number or isnan(number) else None


def _cast(
    number: int | float, source: Attribute, target: Attribute
) -> FloatAttr | IntegerAttr | None:
    number = abs(number) if source == i1 else number
    is_whole = isfinite(number) and abs(number) < 2**31
    if target in COMPUTE_FLOATS:
        return _exact(number, target)
    if target == i1 or (is_whole and target in (i32, i64)):
        return number_attribute(1 if isnan(number) else number, target)
    return None


class FoldElementwisePass(ModulePass):
    """Compute what is known, and drop what does nothing."""

    name = "fold-elementwise"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Until nothing is left to fold."""
        patterns: Mapping[str, RewritePattern] = {
            "drop_neutral": DropNeutral(),
            "fold_select": FoldSelect(),
            "fold_casts": FoldCasts(),
            "fold_constants": FoldConstants(),
        }
        traced = [
            TracedPattern(Rule("o", number, name), pattern)
            for number, (name, pattern) in enumerate(patterns.items(), start=5)
        ]
        PatternRewriteWalker(GreedyRewritePatternApplier([*traced])).rewrite_module(op)
