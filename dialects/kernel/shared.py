# SPDX-License-Identifier: Apache-2.0
"""
Arrays in the shared memory of a block, and which of them occupy the same bytes.

    %as = kernel.shared at 0 : memref<2x128x16xf32, 3 : i64>
    %partial = kernel.shared at 0 : memref<64x256xf32, 3 : i64>

A write to one array invalidates the contents of the arrays that share bytes with it.
"""

from xdsl.dialects.builtin import IntegerAttr, MemRefType, i64
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AtLeast,
    base,
    eq,
    irdl_op_definition,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import MemoryAllocEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.buffer_plan import overlap
from tilewright.dialects.faster_xdsl.verify_once import FormedOp
from tilewright.dialects.tile import SHARED, layout_of
from tilewright.dialects.types import memref_type, size_of


@irdl_op_definition
class SharedOp(FormedOp):
    """
    Array in the block's shared memory; its contents are undefined at first.

    `at` is the offset of its first byte; an array without it does not overlap any other.

    ```mlir
    %partial = kernel.shared : memref<8xf32, 3 : i64>
    %slots = kernel.shared at 1024 : memref<8xf32, 3 : i64>
    ```
    """

    name = "kernel.shared"

    offset = opt_prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(0)))
    memref = result_def(base(MemRefType))

    traits = traits_def(MemoryAllocEffect())
    assembly_format = "(`at` $offset^)? attr-dict `:` type($memref)"

    def __init__(self, type: MemRefType, offset: int | None = None):
        super().__init__(
            properties={"offset": None if offset is None else IntegerAttr(offset, i64)},
            result_types=[type],
        )

    @property
    def num_bytes(self) -> int:
        """Size of the array in bytes, padding included."""
        type = memref_type(self.memref)
        return layout_of(type).size(type) * size_of(type.element_type)

    @property
    def alignment(self) -> int:
        """Alignment of the array's address in bytes, enough for every access to it."""
        return layout_of(memref_type(self.memref)).alignment

    @property
    def place(self) -> range | None:
        """Range of bytes that the array occupies; None if it has no offset."""
        if self.offset is None:
            return None
        return range(self.offset.value.data, self.offset.value.data + self.num_bytes)

    def verify_(self) -> None:
        type = memref_type(self.memref)
        if type.memory_space != SHARED:
            raise VerifyException(f"shared memory is memory space 3; {type} is not in it")
        layout_of(type).verify_for(type)
        if self.place is not None and self.place.start % self.alignment:
            raise VerifyException(
                f"{type} begins at a multiple of {self.alignment} bytes, not at {self.place.start}"
            )


WORTH_A_BARRIER = 1024
"""
Fewest bytes saved for which arrays are overlapped, because that may need a barrier between them.

Smaller savings seldom make room for another block.
"""


def share_bytes(one: SSAValue, other: SSAValue) -> bool:
    """True if two arrays occupy some of the same bytes."""
    if not isinstance(one.owner, SharedOp) or not isinstance(other.owner, SharedOp):
        return False
    first, second = one.owner.place, other.owner.place
    return first is not None and second is not None and overlap(first, second)
