# SPDX-License-Identifier: Apache-2.0
"""
Descriptors of matrices in shared memory, by which a warpgroup reads the factors of a product.

A descriptor has the address of the first element and two distances. Elements are swizzled as in the
slab's layout: a *span* of 32, 64 or 128 bytes holds adjacent elements, and the span of the next row
follows. Rows come in groups of eight.

* If K is innermost in memory, a span holds steps of K. `stride` is the distance from eight rows (or
  columns of B) to the next eight.
* Otherwise the matrix is *transposed*: a span holds rows of A, or columns of B, at one step of K.
  `stride` is the distance from eight steps of K to the next eight. `leading` is the distance from a
  span to the one with the rows after it.

Source: PTX ISA, "Asynchronous warpgroup-level matrix instructions", shared memory layout and matrix
descriptor.
"""

from functools import cache
from typing import NamedTuple

from xdsl.dialects.builtin import MemRefType
from xdsl.ir.affine import AffineExpr

from tilewright.dialects.tile.layout import layout_of
from tilewright.dialects.types import size_of

MATRIX_UNIT = 16
"""Bytes in which descriptors count addresses and distances."""

_GROUP = 8
"""Rows of a matrix, or steps of K, that lie one span after the other."""


class MatrixDescriptor(NamedTuple):
    """Distances in bytes of a descriptor, and the span of its swizzle."""

    leading: int
    stride: int
    span: int
    transposed: bool
    """True if K is not the innermost axis in memory."""

    @property
    def first_multiple(self) -> int:
        """Number that divides the row (or column) of the first element of each descriptor."""
        return self.span // 2 if self.transposed else _GROUP


@cache
def descriptor_of(
    type: MemRefType, axes: tuple[int, int], extents: tuple[int, int]
) -> MatrixDescriptor | str:
    """
    Return the descriptor of a matrix of 2-byte elements in a slab of `type`, or the reason why it
    has none, worded to follow the slab's name.

    `axes` are the slab's axes along A's rows (or B's columns) and along K; `extents` are the
    extents of the matrix along both.
    """
    layout, size = layout_of(type), size_of(type.element_type)
    span = layout.swizzle_bytes.data
    if not span:
        return "is not swizzled"
    innermost = layout.innermost(type)
    if innermost not in axes:
        return "has neither its rows nor K innermost in memory"
    shape = [type.get_shape()[axis] for axis in axes]
    if any(extent > whole for extent, whole in zip(extents, shape, strict=True)):
        return f"is smaller than {extents[0]} by {extents[1]} elements"
    transposed = innermost == axes[0]

    def byte(row: int, k: int) -> int:
        at = [0] * type.get_num_dims()
        at[axes[0]], at[axes[1]] = row, k
        exprs = [AffineExpr.constant(each) for each in at]
        return layout.offset(exprs, type).eval([], []) * size

    in_span = span // size
    extent, steps = extents
    leading = byte(in_span, 0) if transposed and extent > in_span else MATRIX_UNIT
    stride = byte(0, _GROUP) if transposed else byte(_GROUP, 0)
    found = MatrixDescriptor(leading, stride, span, transposed)
    # A layout places the steps of an axis the same way at each step of the others.
    along = all(byte(row, 0) == byte_of(found, row, 0, size) for row in range(extent))
    if not along or any(byte(0, k) != byte_of(found, 0, k, size) for k in range(steps)):
        return "is stored in an order that no descriptor has"
    return found


def byte_of(descriptor: MatrixDescriptor, row: int, k: int, size: int) -> int:
    """
    Return the offset in bytes of an element of a matrix from its first one, before the swizzle.
    """
    in_span = descriptor.span // size
    inner, outer = (row, k) if descriptor.transposed else (k, row)
    return (
        inner % in_span * size
        + inner // in_span * descriptor.leading
        + outer % _GROUP * descriptor.span
        + outer // _GROUP * descriptor.stride
    )
