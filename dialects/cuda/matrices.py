# SPDX-License-Identifier: Apache-2.0
"""Statements of CUDA IR for tensor cores: loads of matrices, and multiplications, by a warp."""

from collections.abc import Iterator
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, UnitAttr, f32, i32, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AnyAttr,
    ParamAttrConstraint,
    VarConstraint,
    base,
    eq,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.cuda.copies import AddressOp
from tilewright.dialects.cuda.statements import StatementOp
from tilewright.dialects.cuda.types import PointerType, number
from tilewright.dialects.kernel.matrix import verify_matrices, verify_multiplication
from tilewright.dialects.matrix_instruction import MatrixInstruction, MatrixInstructionAttr


@irdl_op_definition
class LoadMatrixOp(StatementOp):
    """
    Load of matrices from shared memory to registers: `load_matrix_x4(&a[0], row);`.

    The row is given by its address in shared memory, which `shared_address` of the prelude returns.
    The prelude defines a function for each count, and one that also transposes the matrices.

    ```mlir
    cuda.load_matrix %row to %a count 4 transposed : i32, !cuda.ptr<bf16>
    ```
    """

    name = "cuda.load_matrix"

    row = operand_def(eq(i32) | eq(i64))
    target = operand_def(base(PointerType))
    count = prop_def(IntegerAttr.constr(type=eq(i64)))
    transposed = opt_prop_def(UnitAttr)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$row `to` $target `count` $count (`transposed` $transposed^)? attr-dict "
        "`:` type($row) `,` type($target)"
    )

    def __init__(self, row: SSAValue, target: SSAValue, count: int, *, transposed: bool = False):
        super().__init__(
            operands=[row, target],
            properties={
                "count": number(count),
                "transposed": UnitAttr() if transposed else None,
            },
        )

    @property
    def function(self) -> str:
        """Name of the prelude's function that the statement calls."""
        suffix = "" if self.transposed is None else "_transposed"
        return f"load_matrix_x{self.count.value.data}{suffix}"

    def writes(self) -> Iterator[SSAValue]:
        yield _array(self.target)

    def verify_(self) -> None:
        type = self.target.type
        assert isinstance(type, PointerType)
        if type.is_const:
            raise VerifyException(f"cannot store through {type}")
        is_transposed = self.transposed is not None
        verify_matrices(type.element, self.count.value.data, is_transposed=is_transposed)


@irdl_op_definition
class MatrixMultiplyOp(StatementOp):
    """
    Addition of a product of matrices: `multiply_m16n8k16_bf16(&d[0], &a[0], &b[0]);`.

    ```mlir
    cuda.matrix_multiply m16n8k16_bf16 %a, %b, %d
      : !cuda.ptr<bf16>, !cuda.ptr<bf16>, !cuda.ptr<f32>
    ```
    """

    name = "cuda.matrix_multiply"

    T: ClassVar = VarConstraint("T", AnyAttr())

    instruction = prop_def(MatrixInstructionAttr)
    a = operand_def(ParamAttrConstraint(PointerType, (T, AnyAttr())))
    b = operand_def(ParamAttrConstraint(PointerType, (T, AnyAttr())))
    d = operand_def(eq(PointerType.get(f32)))

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$instruction $a `,` $b `,` $d attr-dict `:` type($a) `,` type($b) `,` type($d)"
    )

    def __init__(self, instruction: MatrixInstruction, a: SSAValue, b: SSAValue, d: SSAValue):
        super().__init__(
            operands=[a, b, d], properties={"instruction": MatrixInstructionAttr(instruction)}
        )

    @property
    def function(self) -> str:
        """Name of the prelude's function that the statement calls."""
        return f"multiply_{self.instruction.data}"

    def writes(self) -> Iterator[SSAValue]:
        yield _array(self.d)

    def verify_(self) -> None:
        instruction = self.instruction.data
        verify_multiplication(instruction)
        assert isinstance(self.a.type, PointerType)
        if self.a.type.element != instruction.fragments.element:
            expected = instruction.fragments.element
            raise VerifyException(f"{instruction} multiplies {expected}, not {self.a.type.element}")


def _array(address: SSAValue) -> SSAValue:
    """Return the pointer or array in which an address lies."""
    owner = address.owner
    return owner.pointer if isinstance(owner, AddressOp) else address


MATRIX_STATEMENTS: list[type[StatementOp]] = [LoadMatrixOp, MatrixMultiplyOp]
