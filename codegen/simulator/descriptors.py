# SPDX-License-Identifier: Apache-2.0
"""
Descriptors of matrices in shared memory, as `wgmma` reads them.

The formulas are those of PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory Layout" and
"Matrix-descriptor". They are written without the compiler's descriptors, so that a test can compare
both. Only swizzled matrices are known.
"""

from typing import NamedTuple

import numpy as np

from tilewright.codegen.simulator.lanes import Integers

CHUNK = 16
"""Bytes that lie together in all layouts, and the unit of addresses and distances."""

_FIELD = 0x3FFF
_SPANS = {1: 128, 2: 64, 3: 32}
"""Bytes within which chunks are swizzled, by the upper two bits."""
_ATOM = 8
"""Rows of one span each, after which the pattern of a swizzle repeats."""
_ROW = 128
"""Bytes whose number decides how chunks are swizzled."""


class Descriptor(NamedTuple):
    """A descriptor without its address; distances are in bytes."""

    leading: int
    stride: int
    span: int

    @staticmethod
    def of(bits: int) -> "Descriptor | None":
        """Return the descriptor with these bits; None if its matrix is not swizzled, or moved."""
        span = _SPANS.get(bits >> 62)
        if span is None or bits >> 49 & 7:
            return None
        return Descriptor((bits >> 16 & _FIELD) * CHUNK, (bits >> 32 & _FIELD) * CHUNK, span)

    def is_aligned(self, start: Integers, *, transposed: bool) -> bool:
        """
        True if matrices can begin at these addresses: where the pattern of the swizzle begins, or
        inside of its first span, if K runs along the span.
        """
        within = start % (_ATOM * self.span)
        return bool((within == 0).all() if transposed else (within < self.span).all())

    def addresses(self, start: Integers, rows: int, k: int, *, transposed: bool) -> Integers:
        """
        Return the addresses of the chunks of matrices of `rows` x `k` elements of 2 bytes that
        begin at the addresses `start`.

        The shape is (matrices, rows, chunks along k). If K does not run along the spans, it is
        (matrices, chunks along rows, k).
        """
        if transposed:
            along, across = np.arange(rows * 2 // CHUNK)[:, None], np.arange(k)
        else:
            along, across = np.arange(k * 2 // CHUNK), np.arange(rows)[:, None]
        in_span = self.span // CHUNK
        offset = (
            along % in_span * CHUNK
            + along // in_span * self.leading
            + across % _ATOM * self.span
            + across // _ATOM * self.stride
        )
        whole = start[:, None, None] + offset
        return whole ^ (whole // _ROW % in_span * CHUNK)


def start_of(bits: Integers) -> Integers:
    """Return the addresses in shared memory that descriptors have."""
    return (bits.astype(np.int64) & _FIELD) * CHUNK
