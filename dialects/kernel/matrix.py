# SPDX-License-Identifier: Apache-2.0
"""
Ops for tensor cores: loads of matrices from shared memory, multiplications, and roundings to tf32.

All lanes of a warp execute these ops together, and each holds some elements of every matrix in
registers: a *fragment*, whose elements are adjacent in a register array. `matrix_instruction.py`
says which elements of a matrix a lane holds.
"""

from abc import ABC
from collections.abc import Hashable, Iterator
from typing import ClassVar, NamedTuple

from xdsl.dialects.builtin import (
    AffineMapAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    UnitAttr,
    f32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    VarConstraint,
    base,
    eq,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.assembly import Subscripts
from tilewright.dialects.axes import Access, canonical_access, verify_subscripts
from tilewright.dialects.element_types import HALVES
from tilewright.dialects.faster_xdsl.segments import SegmentedOp, segmented
from tilewright.dialects.faster_xdsl.verify_once import FormedOp
from tilewright.dialects.kernel.barrier import block_around
from tilewright.dialects.kernel.grid import RemoteOp
from tilewright.dialects.kernel.registers import LOCAL
from tilewright.dialects.matrix_instruction import (
    MATRIX_COUNTS,
    MATRIX_ROW_BYTES,
    MATRIX_ROWS,
    REGISTER_BYTES,
    MatrixInstruction,
    MatrixInstructionAttr,
)
from tilewright.dialects.target import WARP_SIZE
from tilewright.dialects.tile import SHARED
from tilewright.dialects.types import memref_type, size_of


@segmented
@irdl_op_definition
class LoadMatrixOp(FormedOp, SegmentedOp):
    """
    Load of 1, 2 or 4 matrices of 8 rows of 16 bytes from shared memory (PTX ISA, `ldmatrix`).

    Lane `8 * i + r` gives the subscripts of the first element of row `r` of matrix `i`. The
    subscripts of lanes beyond the last matrix are ignored, but must be valid. A row is adjacent
    along the axis that is innermost in memory, and its address is a multiple of 16 bytes.

    Lane `l` receives 4 bytes of each matrix, and stores them one after the other, beginning at the
    target's subscripts. They are the bytes at `4 * (l mod 4)` of row `l floordiv 4`. If the
    matrices are `transposed`, they are two 16-bit elements of column `l floordiv 4`, in rows
    `2 * (l mod 4)` and the next.

    ```mlir
    kernel.load_matrix %s[%t mod 16, %t floordiv 16 * 8] to %a[0] count 4
      : memref<16x16xbf16, 3 : i64>, memref<8xbf16, 5 : i64>
    ```
    """

    name = "kernel.load_matrix"

    T: ClassVar = VarConstraint("T", AnyAttr())

    source = operand_def(MemRefType.constr(T))
    source_indices = var_operand_def(IndexType)
    source_map = prop_def(AffineMapAttr)
    target = operand_def(MemRefType.constr(T))
    target_indices = var_operand_def(IndexType)
    target_map = prop_def(AffineMapAttr)
    count = prop_def(IntegerAttr.constr(type=eq(i64)))
    transposed = opt_prop_def(UnitAttr)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    custom_directives = (Subscripts,)
    assembly_format = (
        "$source custom<Subscripts>($source_indices, $source_map) `to` "
        "$target custom<Subscripts>($target_indices, $target_map) `count` $count "
        "(`transposed` $transposed^)? attr-dict `:` type($source) `,` type($target)"
    )

    def __init__(
        self,
        source: SSAValue,
        source_subscripts: Access,
        target: SSAValue,
        target_subscripts: Access,
        count: int,
        *,
        transposed: bool = False,
    ):
        source_map, source_indices = canonical_access(*source_subscripts)
        target_map, target_indices = canonical_access(*target_subscripts)
        super().__init__(
            operands=[[source], source_indices, [target], target_indices],
            properties={
                "source_map": AffineMapAttr(source_map),
                "target_map": AffineMapAttr(target_map),
                "count": IntegerAttr(count, i64),
                "transposed": UnitAttr() if transposed else None,
            },
        )

    @property
    def element(self) -> Attribute:
        """Type of the elements of the matrices."""
        return memref_type(self.source).element_type

    @property
    def row_elements(self) -> int:
        """Number of elements of one row of a matrix."""
        return MATRIX_ROW_BYTES // size_of(self.element)

    @property
    def target_elements(self) -> int:
        """Number of elements that a lane receives."""
        return self.count.value.data * REGISTER_BYTES // size_of(self.element)

    @property
    def addressing_lanes(self) -> int:
        """Number of lanes of a warp whose subscripts are rows of a matrix."""
        return self.count.value.data * MATRIX_ROWS

    def surroundings(self) -> Hashable:
        return isinstance(self.source.owner, RemoteOp), block_around(self)

    def verify_(self) -> None:
        verify_subscripts(self.source, self.source_map.data, self.source_indices)
        verify_subscripts(self.target, self.target_map.data, self.target_indices)
        if memref_type(self.source).memory_space != SHARED:
            raise VerifyException("matrices are loaded from shared memory; stage them there first")
        if isinstance(self.source.owner, RemoteOp):
            raise VerifyException("matrices of another block are loaded by loop.load, not at once")
        if memref_type(self.target).memory_space != LOCAL:
            raise VerifyException("matrices are loaded to registers; go through kernel.registers")
        verify_matrices(
            self.element, self.count.value.data, is_transposed=self.transposed is not None
        )
        verify_fragment(self.target, self.target_elements)
        _verify_warps(self)


class Fragment(NamedTuple):
    """Fragment of one matrix that takes part in a multiplication."""

    memref: SSAValue
    map: AffineMapAttr
    indices: tuple[SSAValue, ...]
    elements: int
    """Number of elements of the fragment."""


@segmented
@irdl_op_definition
class MatrixMultiplyOp(FormedOp, SegmentedOp):
    """
    Multiplication of the matrices A and B of a warp, whose product is added to D in place (PTX ISA,
    `mma`).

    The subscripts are those of the first element of each fragment in a register array.

    ```mlir
    kernel.matrix_multiply m16n8k16_bf16 %a[0], %b[0], %d[0]
      : memref<8xbf16, 5 : i64>, memref<4xbf16, 5 : i64>, memref<4xf32, 5 : i64>
    ```
    """

    name = "kernel.matrix_multiply"

    instruction = prop_def(MatrixInstructionAttr)
    a = operand_def(base(MemRefType))
    a_indices = var_operand_def(IndexType)
    a_map = prop_def(AffineMapAttr)
    b = operand_def(base(MemRefType))
    b_indices = var_operand_def(IndexType)
    b_map = prop_def(AffineMapAttr)
    d = operand_def(base(MemRefType))
    d_indices = var_operand_def(IndexType)
    d_map = prop_def(AffineMapAttr)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    custom_directives = (Subscripts,)
    assembly_format = (
        "$instruction $a custom<Subscripts>($a_indices, $a_map) `,` "
        "$b custom<Subscripts>($b_indices, $b_map) `,` "
        "$d custom<Subscripts>($d_indices, $d_map) attr-dict "
        "`:` type($a) `,` type($b) `,` type($d)"
    )

    def __init__(
        self,
        instruction: MatrixInstruction,
        a: SSAValue,
        a_subscripts: Access,
        b: SSAValue,
        b_subscripts: Access,
        d: SSAValue,
        d_subscripts: Access,
    ):
        a_map, a_indices = canonical_access(*a_subscripts)
        b_map, b_indices = canonical_access(*b_subscripts)
        d_map, d_indices = canonical_access(*d_subscripts)
        super().__init__(
            operands=[[a], a_indices, [b], b_indices, [d], d_indices],
            properties={
                "instruction": MatrixInstructionAttr(instruction),
                "a_map": AffineMapAttr(a_map),
                "b_map": AffineMapAttr(b_map),
                "d_map": AffineMapAttr(d_map),
            },
        )

    @property
    def products(self) -> int:
        """Number of products of two elements per lane."""
        sizes = self.instruction.data.fragments
        return sizes.m * sizes.n * sizes.k // WARP_SIZE

    def fragments(self) -> Iterator[Fragment]:
        """Yield the fragments of A, B and D."""
        sizes = self.instruction.data.fragments
        yield Fragment(self.a, self.a_map, (*self.a_indices,), sizes.elements_a)
        yield Fragment(self.b, self.b_map, (*self.b_indices,), sizes.elements_b)
        yield Fragment(self.d, self.d_map, (*self.d_indices,), sizes.elements_d)

    def surroundings(self) -> Hashable:
        return block_around(self)

    def verify_(self) -> None:
        instruction = self.instruction.data
        verify_multiplication(instruction)
        element = instruction.fragments.element
        types = {"A": element, "B": element, "D": f32}
        for (matrix, type), fragment in zip(types.items(), self.fragments(), strict=True):
            verify_subscripts(fragment.memref, fragment.map.data, fragment.indices)
            memory = memref_type(fragment.memref)
            if memory.memory_space != LOCAL:
                raise VerifyException(
                    f"{matrix} of a multiplication is in registers; load it by kernel.load_matrix"
                )
            if memory.element_type != type:
                raise VerifyException(
                    f"{matrix} of {instruction} has elements {type}, not {memory.element_type}"
                )
            verify_fragment(fragment.memref, fragment.elements)
        _verify_warps(self)


def verify_matrices(element: Attribute, count: int, *, is_transposed: bool) -> None:
    """Raise `VerifyException` if one `ldmatrix` cannot load `count` matrices of these elements."""
    if element not in (*HALVES, f32):
        raise VerifyException(f"matrices have elements bf16, f16 or f32, not {element}")
    if count not in MATRIX_COUNTS:
        raise VerifyException(f"one instruction loads {MATRIX_COUNTS} matrices, not {count}")
    if is_transposed and element not in HALVES:
        raise VerifyException(
            f"only 16-bit elements are transposed; store the slab of {element} transposed"
        )


def verify_multiplication(instruction: MatrixInstruction) -> None:
    """Raise `VerifyException` unless `instruction` is one instruction of a warp."""
    if instruction.is_grouped:
        raise VerifyException(
            f"{instruction} is an instruction of a warpgroup; use kernel.group_multiply"
        )
    if instruction.is_split:
        raise VerifyException(
            f"{instruction} is several instructions; write its multiplications one by one"
        )


def _verify_warps(op: Operation) -> None:
    """Raise `VerifyException` if the block around an op of whole warps has a partial warp."""
    threads = block_around(op)
    if threads is not None and threads % WARP_SIZE:
        raise VerifyException(
            f"a block of {threads} threads is not whole warps, which execute this op; give it a "
            f"multiple of {WARP_SIZE}"
        )


def verify_fragment(memref: SSAValue, elements: int) -> None:
    """Raise `VerifyException` if a register array has fewer elements than a fragment."""
    size = memref_type(memref).element_count()
    if size < elements:
        raise VerifyException(f"a lane holds {elements} elements of the matrix, not {size}")


class _Float32Op(FormedOp, ABC):
    """Base of ops that compute one float from another."""

    value = operand_def(f32)
    result = result_def(f32)

    traits = traits_def(Pure())
    assembly_format = "$value attr-dict `:` type($value)"

    def __init__(self, value: SSAValue):
        super().__init__(operands=[value], result_types=[f32])


@irdl_op_definition
class RoundTf32Op(_Float32Op):
    """
    Nearest float with 10 bits after the leading bit, of which `mma` on tf32 reads all bits.

    Ties are rounded away from zero (PTX ISA, `cvt.rna.tf32.f32`).

    ```mlir
    %1 = kernel.round_tf32 %0 : f32
    ```
    """

    name = "kernel.round_tf32"


@irdl_op_definition
class HalveTf32Op(_Float32Op):
    """
    Half of a float with 10 bits after the leading bit, of which `mma` on tf32 reads all bits.

    It is the value times 1/2 + 2^-12 with its last bits cut off, and differs from the half by at
    most 2^-11 of the half. Rounding takes two instructions more. Infinities and NaN stay.

    ```mlir
    %1 = kernel.halve_tf32 %0 : f32
    ```
    """

    name = "kernel.halve_tf32"


@irdl_op_definition
class NearestFiniteOp(_Float32Op):
    """
    Nearest finite float. NaN becomes the largest or the smallest finite float.

    ```mlir
    %1 = kernel.nearest_finite %0 : f32
    ```
    """

    name = "kernel.nearest_finite"
