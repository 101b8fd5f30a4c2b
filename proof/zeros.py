# SPDX-License-Identifier: Apache-2.0
"""
Conditions under which a value is zero because masks are false.

A product over a tile that overruns its array has more terms than the loop nest. They have a load
whose mask is false as a factor, therefore they add nothing.
"""

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import SSAValue

from tilewright.dialects.loop import LoadOp
from tilewright.proof.formulas import All, Formula, Not, Some
from tilewright.proof.scope import Scope
from tilewright.proof.seen import seen

_NEVER, _ALWAYS = Some(()), All(())

_OF_ALL = (arith.AddfOp, arith.AddiOp, arith.SubfOp, arith.SubiOp)
_OF_ONE = (arith.MulfOp, arith.MuliOp)
_OF_OPERAND = (arith.ExtFOp, arith.TruncFOp, arith.NegfOp, arith.SIToFPOp, arith.FPToSIOp)


def is_zero(value: SSAValue, scope: Scope) -> Formula:
    """Return a condition under which `value` is zero; it may be zero elsewhere, too."""
    value, scope, conditions, _ = seen(value, scope)
    masked = Not(All(conditions)) if conditions else _NEVER
    return Some((masked, _is_zero(value, scope)))


def _is_zero(value: SSAValue, scope: Scope) -> Formula:
    match op := value.owner:
        case LoadOp():
            mask = scope.holds(op.where)
            return Not(All(mask)) if mask else _NEVER
        case arith.ConstantOp(value=FloatAttr() | IntegerAttr() as constant):
            return _ALWAYS if constant.value.data == 0 else _NEVER
        case arith.SelectOp():
            return All((is_zero(op.lhs, scope), is_zero(op.rhs, scope)))
        case _ if isinstance(op, _OF_ALL):
            return All([is_zero(operand, scope) for operand in op.operands])
        case _ if isinstance(op, _OF_ONE):
            return Some([is_zero(operand, scope) for operand in op.operands])
        case _ if isinstance(op, _OF_OPERAND):
            return is_zero(op.operands[0], scope)
        case _:
            return _NEVER
