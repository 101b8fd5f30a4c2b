# SPDX-License-Identifier: Apache-2.0
"""
Divides by a number of a row once: its reciprocal multiplies the values of the row.

    loop.for %i in 37, %l in 64 {
      %maximum, %sum, %out_1 = loop.reduce %k in 65 with softmax { ... loop.yield %x, %one, %v }
      %1 = arith.maximumf %sum, %one : f32
      %2 = arith.divf %out_1, %1 : f32

becomes

    loop.for %i in 37, %l in 64 {
      %maximum, %sum, %out_1 = loop.reduce %k in 65 with softmax { ... loop.yield %x, %one, %v }
      %1 = arith.maximumf %sum, %one : f32
      %2 = arith.constant 1.000000e+00 : f32
      %3 = arith.divf %2, %1 : f32
      %4 = arith.mulf %out_1, %3 : f32

A correctly rounded division takes a dozen instructions and a branch. Here `%1` does not vary along
%l, so that 64 of them become one. The divisor must be at least 1 (or NaN): its reciprocal is
finite, and infinities, zeros and NaN give the results of a division. Two roundings replace one: the
product is exact to 2 units in the last place. It is exact to 4 units for divisors above 2^126,
whose reciprocals are subnormal.
"""

from collections.abc import Mapping, Sequence

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, ModuleOp, f32
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilewright.dialects import loop
from tilewright.dialects.faster_xdsl.walk import ops_in, rewrite_each
from tilewright.dialects.needed_first import needed_first
from tilewright.passes.loop.at_least_one import is_at_least_one
from tilewright.passes.loop.scalar_function import constant
from tilewright.passes.reporting.trace import Rule, rewriting, skipped

RULE = Rule("f", 29, "share_reciprocals")


def reason_against(divisor: SSAValue) -> str | None:
    """Reason why values that are divided by `divisor` cannot share its reciprocal, or None."""
    if divisor.type != f32:
        return "only quotients of float32 are products with a reciprocal"
    return None if is_at_least_one(divisor) else "the divisor may be less than 1"


def _divided(kernel: loop.KernelOp) -> Mapping[SSAValue, list[arith.DivfOp]]:
    """
    Return the divisors in `kernel` that do not vary along an axis of what they divide, each with
    these divisions.
    """
    found: dict[SSAValue, list[arith.DivfOp]] = {}
    axes = _Axes()
    for op in ops_in(kernel):
        if not isinstance(op, arith.DivfOp) or not isinstance(op.rhs.owner, Operation):
            continue
        if isinstance(op.rhs.owner, arith.ConstantOp):
            continue
        if axes.of(op.lhs) - axes.of(op.rhs):
            found.setdefault(op.rhs, []).append(op)
    return found


class _Axes:
    """Axes of loops along which values vary."""

    def __init__(self) -> None:
        self._known: dict[SSAValue, frozenset[SSAValue]] = {}

    def of(self, value: SSAValue) -> frozenset[SSAValue]:
        """Return the axes for `value`. A sum of `softmax` does not vary with the other sums."""
        for each in needed_first(value, self._known, _used):
            is_axis = isinstance(each, BlockArgument) and isinstance(each.type, IndexType)
            own, op = frozenset((each,) if is_axis else ()), each.owner
            inside = op.body.block.args if isinstance(op, loop.ReduceOp) else ()
            self._known[each] = own.union(*map(self._known.__getitem__, _used(each))) - {*inside}
        return self._known[value]


def _used(value: SSAValue) -> Sequence[SSAValue]:
    """Return the values from which `value` is computed."""
    match value.owner:
        case loop.ReduceOp() as op:
            assert isinstance(value, OpResult)
            return op.operands_of(value.index)
        case Operation() as op:
            return op.operands
        case _:
            return ()


class _ShareReciprocals(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, kernel: loop.KernelOp, rewriter: PatternRewriter) -> None:
        for divisor, divisions in _divided(kernel).items():
            if (reason := reason_against(divisor)) is not None:
                skipped(RULE, kernel, reason)
                continue
            with rewriting(RULE, kernel):
                _share(divisor, divisions, rewriter)


def _share(divisor: SSAValue, divisions: list[arith.DivfOp], rewriter: PatternRewriter) -> None:
    """Multiply by the reciprocal of `divisor`, which is computed behind it."""
    one = constant(1.0, divisor.type)
    reciprocal = arith.DivfOp(one.result, divisor)
    reciprocal.result.name_hint = "reciprocal"
    assert isinstance(divisor.owner, Operation)
    for op in (one, reciprocal):
        op.location = divisions[0].location
    rewriter.insert([one, reciprocal], InsertPoint.after(divisor.owner))
    for op in divisions:
        product = arith.MulfOp(op.lhs, reciprocal)
        product.location = op.location
        rewriter.replace(op, product)


class ShareReciprocalsPass(ModulePass):
    """Divide by a number of a row once, and multiply the values of the row by its reciprocal."""

    name = "share-reciprocals"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Share the reciprocals of divisors in each kernel of the module."""
        rewrite_each(op, _ShareReciprocals(), loop.KernelOp)
