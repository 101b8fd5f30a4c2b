# SPDX-License-Identifier: Apache-2.0
"""
Arrays in the shared memory of a block, and which of them lie in the same place.

    %as = kernel.shared at 0 : memref<2x128x16xf32, 3 : i64>
    %partial = kernel.shared at 0 : memref<64x256xf32, 3 : i64>

Writing to one ends the contents of those that share bytes with it.
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
    An array in the block's shared memory. Its contents are undefined at first. `at` is its first
    byte there; where nothing is said it has memory of its own.

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
        """What it takes, padding included."""
        type = memref_type(self.memref)
        return layout_of(type).size(type) * size_of(type.element_type)

    @property
    def alignment(self) -> int:
        """The bytes that its address is a multiple of; enough for whatever accesses it."""
        return layout_of(memref_type(self.memref)).alignment

    @property
    def place(self) -> range | None:
        """The bytes that it lies in, if that is said."""
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
Bytes saved from which on arrays are laid in the same place, which may take a barrier between them;
less seldom makes room for a block more.
"""


def share_bytes(one: SSAValue, other: SSAValue) -> bool:
    """True if two arrays lie in the same memory, or partly."""
    if not isinstance(one.owner, SharedOp) or not isinstance(other.owner, SharedOp):
        return False
    first, second = one.owner.place, other.owner.place
    return first is not None and second is not None and overlap(first, second)
