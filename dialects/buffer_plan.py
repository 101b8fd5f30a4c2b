# SPDX-License-Identifier: Apache-2.0
"""
The memory plan of intermediate buffers: attributes of the host function `@main` and its
allocations.

    func.func @main(%x: memref<64xf32>) -> memref<64xf32>
        attributes {plan.peak_bytes = 512 : i64, plan.sum_bytes = 768 : i64} {
      %a = memref.alloc() {plan.offset = 0 : i64} : memref<64xf32>
      %b = memref.alloc() {plan.offset = 256 : i64} : memref<64xf32>
      %c = memref.alloc() {plan.offset = 0 : i64} : memref<64xf32>

All buffers with an offset are parts of one slab of memory. A write to one buffer invalidates the
contents of the buffers that share bytes with it; reading them afterwards is undefined.
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
"""Alignment of offsets in bytes: what `cudaMalloc` guarantees, and enough for any access."""

_OFFSET = "plan.offset"
_PEAK = "plan.peak_bytes"
_SUM = "plan.sum_bytes"


def bytes_of_type(type: MemRefType[Attribute]) -> int:
    """Return the size of a buffer in bytes; each element takes a whole number of bytes."""
    element, size = type.element_type, 1
    if not isinstance(element, FixedBitwidthType) or DYNAMIC_INDEX in type.get_shape():
        raise VerifyException(f"a buffer in a plan has a known size, unlike {type}")
    for extent in type.get_shape():
        size *= extent
    return size * element.size


def aligned(size: int) -> int:
    """Return `size` in bytes, rounded up to the next multiple of `ALIGNMENT`."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def slot_of(alloc: AllocOp) -> range | None:
    """
    Return the range of bytes of the slab that this buffer occupies; None if it is allocated by
    itself.

    Raises `VerifyException` if the offset is negative, misaligned or not an integer.
    """
    if (attribute := alloc.attributes.get(_OFFSET)) is None:
        return None
    offset = attribute.value.data if isinstance(attribute, IntegerAttr) else -1
    if offset < 0 or offset % ALIGNMENT:
        raise VerifyException(f"{_OFFSET} is {attribute}, but has to be a multiple of {ALIGNMENT}")
    return range(offset, offset + bytes_of_type(alloc.memref.type))


def overlap(one: range, other: range) -> bool:
    """True if two byte ranges of the slab intersect."""
    return max(one.start, other.start) < min(one.stop, other.stop)


def set_offset(alloc: AllocOp, offset: int) -> None:
    """Place the buffer at `offset` bytes in the slab."""
    alloc.attributes[_OFFSET] = IntegerAttr(offset, i64)


def set_totals(main: FuncOp, peak: int, total: int) -> None:
    """
    Record the size of the slab in bytes (`peak`), and the sum of all buffers' sizes (`total`).
    """
    main.attributes[_PEAK] = IntegerAttr(peak, i64)
    main.attributes[_SUM] = IntegerAttr(total, i64)


def clear(main: FuncOp) -> None:
    """Remove the memory plan from the host function and its allocations."""
    for op in (main, *main.body.block.ops):
        for name in (_OFFSET, _PEAK, _SUM):
            op.attributes.pop(name, None)
