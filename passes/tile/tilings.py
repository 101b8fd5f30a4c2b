# SPDX-License-Identifier: Apache-2.0
"""
How a contraction can be tiled, and how long each way takes.

The tile, the length of a chunk of K, how K is split over blocks and how many slots a ring has
depend on each other: through the shared memory and the registers of a block, and through the number
of blocks. Every combination of rows of `TILES` and of a few chunks, splits and depths is weighed by
one model of time:

    seconds = max(arithmetic, L2, device memory, waiting) + first answer + joining the splits

* arithmetic: the multiply-adds of the SM with the most blocks, at the share of its issue slots that
  multiply-adds of such a tile get, or, if it has too few warps to hide latency, at the share that
  each warp gets of its own; and a little for each chunk;
* L2: what blocks stage, rereads by other blocks included;
* device memory: every input once, at the bandwidth;
* waiting: a chunk is asked for as many chunks ahead as there are slots, less one, and takes the
  latency of memory to come.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import product
from math import log
from typing import NamedTuple

from tilewright.dialects.kernel_like import MAX_CLUSTER
from tilewright.dialects.target import L2_BYTES, Target
from tilewright.dialects.tile import Join
from tilewright.passes.tile import latencies
from tilewright.passes.tile.contraction import Contraction


class Tile(NamedTuple):
    """What a block and a thread of it own of the output."""

    m: int
    n: int
    fm: int
    """Rows of a thread."""
    fn: int
    """Columns of a thread."""
    registers: int
    """Registers of a thread, so that nothing is spilled."""
    share: float
    """The share of issue slots that multiply-adds get in the main loop, by its machine code."""
    chunk: int = 32
    """Steps of K of the longest chunk that needs no more registers."""

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return (self.m // self.fm) * (self.n // self.fn)

    @property
    def share_alone(self) -> float:
        """
        The share of its issue slots that a warp's multiply-adds get while it has them to itself:
        that depends on what a thread owns, and not on how many threads share a slab.
        """
        return _SHARES_ALONE.get(self.fm * self.fn, self.share)


TILES = (
    Tile(128, 128, 8, 8, 128, 0.90, chunk=16),
    Tile(128, 64, 8, 4, 96, 0.85),
    Tile(64, 128, 4, 8, 96, 0.85),
    Tile(64, 64, 8, 4, 96, 0.85),
    Tile(64, 64, 4, 4, 64, 0.78),
    Tile(32, 128, 4, 8, 96, 0.82),
    Tile(128, 32, 8, 4, 96, 0.82),
    Tile(32, 64, 4, 4, 64, 0.75),
    Tile(64, 32, 4, 4, 64, 0.75),
    Tile(32, 32, 2, 4, 64, 0.65),
    Tile(16, 128, 2, 8, 64, 0.70),
    Tile(128, 16, 4, 4, 64, 0.70),
    Tile(16, 64, 2, 4, 64, 0.60),
    Tile(64, 16, 2, 4, 64, 0.60),
    Tile(16, 32, 2, 4, 64, 0.50),
    Tile(32, 16, 4, 2, 64, 0.50),
    Tile(8, 128, 1, 8, 64, 0.55),
    Tile(128, 8, 8, 1, 64, 0.55),
    Tile(4, 128, 1, 4, 64, 0.45),
    Tile(1, 128, 1, 1, 40, 0.25),
    Tile(128, 1, 1, 1, 40, 0.25),
)
"""
The shares of the larger ones were read off their SASS for sm_90a; with fewer elements a thread
there are more loads of shared memory for each multiply-add.
"""

_SHARES_ALONE = {
    elements: max(tile.share for tile in TILES if tile.fm * tile.fn == elements)
    for elements in sorted({tile.fm * tile.fn for tile in TILES})
}
"""By the elements of a thread."""

_SMALL = Tile(16, 16, 2, 4, 64, 0.42)
"""For products that have many of them: each a block of one warp."""

_SMALLEST = Tile(16, 16, 2, 1, 40, 0.40)
"""For what is smaller than any of them, or joins more sums than a thread has registers for."""

CHUNKS = (8, 16, 32)
"""Steps of K that are staged together."""

SPLITS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
"""Blocks that share the steps of K."""

_LONG_CHUNK_REGISTERS = 40
"""What NVRTC takes beside, where it is left to itself, to load ahead in a long chunk."""

DEPTHS = (2, 3, 4, 5)
"""Slots of a ring."""

SHORTEST_SPLIT = 128
"""Steps of K that a block has at least, if K is split: joining takes as long as a few of them."""

_CHUNK_CLOCKS = 40
"""What a chunk costs beside its multiply-adds: a barrier, addresses, the first loads."""

_WARPS_TO_HIDE = 8
"""Warps of an SM with which loads of shared memory are hidden behind multiply-adds."""


class Tiling(NamedTuple):
    """The joint decision for a contraction."""

    tile: Tile
    bk: int
    split: int
    depth: int

    def __str__(self) -> str:
        tile = self.tile
        return (
            f"tile {tile.m}x{tile.n}, {tile.fm}x{tile.fn} a thread; bk {self.bk}, "
            f"split {self.split}, {self.depth} slots"
        )

    def fits(self, problem: Contraction, target: Target) -> bool:
        """Whether a block with it can run."""
        shared = self.shared_bytes(problem, target)
        return target.blocks_per_sm(self.tile.threads, shared, self.registers(problem)) > 0

    def registers(self, problem: Contraction) -> int:
        """Registers of a thread: each sum that an element joins has accumulators of its own."""
        more = _LONG_CHUNK_REGISTERS if self.bk > self.tile.chunk else 0
        return (self.tile.registers + more) * problem.sums

    def shared_bytes(self, problem: Contraction, target: Target) -> int:
        """Shared memory of a block: the sums that blocks join lie where the slabs have lain."""
        ring = self.depth * self.slab_bytes(problem)
        return max(ring, self.joined_bytes(problem, target))

    def slab_bytes(self, problem: Contraction) -> int:
        """Bytes of one slot of all slabs."""
        return self.bk * (self.tile.m * problem.m_bytes + self.tile.n * problem.n_bytes)

    def joined_bytes(self, problem: Contraction, target: Target) -> int:
        """Shared memory in which blocks of a cluster leave their sums for each other."""
        if self.split == 1 or self.join(target) is not Join.CLUSTER:
            return 0
        return 4 * problem.sums * self.tile.m * self.tile.n

    def join(self, target: Target) -> Join:
        """How the blocks that share the steps of K join their sums."""
        in_cluster = target.has_clusters and self.split <= MAX_CLUSTER
        return Join.CLUSTER if in_cluster else Join.LAST_BLOCK

    def blocks(self, problem: Contraction) -> int:
        """Blocks of the grid."""
        tiles = -(-problem.m // self.tile.m) * -(-problem.n // self.tile.n)
        return problem.batch * tiles * self.split

    def chunks(self, problem: Contraction) -> int:
        """Chunks of K that a block does."""
        return -(-problem.k // (self.split * self.bk))

    def seconds(self, problem: Contraction, target: Target) -> float:
        """How long it takes, by the model above."""
        most = -(-self.blocks(problem) // target.sms)
        shared = self.shared_bytes(problem, target)
        room = target.blocks_per_sm(self.tile.threads, shared, self.registers(problem))
        resident = max(1, min(most, room))
        warps = resident * target.warps_of(self.tile.threads)
        rounds = -(-most // resident) * self.chunks(problem)
        waiting = rounds * latencies.MEMORY / (self.depth - 1)
        share = min(self.tile.share, self.tile.share_alone * warps / _WARPS_TO_HIDE)
        return self._seconds(problem, target, share, waiting)

    def least_seconds(self, problem: Contraction, target: Target) -> float:
        """How long it takes at least, however many slots and blocks an SM has."""
        return self._seconds(problem, target, self.tile.share, 0.0)

    def pipeline(self, problem: Contraction, target: Target) -> list[str]:
        """The passes that do it."""
        of_block = self.tile
        registers = of_block.threads * self.registers(problem)
        most = target.blocks_per_sm(of_block.threads, shared=0, registers=1)
        min_blocks = min(max(1, target.registers_per_sm // registers), most)
        steps = [f"chunk-matmul-k{{bk={self.bk}}}"]
        if self.split > 1:
            join = self.join(target)
            steps.append(f"split-matmul-k{{factor={self.split} join={join.value}}}")
        return [
            *steps,
            f"blockify-launch{{m={of_block.m} n={of_block.n}}}",
            "cooperative-reduce",
            "stage-inputs",
            f"register-tile{{fm={of_block.fm} fn={of_block.fn} min_blocks={min_blocks}}}",
            "permute-register-tile",
            f"double-buffer{{depth={self.depth}}}",
            "tma-copy",
            "split-inner-for-swizzle",
            "async-copy",
            "pad-smem",
            f"pipeline-k-outer{{lookahead={self.depth - 1}}}",
            "mark-unroll",
        ]

    def _seconds(self, problem: Contraction, target: Target, share: float, waiting: float) -> float:
        """The same, where multiply-adds get that share of the issue slots."""
        tile, chunks = self.tile, self.chunks(problem)
        most = -(-self.blocks(problem) // target.sms)
        lanes = target.fp32_lanes * share
        clocks = tile.m * tile.n * self.bk * problem.sums / lanes + _CHUNK_CLOCKS
        busy = max(
            most * chunks * clocks / target.clock,
            most * chunks * self.slab_bytes(problem) / L2_BYTES / target.clock,
            _bytes(problem) / target.bandwidth,
            waiting,
        )
        return busy + latencies.MEMORY + self._joining(problem, target)

    def _joining(self, problem: Contraction, target: Target) -> float:
        if self.split == 1:
            return 0.0
        moved = 2 * 4 * problem.sums * self.tile.m * self.tile.n / L2_BYTES / target.clock
        join = self.join(target)
        read = moved if join is Join.CLUSTER else moved * self.split
        return latencies.JOIN[join] + read


def _bytes(problem: Contraction) -> int:
    """Bytes of the operands and of the result, each once."""
    per_batch = problem.k * (problem.m * problem.m_bytes + problem.n * problem.n_bytes)
    return problem.batch * (per_batch + 4 * problem.m * problem.n)


def tilings(problem: Contraction, target: Target) -> Sequence[Tiling]:
    """
    What can be, the fastest first. If the work can be dealt out to all SMs, it is: a tiling that
    leaves some idle is considered only where all do.
    """
    possible = [t for t in _combinations(problem, _tiles(problem)) if t.fits(problem, target)]
    # what registers are needed is an estimate: of many sums, that of two elements each is kept
    possible = possible or [*_combinations(problem, [_SMALLEST])]
    busy = [t for t in possible if t.blocks(problem) >= target.sms]
    return sorted(busy or possible, key=lambda t: _preference(t, problem, target))


@lru_cache  # the same products come again in every layer of a model
def fastest_tiling(problem: Contraction, target: Target) -> Tiling:
    """
    The first of `tilings`. A few of a thousand have to be looked at: once the least that one takes
    is more than what another does, so do all after it.
    """
    shallow = [*_shallow(problem, _tiles(problem))]
    busy = [tiling for tiling in shallow if tiling.blocks(problem) >= target.sms]
    for considered in (busy, shallow):
        if (best := _fastest(considered, problem, target)) is not None:
            return best
    return tilings(problem, target)[0]


def _fastest(shallow: Sequence[Tiling], problem: Contraction, target: Target) -> Tiling | None:
    """The best that fits, with as many slots as it likes; of equals the first."""
    least = [(t.least_seconds(problem, target), at, t) for at, t in enumerate(shallow)]
    best: tuple[tuple[float, ...], Tiling] | None = None
    for seconds, at, tiling in sorted(least):
        if best is not None and _about(seconds) > best[0][0]:
            break
        for deep in (t for t in _deepened(tiling, problem) if t.fits(problem, target)):
            found = (*_preference(deep, problem, target), at, deep.depth), deep
            best = found if best is None else min(best, found)
    return None if best is None else best[1]


def _about(seconds: float) -> int:
    """The same for what is within 2 % of each other."""
    return round(log(seconds) / 0.02)


def _preference(tiling: Tiling, problem: Contraction, target: Target) -> tuple[float, ...]:
    """
    Of those that take about as long: no idle SM, few splits, three slots, chunks of 16, large
    tiles.
    """
    about = _about(tiling.seconds(problem, target))
    idle = max(0, target.sms - tiling.blocks(problem))
    unusual = abs(tiling.depth - 3) + abs(tiling.bk - 16) // 8
    return about, idle, tiling.split, unusual, -tiling.tile.m * tiling.tile.n, -tiling.tile.n


def _tiles(problem: Contraction) -> list[Tile]:
    suitable = [tile for tile in TILES if _suits(tile, problem)]
    if suitable and _suits(_SMALL, problem):
        suitable.append(_SMALL)
    return suitable or [_SMALLEST]


def _combinations(problem: Contraction, tiles: Sequence[Tile]) -> Iterator[Tiling]:
    for tiling in _shallow(problem, tiles):
        yield from _deepened(tiling, problem)


def _shallow(problem: Contraction, tiles: Sequence[Tile]) -> Iterator[Tiling]:
    """With the fewest slots."""
    splits = [s for s in SPLITS if s == 1 or problem.k // s >= SHORTEST_SPLIT]
    chunks = [bk for bk in CHUNKS if bk <= problem.k] or [problem.k]
    for of_block, bk, split in product(tiles, chunks, splits):
        yield Tiling(of_block, bk, split, DEPTHS[0])


def _deepened(tiling: Tiling, problem: Contraction) -> Iterator[Tiling]:
    """With each number of slots that is filled a few times."""
    yield tiling
    for depth in DEPTHS[1:]:
        if tiling.chunks(problem) >= 2 * depth:
            yield tiling._replace(depth=depth)


def _suits(tile: Tile, problem: Contraction) -> bool:
    """Whether half of the tile would not cover as much, and it is no splinter of the problem."""
    sides = ((tile.m, problem.m), (tile.n, problem.n))
    return all(min(size, 16) <= of_tile < 2 * size for of_tile, size in sides)
