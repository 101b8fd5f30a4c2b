# SPDX-License-Identifier: Apache-2.0
"""Shuffles: a lane reads a value that another lane of the warp holds."""

from typing import ClassVar

from xdsl.dialects.builtin import (
    IntegerAttr,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
    AtLeast,
    VarConstraint,
    eq,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import (
    MemoryReadEffect,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.faster_xdsl.verify_once import FormedOp
from tilewright.dialects.target import WARP_SIZE


class ShuffleMode(StrEnum):
    """
    Lane that a shuffle reads: own id ^ offset for `xor`, the lane with number `offset` for `idx`.
    """

    XOR = "xor"
    IDX = "idx"


@irdl_attr_definition
class ShuffleModeAttr(EnumAttribute[ShuffleMode], SpacedOpaqueSyntaxAttribute):
    """Attribute for the lane that a shuffle reads."""

    name = "kernel.shuffle_mode"


def verify_segment(offset: int, width: int) -> None:
    """Raise `VerifyException` unless lanes in segments of `width` can read across `offset`."""
    if width not in (1, 2, 4, 8, 16, 32):
        raise VerifyException(f"the width {width} must be a power of two up to {WARP_SIZE}")
    if offset >= width:
        raise VerifyException(f"the offset {offset} leaves the segment of {width} lanes")


@irdl_op_definition
class ShuffleOp(FormedOp):
    """
    Value that another lane of the warp holds; all lanes take part (PTX ISA, `shfl.sync`).

    Lanes form segments of `width`, a power of two; `idx` counts within the segment.

    ```mlir
    %o = kernel.shuffle xor %v, 16 width 32 : f32
    ```
    """

    name = "kernel.shuffle"

    T: ClassVar = VarConstraint("T", AnyAttr())

    mode = prop_def(ShuffleModeAttr)
    value = operand_def(T)
    offset = prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(0)))
    width = prop_def(IntegerAttr.constr(type=eq(i64), value=AtLeast(1)))
    result = result_def(T)

    traits = traits_def(MemoryReadEffect())
    assembly_format = "$mode $value `,` $offset `width` $width attr-dict `:` type($value)"

    def __init__(self, mode: ShuffleMode, value: SSAValue, offset: int, width: int = WARP_SIZE):
        super().__init__(
            operands=[value],
            properties={
                "mode": ShuffleModeAttr(mode),
                "offset": IntegerAttr(offset, i64),
                "width": IntegerAttr(width, i64),
            },
            result_types=[value.type],
        )

    def verify_(self) -> None:
        verify_segment(self.offset.value.data, self.width.value.data)
