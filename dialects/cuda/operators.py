# SPDX-License-Identifier: Apache-2.0
"""The operators of CUDA IR's expressions: `a + b`, `a < b`, `-a`, `!a`, `c ? a : b`."""

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import IntegerType, i1
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AnyAttr,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cuda.expressions import ExpressionOp
from tilewright.dialects.cuda.types import (
    COMPUTED,
    BinaryOperator,
    BinaryOperatorAttr,
    Comparison,
    ComparisonAttr,
)

_OPERATORS = {operator: BinaryOperatorAttr(operator) for operator in BinaryOperator}

_COMPARISONS = {comparison: ComparisonAttr(comparison) for comparison in Comparison}

_LOGICAL = (BinaryOperator.AND, BinaryOperator.OR)
_BITWISE = (BinaryOperator.BIT_AND, BinaryOperator.BIT_OR, BinaryOperator.BIT_XOR)


class InfixOp(ExpressionOp, ABC):
    """Base class of infix operators, whose two operands have one type."""

    T: ClassVar = VarConstraint("T", AnyAttr())

    lhs = operand_def(T)
    rhs = operand_def(T)

    traits = traits_def(Pure())


@irdl_op_definition
class BinaryOp(InfixOp):
    """
    Arithmetic, bitwise or logical operator: `a + b`, `a - b`, `a * b`, `a / b`, `a % b`.

    Integers also have `a & b`, `a | b`, `a ^ b`; bool has these, `a && b` and `a || b` only. No
    operator takes half types, nor integers narrower than int.

    ```mlir
    %2 = cuda.binary add %0, %1 : f32
    ```
    """

    name = "cuda.binary"

    operator = prop_def(BinaryOperatorAttr)
    result = result_def(InfixOp.T)

    assembly_format = "$operator $lhs `,` $rhs attr-dict `:` type($result)"

    def __init__(self, operator: BinaryOperator, lhs: SSAValue, rhs: SSAValue):
        super().__init__([lhs, rhs], lhs.type, {"operator": _OPERATORS[operator]})

    def verify_(self) -> None:
        operator, type = self.operator.data, self.result.type
        takes_bools = operator in (*_LOGICAL, *_BITWISE)
        is_wrong = not takes_bools if type == i1 else operator in _LOGICAL
        if is_wrong or type not in COMPUTED:
            raise VerifyException(f"'{operator}' does not take {type}; cast its operands")
        if operator is BinaryOperator.REM and not isinstance(type, IntegerType):
            raise VerifyException("'rem' takes integers; call fmodf for floats")
        if operator in _BITWISE and not isinstance(type, IntegerType):
            raise VerifyException(f"'{operator}' takes integers, not {type}")


@irdl_op_definition
class CompareOp(InfixOp):
    """
    Comparison of two values of one type, such as `a < b`; the result is a bool.

    ```mlir
    %2 = cuda.compare lt %0, %1 : i32
    ```
    """

    name = "cuda.compare"

    comparison = prop_def(ComparisonAttr)
    result = result_def(i1)

    assembly_format = "$comparison $lhs `,` $rhs attr-dict `:` type($lhs)"

    def __init__(self, comparison: Comparison, lhs: SSAValue, rhs: SSAValue):
        super().__init__([lhs, rhs], i1, {"comparison": _COMPARISONS[comparison]})

    def verify_(self) -> None:
        if self.lhs.type not in COMPUTED:
            raise VerifyException(f"a comparison does not take {self.lhs.type}; cast its operands")


class UnaryOp(ExpressionOp, ABC):
    """Base class of prefix operators."""

    T: ClassVar = VarConstraint("T", AnyAttr())

    value = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "$value attr-dict `:` type($value)"

    def __init__(self, value: SSAValue):
        super().__init__([value], value.type)


@irdl_op_definition
class NegOp(UnaryOp):
    """
    Negation of a number: `-a`.

    ```mlir
    %1 = cuda.neg %0 : f32
    ```
    """

    name = "cuda.neg"

    def verify_(self) -> None:
        if self.value.type not in COMPUTED:
            raise VerifyException(f"'-' does not take {self.value.type}; cast its operand")


@irdl_op_definition
class NotOp(UnaryOp):
    """
    Logical not of a bool: `!a`.

    ```mlir
    %1 = cuda.not %0 : i1
    ```
    """

    name = "cuda.not"

    def verify_(self) -> None:
        if self.value.type != i1:
            raise VerifyException(f"'!' takes a bool, not {self.value.type}")


@irdl_op_definition
class TernaryOp(ExpressionOp):
    """
    Conditional expression `c ? a : b`, which evaluates only one of `a` and `b`.

    ```mlir
    %3 = cuda.ternary %0, %1, %2 : f32
    ```
    """

    name = "cuda.ternary"

    T: ClassVar = VarConstraint("T", AnyAttr())

    condition = operand_def(i1)
    then_value = operand_def(T)
    else_value = operand_def(T)
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "$condition `,` $then_value `,` $else_value attr-dict `:` type($result)"

    def __init__(self, condition: SSAValue, then_value: SSAValue, else_value: SSAValue):
        super().__init__([condition, then_value, else_value], then_value.type)


OPERATORS: list[type[ExpressionOp]] = [BinaryOp, CompareOp, NegOp, NotOp, TernaryOp]
