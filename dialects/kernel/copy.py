# SPDX-License-Identifier: Apache-2.0
"""
Copies of several elements at once, synchronous by vector instructions or asynchronous by hardware.
"""

from abc import ABC
from typing import ClassVar

from xdsl.dialects.builtin import AffineMapAttr, IndexType, IntegerAttr, MemRefType, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AnyAttr,
    VarConstraint,
    eq,
    irdl_op_definition,
    operand_def,
    prop_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.assembly import Subscripts, Where
from tilewright.dialects.axes import (
    Access,
    MaskedOp,
    canonical_access,
    verify_subscripts,
)
from tilewright.dialects.faster_xdsl.segments import segmented
from tilewright.dialects.faster_xdsl.verify_once import FormedOp
from tilewright.dialects.kernel.registers import LOCAL
from tilewright.dialects.target import VECTOR_BYTES
from tilewright.dialects.tile import SHARED
from tilewright.dialects.types import memref_type, size_of


class CopyingOp(FormedOp, MaskedOp, ABC):
    """
    Base class of copies of `width` adjacent elements, beginning at the subscripts on either side.

    Elements are adjacent along the axis that is innermost in memory. Both addresses are multiples
    of the number of bytes moved.
    """

    T: ClassVar = VarConstraint("T", AnyAttr())

    source = operand_def(MemRefType.constr(T))
    source_indices = var_operand_def(IndexType)
    source_map = prop_def(AffineMapAttr)
    target = operand_def(MemRefType.constr(T))
    target_indices = var_operand_def(IndexType)
    target_map = prop_def(AffineMapAttr)
    width = prop_def(IntegerAttr.constr(type=eq(i64)))

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    custom_directives = (Subscripts, Where)
    assembly_format = (
        "$source custom<Subscripts>($source_indices, $source_map) `to` "
        "$target custom<Subscripts>($target_indices, $target_map) `width` $width "
        "custom<Where>($mask_operands, $mask) attr-dict `:` type($source) `,` type($target)"
    )

    def __init__(
        self,
        source: SSAValue,
        source_subscripts: Access,
        target: SSAValue,
        target_subscripts: Access,
        width: int,
        where: Access | None = None,
    ):
        source_map, source_indices = canonical_access(*source_subscripts)
        target_map, target_indices = canonical_access(*target_subscripts)
        super().__init__(
            operands=[[source], source_indices, [target], target_indices],
            where=where,
            properties={
                "source_map": AffineMapAttr(source_map),
                "target_map": AffineMapAttr(target_map),
                "width": IntegerAttr(width, i64),
            },
        )

    @property
    def num_bytes(self) -> int:
        """Number of bytes that the copy moves."""
        return self.width.value.data * size_of(memref_type(self.source).element_type)

    def verify_(self) -> None:
        verify_subscripts(self.source, self.source_map.data, self.source_indices)
        verify_subscripts(self.target, self.target_map.data, self.target_indices)
        self.verify_mask()
        if self.num_bytes not in VECTOR_BYTES:
            raise VerifyException(
                f"one instruction moves {VECTOR_BYTES} bytes; {self.width.value.data} elements "
                f"are {self.num_bytes}"
            )


@segmented
@irdl_op_definition
class CopyOp(CopyingOp):
    """
    Vector load or store: the source or the target is registers.

    Where the mask is false, registers and shared memory get zeros, and global memory is unchanged.

    ```mlir
    kernel.copy %x[%t * 4] to %r[0] width 4 where [96 - %t * 4]
      : memref<100xf32>, memref<4xf32, 5 : i64>
    ```
    """

    name = "kernel.copy"

    def verify_(self) -> None:
        super().verify_()
        spaces = [memref_type(side).memory_space for side in (self.source, self.target)]
        if LOCAL not in spaces:
            raise VerifyException("one side of a copy is registers; go through kernel.registers")


@segmented
@irdl_op_definition
class CopyAsyncOp(CopyingOp):
    """
    Start of an asynchronous copy from global to shared memory (PTX ISA, `cp.async`).

    No thread may read or write the target until it has waited for the ring's fill that the copy
    belongs to. Where the mask is false, nothing is read and zeros are written.

    ```mlir
    kernel.copy_async %x[%t * 4] to %s[%slot, %t * 4] width 4
      : memref<512xf32>, memref<2x512xf32, 3 : i64>
    ```
    """

    name = "kernel.copy_async"

    def verify_(self) -> None:
        super().verify_()
        if memref_type(self.target).memory_space != SHARED:
            raise VerifyException("cp.async copies to shared memory")
        if memref_type(self.source).memory_space in (SHARED, LOCAL):
            raise VerifyException("cp.async copies from global memory")
