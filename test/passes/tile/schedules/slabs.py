# SPDX-License-Identifier: Apache-2.0
"""Random slabs: their layout in shared memory, and the rings of their slots."""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from .drawing import Draw
from .elements import Element

SHARED_BYTES = 40_000
"""Largest number of bytes that all slabs of a kernel may take."""


class Ring(NamedTuple):
    """
    Number of slots of a slab, and how many steps ahead they are filled. A slab with one slot has no
    ring.
    """

    depth: int = 1
    lookahead: int = 0

    @property
    def text(self) -> str:
        """Ring in the syntax of `tile.stage`."""
        if self.depth == 1:
            return ""
        return f" ring(depth {self.depth}, lookahead {self.lookahead})"


def drawn_ring(draw: Draw) -> Ring:
    """Return a random ring of up to 5 slots."""
    depth = draw.one((1, 2, 2, 3, 4, 5))
    return Ring(depth, draw.one(range(depth)) if depth > 1 else 0)


def drawn_layout(draw: Draw, extents: Sequence[int], element: Element, *, tma: bool) -> str:
    """
    Return `, #tile.layout<...>`, or an empty text. With `tma`, the layout has no padding and keeps
    the order of the axes.
    """
    rank, parts = len(extents), list[str]()
    order = list(range(rank))
    if not tma and draw.chance(3):
        order = draw.shuffled(order)
        parts.append(f"order {order}")
    innermost = extents[order[-1]]
    pieces = [n for n in (4, 8, 16, 32) if n < innermost and innermost % n == 0]
    pieces = [n for n in pieces if not tma or _is_boxed(n * element.bytes, extents)]
    kind = draw.one(("", "pad", "swizzle", "inner", "inner and swizzle"))
    inner = draw.one(pieces) if pieces and "inner" in kind else 0
    if inner:
        parts.append(f"inner {inner}")
    span = (inner or innermost) * element.bytes
    if "swizzle" in kind and span in (32, 64, 128):
        parts.append(f"swizzle {span}")
    if kind == "pad" and not tma:
        parts.append(f"pad {[draw.one((0, 1, 4, 3)) for _ in extents]}")
    return f", #tile.layout<{', '.join(parts)}>" if parts else ""


def _is_boxed(piece: int, extents: Sequence[int]) -> bool:
    """
    True if TMA can copy pieces of `piece` bytes: each of its boxes begins at a multiple of 128
    bytes.
    """
    return piece % 16 == 0 and piece * prod(extents[:-1]) % 128 == 0
