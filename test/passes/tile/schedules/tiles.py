# SPDX-License-Identifier: Apache-2.0
"""Drawn tiles of a contraction: what blocks, threads and registers do of rows, columns and K."""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from .drawing import Cut, Draw, ceil, cut

_SIZES = (8, 1, 2, 3, 5, 7, 13, 16, 17, 24, 31, 32, 33, 40, 48, 53, 64, 67, 70)

_TIDY_SIZES = (16, 8, 24, 32, 40, 48, 64)
"""Rows of these begin where the tensor memory accelerator wants them to."""

_LARGEST_TILE = 8192
_MAX_THREADS = 512


class Sizes(NamedTuple):
    """The loops that a contraction is made of."""

    batch: int
    m: int
    n: int
    k: int


class Steps(NamedTuple):
    """How K is walked: blocks, phases, chunks, and in a chunk steps, threads and vectors."""

    blocks: int
    phases: int
    chunks: int
    steps: int
    threads: int
    vector: int

    @property
    def chunk(self) -> int:
        """Elements that a block takes at a time."""
        return self.steps * self.threads * self.vector

    @property
    def base(self) -> str:
        """Where in K the chunk begins."""
        return _total([*self._outer, ("%ko", self.chunk, self.chunks)])

    @property
    def base_of_phase(self) -> str:
        """Where in K the loop over chunks begins."""
        return _total(self._outer)

    @property
    def whole(self) -> tuple[str, int, str]:
        """All that a block walks: its start, its length, and where in it the chunk begins."""
        block, phase = self._outer
        walked = [phase, ("%ko", self.chunk, self.chunks)]
        return _total([block]), block[1], _total(walked)

    @property
    def _outer(self) -> list[tuple[str, int, int]]:
        phase = self.chunks * self.chunk
        return [("%s", phase * self.phases, self.blocks), ("%kp", phase, self.phases)]

    @property
    def local(self) -> str:
        """The step within the chunk."""
        axes = [("%ki", "", self.steps), ("%tk", "", self.threads), ("%kv", "", self.vector)]
        return Cut([axis for axis in axes if axis[2] > 1]).at

    @property
    def at(self) -> str:
        """The step of K."""
        return f"{self.base} + {self.local}"

    @property
    def covered(self) -> int:
        """Steps of K that are walked, those beyond its end among them."""
        return self.blocks * self.phases * self.chunks * self.chunk


def _total(parts: Sequence[tuple[str, int, int]]) -> str:
    return " + ".join(f"{name} * {size}" for name, size, steps in parts if steps > 1) or "0"


class Tiles:
    """How the loops of a contraction are shared."""

    def __init__(self, draw: Draw):
        self.is_tidy = draw.chance(3)
        sizes = _TIDY_SIZES if self.is_tidy else _SIZES
        batch = draw.one((1, 1, 1, 2, 3, 4))
        self.sizes = Sizes(batch, *(draw.one(sizes) for _ in range(3)))
        self._cut_tiles(draw)
        self._cut_steps(draw)

    @property
    def starts(self) -> dict[str, str]:
        """Where each dimension's tile begins."""
        m, n = (f"{name} * {tile.size}" for name, tile in (("%bm", self.m), ("%bn", self.n)))
        return {
            "m": m if self.blocks["%bm"] > 1 else "0",
            "n": n if self.blocks["%bn"] > 1 else "0",
            "k": self.steps.base,
        }

    @property
    def extents(self) -> dict[str, int]:
        """The tile of each dimension."""
        return {"m": self.m.size, "n": self.n.size, "k": self.steps.chunk}

    @property
    def overrun(self) -> dict[str, bool]:
        """Whether tiles reach beyond the end."""
        sizes, extents = self.sizes, self.extents
        return {
            "m": self.blocks["%bm"] * extents["m"] > sizes.m,
            "n": self.blocks["%bn"] * extents["n"] > sizes.n,
            "k": self.steps.covered > sizes.k,
        }

    def size(self, dim: str) -> int:
        """Return the extent of a dimension, or of the batch, which is `g`."""
        return getattr(self.sizes, {"g": "batch"}.get(dim, dim))

    @property
    def m_index(self) -> str:
        """The row, in all of the rows."""
        return f"{self.starts['m']} + {self.m.at}"

    @property
    def n_index(self) -> str:
        """The column."""
        return f"{self.starts['n']} + {self.n.at}"

    @property
    def shape(self) -> tuple[int, ...]:
        """The product's."""
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
        more = int(draw.chance(8))  # a block that has nothing to do
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
