# SPDX-License-Identifier: Apache-2.0
"""
Fuses a product and its addition to a running sum into one FMA, which rounds once.

    %s = scf.for %k = %0 to %n step %1 iter_args(%acc = %zero) -> (f32) {
      %p = arith.mulf %x, %y : f32
      %sum = arith.addf %acc, %p : f32
      scf.yield %sum : f32
    }

becomes

    %s = scf.for %k = %0 to %n step %1 iter_args(%acc = %zero) -> (f32) {
      %sum = math.fma %x, %y, %acc : f32
      scf.yield %sum : f32
    }

The running sum may also be an element of a register array. A product that a select adds only under
a condition is fused too: the select then keeps the old sum elsewhere. All other products and sums
keep the roundings of the program. CUDA text is compiled without contraction, so that every target
and the simulator compute identical bits.
"""

from collections.abc import Iterator
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects import arith, math, scf
from xdsl.dialects.builtin import FloatAttr, ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    RewritePattern,
    op_type_rewrite_pattern,
)

from tilewright.dialects import kernel, loop
from tilewright.dialects.faster_xdsl.walk import rewrite_each
from tilewright.dialects.kernel.registers import LOCAL
from tilewright.dialects.types import memref_type
from tilewright.passes.reporting.trace import Rule, rewriting, skipped

RULE = Rule("k", 6, "fuse_multiply_add")


class AddedProduct(NamedTuple):
    """Addition of a product to a running sum."""

    total: SSAValue
    product: arith.MulfOp
    choice: arith.SelectOp | None
    """Select between the product and zero, or None."""


def added_product(op: arith.AddfOp) -> AddedProduct | None:
    """
    Return `op` as the addition of a product to a running sum, or None if it is something else.
    """
    for total, value in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        choice = value.owner if isinstance(value.owner, arith.SelectOp) else None
        if choice is not None and not (_is_zero(choice.rhs) and value.has_one_use()):
            continue
        product = value.owner if choice is None else choice.lhs.owner
        if not isinstance(product, arith.MulfOp) or product.parent is not op.parent:
            continue
        if _is_running(total, op.result):
            return AddedProduct(total, product, choice)
    return None


def _is_zero(value: SSAValue) -> bool:
    constant = value.owner
    if not isinstance(constant, arith.ConstantOp) or not isinstance(constant.value, FloatAttr):
        return False
    return constant.value.value.data == 0


def _is_running(total: SSAValue, result: SSAValue) -> bool:
    """
    True if `result` becomes `total` in the next step, carried by the loop or stored in a register
    array.
    """
    if isinstance(total, BlockArgument):
        return _is_carried(total, result)
    load, store = total.owner, _only_user(result)
    if not isinstance(load, loop.LoadOp) or not isinstance(store, loop.StoreOp):
        return False
    is_array = memref_type(load.memref).memory_space == LOCAL
    is_same = (load.map, [*load.indices]) == (store.map, [*store.indices])
    return is_array and is_same and load.memref is store.memref


def _is_carried(total: BlockArgument, result: SSAValue) -> bool:
    body, end = total.owner, total.owner.last_op
    if not isinstance(body.parent_op(), scf.ForOp) or not isinstance(end, scf.YieldOp):
        return False
    return total.index > 0 and end.operands[total.index - 1] is result


def _only_user(value: SSAValue) -> Operation | None:
    return value.get_user_of_unique_use()


def reason_against(product: arith.MulfOp) -> str | None:
    """Reason why the product has to be rounded, or None."""
    if all(map(_is_running_sum, _users(product))):
        return None
    return "the product is used elsewhere too"


def _users(product: arith.MulfOp) -> Iterator[Operation]:
    """Yield the ops that use the product, looking through selects with a single use."""
    for use in product.result.uses:
        user = use.operation
        chosen = user.result if isinstance(user, arith.SelectOp) else None
        yield user if chosen is None else _only_user(chosen) or user


def _is_running_sum(op: Operation) -> bool:
    return isinstance(op, arith.AddfOp) and added_product(op) is not None


class _FuseMultiplyAdd(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.AddfOp, rewriter: PatternRewriter) -> None:
        if (found := added_product(op)) is None:
            return
        if (reason := reason_against(found.product)) is not None:
            skipped(RULE, kernel.function_of(op), reason)
            return
        with rewriting(RULE, kernel.function_of(op)):
            _fuse(op, found, rewriter)


def _fuse(op: arith.AddfOp, found: AddedProduct, rewriter: PatternRewriter) -> None:
    total, product, choice = found
    new: list[Operation] = [math.FmaOp(product.lhs, product.rhs, total)]
    if choice is not None:
        new.append(arith.SelectOp(choice.cond, new[0].results[0], total))
    for replacement in new:
        replacement.location = op.location
    hint = op.result.name_hint
    rewriter.replace(op, new)
    new[-1].results[0].name_hint = hint
    for unused in (choice, product):
        if unused is not None and not unused.result.uses:
            rewriter.erase(unused)


class FuseMultiplyAddPass(ModulePass):
    """Fuse products into the running sums that they are added to."""

    name = "fuse-multiply-add"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Fuse products into the running sums of the module."""
        rewrite_each(op, _FuseMultiplyAdd(), arith.AddfOp)
