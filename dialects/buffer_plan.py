# SPDX-License-Identifier: Apache-2.0
"""
Where intermediate buffers lie: attributes of the host function `@main`, once its buffers are
planned.

    func.func @main(%x: memref<64xf32>) -> memref<64xf32>
        attributes {plan.peak_bytes = 512 : i64, plan.sum_bytes = 768 : i64} {
      %a = memref.alloc() {plan.offset = 0 : i64} : memref<64xf32>
      %b = memref.alloc() {plan.offset = 256 : i64} : memref<64xf32>
      %c = memref.alloc() {plan.offset = 0 : i64} : memref<64xf32>

All that have an offset are parts of one slab of memory. Writing to one ends the contents of those
that share bytes with it; reading these afterwards has no meaning.
"""

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FixedBitwidthType,
    IntegerAttr,
    MemRefType,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.memref import AllocOp
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

ALIGNMENT = 256
"""Bytes that offsets are multiples of: what `cudaMalloc` gives, and enough for any access."""

_OFFSET = "plan.offset"
_PEAK = "plan.peak_bytes"
_SUM = "plan.sum_bytes"


def bytes_of_type(type: MemRefType[Attribute]) -> int:
    """Return the bytes that the elements of a buffer take, each a whole number of bytes."""
    element, size = type.element_type, 1
    if not isinstance(element, FixedBitwidthType) or DYNAMIC_INDEX in type.get_shape():
        raise VerifyException(f"a buffer in a plan has a size that is known, {type} has not")
    for extent in type.get_shape():
        size *= extent
    return size * element.size


def aligned(size: int) -> int:
    """`size` bytes, up to the next offset that a buffer may have."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def slot_of(alloc: AllocOp) -> range | None:
    """
    Return the bytes of the slab that are this buffer's; None if it has memory of its own.

    Raises `VerifyException` for an offset that is none.
    """
    if (attribute := alloc.attributes.get(_OFFSET)) is None:
        return None
    offset = attribute.value.data if isinstance(attribute, IntegerAttr) else -1
    if offset < 0 or offset % ALIGNMENT:
        raise VerifyException(f"{_OFFSET} is {attribute}, but has to be a multiple of {ALIGNMENT}")
    return range(offset, offset + bytes_of_type(alloc.memref.type))


def overlap(one: range, other: range) -> bool:
    """True if two slots share bytes."""
    return max(one.start, other.start) < min(one.stop, other.stop)


def set_offset(alloc: AllocOp, offset: int) -> None:
    """Place the buffer in the slab."""
    alloc.attributes[_OFFSET] = IntegerAttr(offset, i64)


def set_totals(main: FuncOp, peak: int, total: int) -> None:
    """Say how large the slab is, and how large it would be if no two buffers shared bytes."""
    main.attributes[_PEAK] = IntegerAttr(peak, i64)
    main.attributes[_SUM] = IntegerAttr(total, i64)


def clear(main: FuncOp) -> None:
    """Take back what was planned."""
    for op in (main, *main.body.block.ops):
        for name in (_OFFSET, _PEAK, _SUM):
            op.attributes.pop(name, None)
