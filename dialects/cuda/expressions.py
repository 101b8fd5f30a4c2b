# SPDX-License-Identifier: Apache-2.0
"""
The expressions of CUDA IR: pure ops, each printed inside the one statement that uses it.

A value with several uses must be named by `cuda.let` (`dialects/cuda/statements.py`), unless it is
a literal.
"""

from abc import ABC
from collections.abc import Hashable, Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    AnyFloatConstr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    SymbolRefAttr,
    i32,
    i64,
)
from xdsl.ir import (
    Attribute,
    SSAValue,
)
from xdsl.irdl import (
    AnyAttr,
    AttrConstraint,
    ParamAttrConstraint,
    VarConstraint,
    base,
    eq,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cuda.identifiers import FUNCTIONS
from tilewright.dialects.cuda.types import (
    ArrayType,
    Builtin,
    BuiltinAttr,
    PointerType,
    VariableType,
    symbol,
)
from tilewright.dialects.element_types import HALVES
from tilewright.dialects.faster_xdsl.verify_once import FormedOp


def elements_of(element: AttrConstraint) -> AttrConstraint:
    """Return a constraint: a pointer to, or an array of, elements that satisfy `element`."""
    pointer = ParamAttrConstraint(PointerType, (element, AnyAttr()))
    return pointer | ParamAttrConstraint(ArrayType, (AnyAttr(), element))


def verify_indices(type: Attribute, given: int) -> None:
    """Raise `VerifyException` unless a pointer has one index, and an array one for each axis."""
    expected = len(type.extents) if isinstance(type, ArrayType) else 1
    if given != expected:
        raise VerifyException(f"{type} takes {expected} indices, got {given}")


class ExpressionOp(FormedOp, ABC):
    """Base class of C++ expressions: the one result is printed where it is used, at most once."""

    def __init__(
        self,
        operands: Sequence[SSAValue],
        result: Attribute,
        properties: Mapping[str, Attribute] | None = None,
    ):
        super().__init__(operands=operands, result_types=[result], properties=properties)

    def reads(self) -> SSAValue | None:
        """Return the pointer or variable whose contents the expression reads; None by default."""
        return None


@irdl_op_definition
class LiteralOp(ExpressionOp):
    """
    A constant: `1.0f`, `128`, `true`. It is printed at each of its uses.

    ```mlir
    %0 = cuda.literal 128 : i32
    ```
    """

    name = "cuda.literal"

    T: ClassVar = VarConstraint("T", base(IntegerType) | AnyFloatConstr)

    value = prop_def(
        IntegerAttr.constr(base(IntegerType) & T) | ParamAttrConstraint(FloatAttr, (AnyAttr(), T))
    )
    result = result_def(T)

    traits = traits_def(Pure())
    assembly_format = "$value attr-dict"

    def __init__(self, value: IntegerAttr | FloatAttr):
        super().__init__([], value.get_type(), {"value": value})


@irdl_op_definition
class BuiltinOp(ExpressionOp):
    """
    Built-in variable `blockIdx.x` or `threadIdx.x`.

    Both variables are unsigned. Therefore only `cuda.let` may use them: it converts them to the
    result type.

    ```mlir
    %0 = cuda.builtin thread_idx : i32
    ```
    """

    name = "cuda.builtin"

    variable = prop_def(BuiltinAttr)
    result = result_def(eq(i32) | eq(i64))

    traits = traits_def(Pure())
    assembly_format = "$variable attr-dict `:` type($result)"

    def __init__(self, variable: Builtin, type: IntegerType):
        super().__init__([], type, {"variable": BuiltinAttr(variable)})

    def surroundings(self) -> Hashable:
        return any(use.operation.name != "cuda.let" for use in self.result.uses)

    def verify_(self) -> None:
        if self.surroundings():
            raise VerifyException("name it with cuda.let first: the variable itself is unsigned")


@irdl_op_definition
class CallOp(ExpressionOp):
    """
    A call of a pure function: CUDA's math API, or the prelude.

    ```mlir
    %1 = cuda.call @expf(%0) : (f32) -> f32
    ```
    """

    name = "cuda.call"

    callee = prop_def(base(SymbolRefAttr))
    arguments = var_operand_def()
    result = result_def()

    traits = traits_def(Pure())
    assembly_format = (
        "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, $result)"
    )

    def __init__(self, callee: str, arguments: Sequence[SSAValue], result: Attribute):
        super().__init__(arguments, result, {"callee": symbol(callee)})

    def verify_(self) -> None:
        if self.callee.string_value() not in FUNCTIONS:
            raise VerifyException(
                f"{self.callee} is neither a function of the prelude nor of CUDA's math API"
            )


@irdl_op_definition
class CastOp(ExpressionOp):
    """
    C++ cast: `(float)a`.

    ```mlir
    %1 = cuda.cast %0 : i32 to f32
    ```
    """

    name = "cuda.cast"

    value = operand_def()
    result = result_def()

    traits = traits_def(Pure())
    assembly_format = "$value attr-dict `:` type($value) `to` type($result)"

    def __init__(self, value: SSAValue, type: Attribute):
        super().__init__([value], type)

    def verify_(self) -> None:
        for type in (self.value.type, self.result.type):
            if type in HALVES:
                raise VerifyException(f"C++ does not cast {type}: call a function of the prelude")


@irdl_op_definition
class SubscriptOp(ExpressionOp):
    """
    Read of an element: `p[i]` of a pointer, or `a[i][j]` of an array.

    ```mlir
    %0 = cuda.subscript %p[%i] : !cuda.ptr<f32, const>, i32
    ```
    """

    name = "cuda.subscript"

    T: ClassVar = VarConstraint("T", AnyAttr())

    pointer = operand_def(elements_of(T))
    indices = var_operand_def(eq(i32) | eq(i64))
    result = result_def(T)

    traits = traits_def(MemoryReadEffect())
    assembly_format = "$pointer `[` $indices `]` attr-dict `:` type($pointer) `,` type($indices)"

    def __init__(self, pointer: SSAValue, indices: Sequence[SSAValue]):
        assert isinstance(pointer.type, PointerType | ArrayType)
        super().__init__([pointer, *indices], pointer.type.element)

    def reads(self) -> SSAValue | None:
        return self.pointer

    def verify_(self) -> None:
        verify_indices(self.pointer.type, len(self.indices))


@irdl_op_definition
class ReadOp(ExpressionOp):
    """
    Current value of a mutable variable.

    ```mlir
    %0 = cuda.read %sum : !cuda.var<f32>
    ```
    """

    name = "cuda.read"

    T: ClassVar = VarConstraint("T", AnyAttr())

    variable = operand_def(ParamAttrConstraint(VariableType, (T,)))
    result = result_def(T)

    traits = traits_def(MemoryReadEffect())
    assembly_format = "$variable attr-dict `:` type($variable)"

    def __init__(self, variable: SSAValue):
        assert isinstance(variable.type, VariableType)
        super().__init__([variable], variable.type.element)

    def reads(self) -> SSAValue | None:
        return self.variable


EXPRESSIONS: list[type[ExpressionOp]] = [
    LiteralOp,
    BuiltinOp,
    CallOp,
    CastOp,
    SubscriptOp,
    ReadOp,
]
