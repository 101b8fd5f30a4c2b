# SPDX-License-Identifier: Apache-2.0
"""
Tilings of attention among blocks: what a block needs, and a model of its time:

    seconds = max(arithmetic, L2, device memory, waiting) + first answer + joining the splits

* arithmetic: clocks of the SM with the most blocks, for the scores, the weights, and the product of
  weights and values. The clocks are those of the busiest unit. If an SM has too few warps to hide
  latency, each warp has the rate of a warp alone;
* L2: bytes of keys and values that blocks stage, rereads by other blocks included;
* device memory: all operands and the result once, at the bandwidth;
* waiting: latency of memory for each chunk of keys, divided by the number of chunks that are
  requested ahead. With one slot it is added to the arithmetic, divided by the blocks of an SM.

Long queries and keys are staged in slices: each chunk of keys stages both again, a slice after the
other, and then some of its values after others. The latency of the first slices of each chunk is
not hidden.

A block owns `m` rows and all columns, and does `bk` keys in a step. Threads along a row have keys
when they compute scores, and columns when they multiply (`share-scores`).
"""

from typing import NamedTuple

from xdsl.dialects.builtin import f32

from tilewright.dialects.matrix_instruction import LANES_M, LANES_N
from tilewright.dialects.target import L2_BYTES, SCHEDULERS, WARP_SIZE, Target
from tilewright.dialects.tile import Join
from tilewright.dialects.types import size_of
from tilewright.passes.cost import time_models
from tilewright.passes.cost.banks import BANK_BYTES, BANKS
from tilewright.passes.cost.matrix_clocks import WarpTile, matrix_clocks
from tilewright.passes.tile.planner.attention import Attention

_REGISTERS_BESIDE = 56
"""Registers of a thread beside its sums and weights: addresses, statistics, operands."""

_LATENCY = {Join.CLUSTER: 0.1e-6, Join.LAST_BLOCK: 0.35e-6}
"""
Seconds to load the sums of another block of a cluster, or from the L2 cache. The machine code for
sm_90a loads those of one block after another.
"""

_WARPS_TO_HIDE, _FEW_WARPS_TO_HIDE = 8, 6
"""
Warps of an SM that suffice to hide latencies behind arithmetic, and behind matrix instructions on
halves.
"""

_WEIGHT, _ROW, _CHUNK = 10, 50, 100
"""
Instructions beside multiply-adds: to scale, mask, compare and add a weight; for the statistics of a
row; and for a chunk. They are counted in the machine code for sm_90a.
"""

_SLICE, _SLICE_BESIDE_OTHERS = 700, 525
"""
Clocks of a slice beside its products, for its barrier and the first loads from shared memory: of a
block alone on its SM, and of blocks that hide some of them. They were fitted to the clock of the
machine code for 1024 elements of float16, with 64 and with 1024 columns.
"""

_PAD = 16
"""Bytes of the pad of a row."""

_WIDENINGS = 4
"""Instructions to widen four loaded elements of a half type."""

_WAVEFRONTS = 3
"""Wavefronts of a load of four floats, some of which threads of a warp share (`LDS.128`)."""


