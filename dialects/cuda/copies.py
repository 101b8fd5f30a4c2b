# SPDX-License-Identifier: Apache-2.0
"""CUDA ops for addresses, and for copies of several elements by one instruction."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, i1, i32, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AnyAttr,
    ParamAttrConstraint,
    VarConstraint,
    eq,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cuda.expressions import ExpressionOp, elements_of, verify_indices
from tilewright.dialects.cuda.statements import StatementOp
from tilewright.dialects.cuda.types import ArrayType, PointerType, number
from tilewright.dialects.target import VECTOR_BYTES
from tilewright.dialects.types import size_of


@irdl_op_definition
class AddressOp(ExpressionOp):
    """
    Address `&p[i]` of a pointer's element, or `&a[i][j]` of an array's; `&p[i] + j` if the pointer
    is itself the address `&p[i]`.

    ```mlir
    %0 = cuda.address %p[%i] : !cuda.ptr<f32, const>, i32 -> !cuda.ptr<f32, const>
    ```
    """

    name = "cuda.address"

    T: ClassVar = VarConstraint("T", AnyAttr())

    pointer = operand_def(elements_of(T))
    indices = var_operand_def(eq(i32) | eq(i64))
    result = result_def(ParamAttrConstraint(PointerType, (T, AnyAttr())))

    traits = traits_def(Pure())
    assembly_format = (
        "$pointer `[` $indices `]` attr-dict "
        "`:` type($pointer) `,` type($indices) `->` type($result)"
    )

    def __init__(self, pointer: SSAValue, indices: Sequence[SSAValue]):
        type = pointer.type
        assert isinstance(type, PointerType | ArrayType)
        result = type if isinstance(type, PointerType) else PointerType.get(type.element)
        super().__init__([pointer, *indices], result)

    def verify_(self) -> None:
        verify_indices(self.pointer.type, len(self.indices))
        if isinstance(type := self.pointer.type, PointerType) and type != self.result.type:
            raise VerifyException(f"an address in {type} has this type, not {self.result.type}")


@irdl_op_definition
class CopyOp(StatementOp):
    """
    Vector copy of adjacent elements, by one load and one store.

    With a condition, zeros are stored where the condition is false. The op prints as
    `*reinterpret_cast<float4 *>(&r[0]) = *reinterpret_cast<const float4 *>(&x[i]);`.

    ```mlir
    cuda.copy %0 to %1 width 4 where %in : !cuda.ptr<f32, const>, !cuda.ptr<f32>
    ```
    """

    name = "cuda.copy"

    T: ClassVar = VarConstraint("T", AnyAttr())

    source = operand_def(ParamAttrConstraint(PointerType, (T, AnyAttr())))
    target = operand_def(ParamAttrConstraint(PointerType, (T, AnyAttr())))
    width = prop_def(IntegerAttr.constr(type=eq(i64)))
    condition = opt_operand_def(i1)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$source `to` $target `width` $width (`where` $condition^)? attr-dict "
        "`:` type($source) `,` type($target)"
    )

    def __init__(
        self, source: SSAValue, target: SSAValue, width: int, condition: SSAValue | None = None
    ):
        super().__init__(
            operands=[source, target, condition],
            properties={"width": number(width)},
        )

    def writes(self) -> Iterator[SSAValue]:
        address = self.target.owner
        yield address.pointer if isinstance(address, AddressOp) else self.target

    @property
    def num_bytes(self) -> int:
        """Number of bytes that the copy moves."""
        assert isinstance(self.source.type, PointerType)
        return self.width.value.data * size_of(self.source.type.element)

    def verify_(self) -> None:
        assert isinstance(self.target.type, PointerType)
        if self.target.type.is_const:
            raise VerifyException(f"cannot store through {self.target.type}")
        if self.num_bytes not in VECTOR_BYTES:
            raise VerifyException(
                f"one instruction moves {VECTOR_BYTES} bytes, not {self.num_bytes}"
            )


COPY_STATEMENTS: list[type[StatementOp]] = [CopyOp]
COPY_EXPRESSIONS: list[type[ExpressionOp]] = [AddressOp]
