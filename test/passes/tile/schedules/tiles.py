# SPDX-License-Identifier: Apache-2.0
"""
Random tiles of a contraction: the share of blocks, threads and registers along rows, columns and K.
"""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from .drawing import Cut, Draw, ceil, cut

_SIZES = (8, 1, 2, 3, 5, 7, 13, 16, 17, 24, 31, 32, 33, 40, 48, 53, 64, 67, 70)

_TIDY_SIZES = (16, 8, 24, 32, 40, 48, 64)
"""Sizes whose rows begin at addresses that the tensor memory accelerator accepts."""

_LARGEST_TILE = 8192
_MAX_THREADS = 512


class Sizes(NamedTuple):
    """Trip counts of the loops of a contraction."""

    batch: int
    m: int
    n: int
    k: int


class Steps(NamedTuple):
    """
    Number of blocks, phases and chunks of K, and of steps, threads and vector elements in a chunk.
    """

    blocks: int
    phases: int
    chunks: int
    steps: int
    threads: int
    vector: int

    @property
    def chunk(self) -> int:
        """Number of steps of K in a chunk, which a block takes at a time."""
        return self.steps * self.threads * self.vector

    @property
    def base(self) -> str:
        """Index in K of the chunk's first step, as text."""
        return _total([*self._outer, ("%ko", self.chunk, self.chunks)])

    @property
    def base_of_phase(self) -> str:
        """Index in K at which the loop over chunks begins, as text."""
        return _total(self._outer)

    @property
    def whole(self) -> tuple[str, int, str]:
        """Part of K that a block walks: its start, its length, and the start of the chunk in it."""
        block, phase = self._outer
        walked = [phase, ("%ko", self.chunk, self.chunks)]
        return _total([block]), block[1], _total(walked)

    @property
    def _outer(self) -> list[tuple[str, int, int]]:
        phase = self.chunks * self.chunk
        return [("%s", phase * self.phases, self.blocks), ("%kp", phase, self.phases)]

    @property
    def local(self) -> str:
        """Index of the step within the chunk, as text."""
        axes = [("%ki", "", self.steps), ("%tk", "", self.threads), ("%kv", "", self.vector)]
        return Cut([axis for axis in axes if axis[2] > 1]).at

    @property
    def at(self) -> str:
        """Index of the step in K, as text."""
        return f"{self.base} + {self.local}"

    @property
    def covered(self) -> int:
        """Number of steps of K that are walked, including steps beyond its end."""
        return self.blocks * self.phases * self.chunks * self.chunk


def _total(parts: Sequence[tuple[str, int, int]]) -> str:
    return " + ".join(f"{name} * {size}" for name, size, steps in parts if steps > 1) or "0"


class Tiles:
    """Tiles of the loops of a contraction, for blocks, threads and registers."""

    def __init__(self, draw: Draw):
        self.is_tidy = draw.chance(3)
        sizes = _TIDY_SIZES if self.is_tidy else _SIZES
        batch = draw.one((1, 1, 1, 2, 3, 4))
        self.sizes = Sizes(batch, *(draw.one(sizes) for _ in range(3)))
        self._cut_tiles(draw)
        self._cut_steps(draw)

    @property
    def starts(self) -> dict[str, str]:
        """Index at which the tile of each dimension begins, as text."""
        m, n = (f"{name} * {tile.size}" for name, tile in (("%bm", self.m), ("%bn", self.n)))
        return {
            "m": m if self.blocks["%bm"] > 1 else "0",
            "n": n if self.blocks["%bn"] > 1 else "0",
            "k": self.steps.base,
        }

    @property
    def extents(self) -> dict[str, int]:
        """Extent of the tile of each dimension."""
        return {"m": self.m.size, "n": self.n.size, "k": self.steps.chunk}

    @property
    def overrun(self) -> dict[str, bool]:
        """True for each dimension whose tiles reach beyond its end."""
        sizes, extents = self.sizes, self.extents
        return {
            "m": self.blocks["%bm"] * extents["m"] > sizes.m,
            "n": self.blocks["%bn"] * extents["n"] > sizes.n,
            "k": self.steps.covered > sizes.k,
        }

    def size(self, dim: str) -> int:
        """Return the extent of a dimension m, n or k, or of the batch, which is `g`."""
        return getattr(self.sizes, {"g": "batch"}.get(dim, dim))

    @property
    def m_index(self) -> str:
        """Index of the row among all rows, as text."""
        return f"{self.starts['m']} + {self.m.at}"

    @property
    def n_index(self) -> str:
        """Index of the column among all columns, as text."""
        return f"{self.starts['n']} + {self.n.at}"

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the product."""
        batch = (self.sizes.batch,) if self.sizes.batch > 1 else ()
        return (*batch, self.sizes.m, self.sizes.n)

    def _cut_tiles(self, draw: Draw) -> None:
        threads = draw.one(((8, 4), (4, 8), (8, 8), (16, 16), (1, 32), (5, 3), (2, 2), (16, 2)))
        strips, vectors = (1, 1, 2, 3), (4, 2, 8) if self.is_tidy else (1, 4, 2, 3, 8)
        self.m, self.n = (
            cut(
                draw,
                (f"%s{dim}", "register", draw.one(strips)),
                (f"%t{dim}", "thread", threads[at]),
                (f"%v{dim}", "register", draw.one(vectors)),
            )
            for at, dim in enumerate("mn")
        )
        if self.m.size * self.n.size > _LARGEST_TILE:
            self.n = cut(draw, ("%tn", "thread", threads[1]))
        more = int(draw.chance(8))  # a row of blocks that has nothing to compute
        self.blocks = {
            "%bm": ceil(self.sizes.m, self.m.size) + more,
            "%bn": ceil(self.sizes.n, self.n.size),
        }

    def _cut_steps(self, draw: Draw) -> None:
        blocks = draw.one((1, 1, 1, 1, 2, 3, 4))
        threads = draw.one((1, 1, 1, 1, 2, 4, 3))
        threads = threads if threads * self._threads_mn() <= _MAX_THREADS else 1
        steps, vector = draw.one((4, 1, 2, 2, 4, 8, 16, 3)), draw.one((1, 1, 4, 2))
        if self.is_tidy:
            steps = draw.one((4, 8, 16))
        chunk = steps * vector * threads
        chunks = ceil(self.sizes.k, blocks * chunk)
        phases = 2 if chunks > 2 and draw.chance(3) else 1
        self.steps = Steps(blocks, phases, ceil(chunks, phases), steps, threads, vector)

    def _threads_mn(self) -> int:
        axes = [*self.m.axes, *self.n.axes]
        return prod(steps for _, level, steps in axes if level == "thread")