class AttentionTiling(NamedTuple):
    """Joint decision for attention: rows and columns of a block, keys of a chunk, and slots."""

    m: int
    n: int
    bk: int
    fm: int
    """Rows of a thread."""
    fn: int
    """Columns of a thread in each group of as many columns as a row has threads with `fn` each."""
    depth: int
    """Slots of the slabs of keys and values; 1 if they are not requested ahead."""
    is_matrix: bool
    """True if matrix instructions multiply."""
    split: int = 1
    """Blocks that share the keys of a row, as few rows need (Dao et al., Flash-Decoding, 2023)."""
    join: Join = Join.LAST_BLOCK
    """Join of the blocks that share keys; unused if `split` is 1."""
    slice: int = 0
    """Elements of queries and keys that are staged at once; 0 for the whole depth."""
    values: int = 0
    """Keys whose values are staged at once; 0 for all keys of a chunk."""

    def __str__(self) -> str:
        slots = f"{self.depth} slot{'s' * (self.depth > 1)}"
        split = f", split {self.split} by {self.join.value}" if self.split > 1 else ""
        slices = f" in slices of {self.slice}, values of {self.values}" if self.slice else ""
        return f"rows {self.m}, {self.fm}x{self.fn} a thread; bk {self.bk}{slices}{split}, {slots}"

    @property
    def side(self) -> int:
        """Keys, and columns, that the threads of a row have at once."""
        return min(self.n, self.bk)

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return (self.m // self.fm) * (self.side // self.fn)

    @property
    def scores(self) -> int:
        """Scores of a thread in a chunk."""
        return self.fm * self.fn * (self.bk // self.side)

    @property
    def elements(self) -> int:
        """Elements of a thread."""
        return self.fm * self.fn * (self.n // self.side)

    def registers(self) -> int:
        """Return the registers of a thread: its sums, and scores and weights for a moment."""
        weights = self.scores * 3 // 2 if self.is_matrix else 2 * self.scores
        return _REGISTERS_BESIDE + self.elements + weights

    def shared_bytes(self, problem: Attention) -> int:
        """
        Return the bytes of shared memory of a block, with a pad of 16 bytes for each row of a slab.
        """
        depth = self.slice or self._depth(problem)
        score = problem.score_element * depth + _PAD if problem.depth else 0
        value, weights = problem.element * self.n + _PAD, problem.weight * self.bk + _PAD
        queries = self.m * score * (self.depth if self.slice else 1)
        values = (self.values or self.bk) * value * (1 if self.values == self.bk else self.depth)
        joined = self._joined_bytes(problem) if self.cluster > 1 else 0
        slabs = queries + self.depth * self.bk * score + values + self.m * weights
        return slabs + self._combined_bytes + joined

    @property
    def _combined_bytes(self) -> int:
        """Bytes through which the warps that share a row combine its maximum and its sum."""
        is_shared = self.is_matrix and self._warps_along > 1
        return 2 * size_of(f32) * self.fm * (self.threads // LANES_N) if is_shared else 0

    def _depth(self, problem: Attention) -> int:
        """Return the steps of the product that computes a score, as slabs have them."""
        return -(-problem.depth // self._steps(problem)) * self._steps(problem)

    def _steps(self, problem: Attention) -> int:
        """Return the steps that are done at once."""
        if not self.is_matrix:
            return 1
        assert problem.instruction is not None
        return problem.instruction.fragments.k

    def _joined_bytes(self, problem: Attention) -> int:
        """
        Return the bytes that a block leaves for others: the sums of each row, and both statistics.
        """
        return max(size_of(f32), problem.element) * self.m * (self.n + 2)

    @property
    def cluster(self) -> int:
        """Blocks of a cluster."""
        return self.join.cluster(self.split)

    def _holds_weights(self, problem: Attention) -> bool:
        """True if lanes hold the weights as fragments of A (`held_fragments.py`)."""
        return self.is_matrix and problem.weight == 2 and self._warps_along == 1

    @property
    def _warps_along(self) -> int:
        """Warps of a matrix tiling that share the keys and the columns of their rows."""
        return self.side // self.fn // LANES_N

    def fits(self, problem: Attention, target: Target) -> bool:
        """True if a block with this tiling can run on the target, and fills all slots."""
        chunks = -(-problem.keys // (self.bk * self.split))
        if not self.slice and self.depth > max(1, chunks):
            return False  # some slots would never be filled
        return target.blocks_per_sm(self.threads, self.shared_bytes(problem), self.registers()) > 0

    def seconds(self, problem: Attention, target: Target) -> float:
        """
        Return the seconds that attention takes, by the model in the docstring of this module.
        """
        shared = self.shared_bytes(problem)
        room = max(1, target.blocks_per_sm(self.threads, shared, self.registers()))
        blocks = problem.batch * -(-problem.m // self.m) * -(-problem.n // self.n) * self.split
        most = target.turns(blocks, room, self.cluster)
        resident = min(most, room)
        warps = resident * target.warps_of(self.threads)
        chunks = self._chunks(problem)
        clocks = most * chunks * self._chunk_clocks(problem, target)
        staged = most * chunks * self._staged_bytes(problem)
        rounds = -(-most // resident) * chunks
        enough = _FEW_WARPS_TO_HIDE if self._holds_weights(problem) else _WARPS_TO_HIDE
        arithmetic = clocks / min(1.0, warps / enough) / target.clock
        waiting = rounds * time_models.MEMORY
        if self.slice:  # each chunk fills the slots of both products anew
            arithmetic += 2 * waiting / resident
            arithmetic += rounds * self._exposed_clocks(problem, resident) / target.clock
            waiting *= self._fills(problem)
        if self.depth == 1:  # nothing is requested ahead: only other blocks compute meanwhile
            arithmetic += waiting / resident
        return (
            time_models.MEMORY
            + self._joining(problem, target)
            + max(
                arithmetic,
                staged / L2_BYTES / target.clock,
                _bytes(problem) / target.bandwidth,
                waiting / max(self.depth - 1, 1),
            )
        )

    def _joining(self, problem: Attention, target: Target) -> float:
        """Return the seconds to join the splits: a thread loads the sums of one after another."""
        if self.split == 1:
            return 0.0
        of_each = _LATENCY[self.join] + self._joined_bytes(problem) / L2_BYTES / target.clock
        return time_models.JOIN[self.join] + self.split * of_each

    def _staged_bytes(self, problem: Attention) -> int:
        """Return the bytes of keys and values in a chunk, and of queries that are read again."""
        rows = self.bk + (self.m if self.slice else 0)
        return rows * problem.depth * problem.score_element + self.bk * self.n * problem.element

    def _fills(self, problem: Attention) -> int:
        """Return the slices that are staged one after the other in a chunk of keys."""
        return -(-problem.depth // self.slice) + -(-self.bk // self.values)

    def _exposed_clocks(self, problem: Attention, resident: int) -> float:
        """
        Return the clocks of a chunk's slices that no arithmetic hides, if `resident` blocks share
        an SM. Values that are a single slice are not requested ahead.
        """
        slices = self._fills(problem) * (_SLICE if resident == 1 else _SLICE_BESIDE_OTHERS)
        if self.values < self.bk:
            return slices
        return slices + self.bk * self.n * problem.element / L2_BYTES

    def _chunks(self, problem: Attention) -> float:
        """Return the chunks of keys that a block does, on average if a diagonal ends them."""
        every = -(-problem.keys // (self.bk * self.split))
        if not problem.is_partial:
            return every
        return min(every, (every + self.m / self.bk / self.split + 1) / 2)

    def _chunk_clocks(self, problem: Attention, target: Target) -> float:
        """Return the clocks that a chunk of a block takes the busiest unit of an SM."""
        warps = self.threads / WARP_SIZE
        beside = self.scores * _WEIGHT + self.fm * _ROW + self.elements + _CHUNK
        if self.is_matrix:
            return self._matrix_clocks(problem, target, beside)
        depth, keys, columns = problem.depth, self.bk // self.side, self.n // self.side
        multiplied = self.scores * depth + self.elements * self.bk
        wide = -(-self.fn // 4)
        loads = depth // 4 * (self.fm + self.fn * keys) + self.bk // 4 * self.fm
        loads += self.bk * columns * wide
        widened = _WIDENINGS * loads if problem.element < size_of(f32) else 0
        issued = (multiplied + loads + widened + beside) / SCHEDULERS
        return max(warps * issued, warps * loads * _WAVEFRONTS + self._filling(problem))

    def _filling(self, problem: Attention) -> float:
        """Return the wavefronts that write a chunk of keys and values to shared memory."""
        return self._staged_bytes(problem) / (BANKS * BANK_BYTES)

    def _matrix_clocks(self, problem: Attention, target: Target, beside: int) -> float:
        """Return the clocks of a chunk whose products matrix instructions add."""
        assert problem.instruction is not None
        rows, warps, along = self.fm * LANES_M, self.threads // WARP_SIZE, self._warps_along
        products = [(self.bk // along, self._depth(problem)), (self.n // along, self.bk)]
        found = [
            matrix_clocks(WarpTile(rows, n, k, problem.instruction), SCHEDULERS, target)
            for n, k in products
        ]
        busy = [sum(unit) for unit in zip(*found, strict=True)]
        tensor, shared, issue, float32 = busy
        turns = warps / SCHEDULERS
        reading = turns * shared + self._filling(problem)
        return max(reading, turns * max(tensor, issue + beside, float32))

    def pipeline(self, problem: Attention, target: Target) -> list[str]:
        """Return the steps that carry out the tiling, each as the text of a pipeline step."""
        of_block = self.threads * self.registers()
        most = target.blocks_per_sm(self.threads, shared=0, registers=1)
        min_blocks = min(max(1, target.registers_per_sm // of_block), most)
        fk = " fk=1" if self.is_matrix else ""
        ring = [
            f"double-buffer{{depth={self.depth}}}",
            "async-copy",
            "pad-smem",
            f"pipeline-k-outer{{lookahead={self.depth - 1}}}",
        ]
        rounded = self._depth(problem)
        depth = f" depth={self._steps(problem)}" if rounded != problem.depth else ""
        if self.slice:
            depth = f" slice={self.slice}"
        values = f"{{slice={self.values}}}" if self.values else ""
        split = f"split-matmul-k{{factor={self.split} join={self.join.value}}}"
        return [
            f"chunk-matmul-k{{bk={self.bk}{depth}}}",
            *([split] if self.split > 1 else []),
            f"blockify-launch{{m={self.m} n={self.n}}}",
            f"share-scores{values}",
            "stage-inputs",
            f"register-tile{{fm={self.fm} fn={self.fn}{fk} min_blocks={min_blocks}}}",
            *(["tensor-core"] if self.is_matrix else []),
            "permute-register-tile",
            *(ring if self.depth > 1 else ["pad-smem"]),
            "mark-unroll",
        ]


def _bytes(problem: Attention) -> int:
    """Return the bytes of the operands and of the result, each once."""
    row = problem.depth + problem.n
    return problem.batch * problem.element * row * (problem.m + problem.keys)
