# SPDX-License-Identifier: Apache-2.0
"""Statements of CUDA IR for tensor cores: loads of matrices, and multiplications, by a warp."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, IntegerType, Signedness, UnitAttr, f32, i32, i64
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
from tilewright.dialects.kernel.warpgroup import verify_group
from tilewright.dialects.matrix_instruction import MatrixInstruction, MatrixInstructionAttr

ui64 = IntegerType(64, Signedness.UNSIGNED)
"""Type of a descriptor of a matrix in shared memory."""


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


@irdl_op_definition
class GroupMultiplyOp(StatementOp):
    """
    Start of a multiplication by a warpgroup: `group_multiply_m64n128k16_bf16<0, 1>(&d[0], a, b);`.

    Factors are given by descriptors, which `matrix_descriptor` of the prelude returns. They are
    `transposed` if K is not innermost in memory.

    ```mlir
    cuda.group_multiply m64nNk16_bf16 columns 128 %a, %b transposed, %d
      : ui64, ui64, !cuda.ptr<f32>
    ```
    """

    name = "cuda.group_multiply"

    instruction = prop_def(MatrixInstructionAttr)
    columns = prop_def(IntegerAttr.constr(type=eq(i64)))
    a = operand_def(eq(ui64))
    a_transposed = opt_prop_def(UnitAttr)
    b = operand_def(eq(ui64))
    b_transposed = opt_prop_def(UnitAttr)
    d = operand_def(eq(PointerType.get(f32)))

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$instruction `columns` $columns $a (`transposed` $a_transposed^)? `,` "
        "$b (`transposed` $b_transposed^)? `,` $d attr-dict "
        "`:` type($a) `,` type($b) `,` type($d)"
    )

    def __init__(
        self,
        instruction: MatrixInstruction,
        columns: int,
        factors: Sequence[SSAValue],
        transposed: Sequence[bool],
        d: SSAValue,
    ):
        a, b = (UnitAttr() if each else None for each in transposed)
        super().__init__(
            operands=[*factors, d],
            properties={
                "instruction": MatrixInstructionAttr(instruction),
                "columns": number(columns),
                "a_transposed": a,
                "b_transposed": b,
            },
        )

    @property
    def function(self) -> str:
        """Name of the function that the statement calls (`codegen/group_functions.py`)."""
        name = str(self.instruction.data).replace("nN", f"n{self.columns.value.data}")
        return f"group_multiply_{name}"

    def template_arguments(self) -> tuple[int, int]:
        """Return 1 for each factor that is transposed, and 0 for the others."""
        return int(self.a_transposed is not None), int(self.b_transposed is not None)

    def writes(self) -> Iterator[SSAValue]:
        yield _array(self.d)

    def verify_(self) -> None:
        verify_group(self.instruction.data, self.columns.value.data)


def _array(address: SSAValue) -> SSAValue:
    """Return the pointer or array in which an address lies."""
    owner = address.owner
    return owner.pointer if isinstance(owner, AddressOp) else address


MATRIX_STATEMENTS: list[type[StatementOp]] = [LoadMatrixOp, MatrixMultiplyOp, GroupMultiplyOp]
