# SPDX-License-Identifier: Apache-2.0
"""
Tiling of a contraction among blocks: what a block needs, and a model of its time:

    seconds = max(arithmetic, L2, device memory, waiting) + first answer + joining the splits

* arithmetic: multiply-adds of the SM with the most blocks, at the issue rate of the tile. If it has
  too few warps to hide latency, each warp has the rate of a warp alone. Each chunk adds a constant.
  Blocks whose result is not used make room for others at once, but the first blocks of an SM may
  all be needed. Clusters leave SMs idle (`Target.room`). Matrix instructions take the clocks of
  tensor cores or those of shared memory, whichever are more;
* L2: bytes that blocks stage, rereads by other blocks included;
* device memory: what concurrent blocks read (`block_order.py`), the result once, and sums that
  `last_block` leaves for other blocks, if they exceed L2, at the bandwidth;
* waiting: latency of memory for each chunk, divided by the number of chunks that are requested
  ahead, which is one less than the slots.
"""

from collections.abc import Mapping
from typing import NamedTuple

from tilewright.dialects.axes import Role
from tilewright.dialects.matrix_instruction import LANES_M, LANES_N, MatrixInstruction
from tilewright.dialects.target import L2_BYTES, SCHEDULERS, WARP_SIZE, Target
from tilewright.dialects.tile import Join
from tilewright.passes.cost import time_models
from tilewright.passes.cost.banks import BANK_BYTES, BANKS
from tilewright.passes.cost.matrix_clocks import WarpTile, matrix_clocks
from tilewright.passes.tile.planner.block_order import BlockOrder, kept_bytes
from tilewright.passes.tile.planner.block_tiles import BlockTile
from tilewright.passes.tile.planner.contraction import Contraction

_REGISTERS_BESIDE = 48
"""Registers of a thread beside its sums and the operands of a step: addresses, the next loads."""

_CHUNK_CLOCKS = 100
"""Clocks of a chunk beside its multiply-adds: a barrier, addresses, the first loads."""

_SCATTERED = 1.2
"""
Clocks of a chunk that threads copy 4 bytes at a time, for each clock of one that TMA copies: by the
clock of kernels, a 3 x 3 convolution of 16x64x128x128 takes 208 us so, and 170 us by TMA.
"""

_WARPS_TO_HIDE = 8
"""Warps of an SM that suffice to hide loads of shared memory behind multiply-adds."""


class Tiling(NamedTuple):
    """Joint decision for a contraction: tile, chunk, split, slots, join and order of blocks."""

    tile: BlockTile
    bk: int
    split: int
    depth: int
    join: Join = Join.LAST_BLOCK
    """Join of the blocks that split the steps of K; unused if `split` is 1."""
    raster: int = 1
    """Number of rows of blocks in a group; blocks run group by group."""

    def __str__(self) -> str:
        tile = self.tile
        join = f" by {self.join.value}" if self.split > 1 else ""
        order = f", blocks in groups of {self.raster} rows" if self.raster > 1 else ""
        return (
            f"tile {tile.m}x{tile.n}, {tile.fm}x{tile.fn} a thread; bk {self.bk}, "
            f"split {self.split}{join}, {self.depth} slots{order}"
        )

    @property
    def elements(self) -> int:
        """Elements of a thread."""
        return self.tile.fm * self.tile.fn

    def sides(self) -> Mapping[Role, int]:
        """Return the rows and columns of a thread."""
        return {Role.M: self.tile.fm, Role.N: self.tile.fn}

    def fits(self, problem: Contraction, target: Target) -> bool:
        """True if a block with this tiling can run on the target."""
        shared = self.shared_bytes(problem)
        registers = max(self.registers(problem), self.joined_registers(problem))
        return target.blocks_per_sm(self.tile.threads, shared, registers) > 0

    def registers(self, problem: Contraction) -> int:
        """Return the registers of a thread; each sum of an element has accumulators of its own."""
        if problem.sums == 1:
            return self.tile.registers
        sums = problem.sums * self.tile.fm * self.tile.fn
        needed = _REGISTERS_BESIDE + sums + self.operands(problem)
        return max(self.tile.registers, needed)

    def operands(self, problem: Contraction) -> int:
        """
        Return the elements that a thread reads from shared memory in a step of K, for all operands.
        """
        return self.tile.fm * problem.m_operands + self.tile.fn * problem.n_operands

    def joined_registers(self, problem: Contraction) -> int:
        """
        Return the registers of a thread for its own sums and those of another block that it joins;
        0 without a split.
        """
        return 0 if self.split == 1 else 2 * problem.sums * self.tile.fm * self.tile.fn

    def shared_bytes(self, problem: Contraction) -> int:
        """
        Return the bytes of shared memory of a block; sums that blocks join reuse the memory of the
        slabs.
        """
        ring = self.depth * self.slab_bytes(problem)
        return max(ring, self.joined_bytes(problem))

    def slab_bytes(self, problem: Contraction) -> int:
        """Return the bytes of one slot of all slabs."""
        return self.bk * (self.tile.m * problem.m_bytes + self.tile.n * problem.n_bytes)

    def joined_bytes(self, problem: Contraction) -> int:
        """
        Return the bytes of shared memory in which the blocks of a cluster leave their sums for each
        other.
        """
        if self.cluster == 1:
            return 0
        return self._sum_bytes(problem)

    @property
    def cluster(self) -> int:
        """Blocks of a cluster."""
        return self.join.cluster(self.split)

    def blocks(self, problem: Contraction) -> int:
        """Return the number of blocks of the grid."""
        tiles = problem.rows_of_blocks(self.tile.m) * -(-problem.n // self.tile.n)
        return problem.batch * tiles * self.split

    def needed_blocks(self, problem: Contraction) -> int:
        """Return the number of blocks that do at least one multiply-add."""
        return problem.needed_block_tiles(self.tile.m, self.tile.n) * self.split

    def chunks(self, problem: Contraction) -> int:
        """Return the chunks of K that a block does."""
        return -(-problem.k // (self.split * self.bk))

    def seconds(self, problem: Contraction, target: Target) -> float:
        """
        Return the seconds that the contraction takes, by the model in the docstring of this module.
        """
        room = self._room(problem, target)
        at_first = min(
            room, target.turns(self.blocks(problem), room, self.cluster)
        )  # needed or not
        most = max(at_first, target.turns(self.needed_blocks(problem), room, self.cluster))
        resident = min(most, room)
        warps = resident * target.warps_of(self.tile.threads)
        rounds = -(-most // resident) * self.chunks(problem)
        waiting = rounds * time_models.MEMORY / (self.depth - 1)
        together, alone = (
            self._issue_rate(problem, s) for s in (self.tile.issue_rate, self.tile.issue_rate_alone)
        )
        issue_rate = min(together, alone * warps / _WARPS_TO_HIDE)
        read = self._read_bytes(problem, target)
        return self._seconds(problem, target, most, issue_rate, waiting, read)

    def least_seconds(self, problem: Contraction, target: Target) -> float:
        """
        Return a lower bound of `seconds` for this tile, chunk and split, whatever the number of
        slots and of blocks on an SM.
        """
        most = -(-self.needed_blocks(problem) // target.sms)
        issue_rate = self._issue_rate(problem, self.tile.issue_rate)
        return self._seconds(problem, target, most, issue_rate, 0.0, problem.operand_bytes)

    def best_raster(self, problem: Contraction, target: Target) -> int:
        """Return the rows of blocks in a group with which blocks read the fewest bytes."""
        if problem.operand_bytes <= problem.batch * kept_bytes(target):
            return 1
        return self._order(problem, target).best_raster(target)

    def pipeline(self, problem: Contraction, target: Target) -> list[str]:
        """Return the steps that carry out the tiling, each as the text of a pipeline step."""
        of_block = self.tile
        registers = of_block.threads * self.registers(problem)
        most = target.blocks_per_sm(of_block.threads, shared=0, registers=1)
        min_blocks = min(max(1, target.registers_per_sm // registers), most)
        fk = " fk=1" if of_block.is_matrix else ""
        raster = f" raster={self.raster}" if self.raster > 1 else ""
        positions = None if problem.boxes is None else problem.boxes.width_for(of_block.m)
        width = "" if positions is None else f" width={positions}"
        steps = [f"chunk-matmul-k{{bk={self.bk}}}"]
        if self.split > 1:
            steps.append(f"split-matmul-k{{factor={self.split} join={self.join.value}}}")
        return [
            *steps,
            f"blockify-launch{{m={of_block.m} n={of_block.n}{raster}{width}}}",
            "cooperative-reduce",
            "stage-inputs",
            f"register-tile{{fm={of_block.fm} fn={of_block.fn}{fk} min_blocks={min_blocks}}}",
            # A masked product gets the step for its remark.
            *(["tensor-core"] if of_block.is_matrix or problem.is_masked else []),
            "permute-register-tile",  # if matrix instructions cannot do the product after all
            f"double-buffer{{depth={self.depth}}}",
            "tma-copy",
            "split-inner-for-swizzle",
            "async-copy",
            "pad-smem",
            f"pipeline-k-outer{{lookahead={self.depth - 1}}}",
            "mark-unroll",
        ]

    def _issue_rate(self, problem: Contraction, of_one_sum: float) -> float:
        """
        Return the fraction of issue slots that multiply-adds get, given the fraction for one sum.
        An operand that sums share is loaded once for all of them; all other instructions count as
        loads. Loads of a matrix tile are counted apart.
        """
        if self.tile.is_matrix:
            return of_one_sum
        loads = self.operands(problem) / (problem.sums * (self.tile.fm + self.tile.fn))
        return 1 / (1 + (1 / of_one_sum - 1) * loads)

    def _seconds(
        self,
        problem: Contraction,
        target: Target,
        most: int,
        issue_rate: float,
        waiting: float,
        read: float,
    ) -> float:
        """
        Return the seconds if an SM does at most `most` blocks, multiply-adds get `issue_rate` of
        the issue slots, and `read` bytes of operands come from device memory.
        """
        chunks = self.chunks(problem)
        clocks = self._arithmetic(problem, target) / issue_rate + _CHUNK_CLOCKS
        if problem.is_scattered(self.tile.m):
            clocks *= _SCATTERED
        moved = read + problem.result_bytes + self._spilled_bytes(problem, target)
        busy = max(
            most * chunks * clocks / target.clock,
            most * chunks * self.slab_bytes(problem) / L2_BYTES / target.clock,
            moved / target.bandwidth,
            waiting,
        )
        return busy + time_models.MEMORY + self._joining(problem, target, most)

    def _arithmetic(self, problem: Contraction, target: Target) -> float:
        """Return the clocks that the multiply-adds of a chunk take an SM at least."""
        if not self.tile.is_matrix:
            return self.tile.m * self.tile.n * self.bk * problem.sums / target.ffma_lanes
        of_warp = WarpTile(
            self.tile.fm * LANES_M, self.tile.fn * LANES_N, self.bk, self._instruction(problem)
        )
        clocks = matrix_clocks(of_warp, SCHEDULERS, target)  # of as many warps as work at once
        filling = self.slab_bytes(problem) / (BANKS * BANK_BYTES)
        turns = self.tile.threads / WARP_SIZE / SCHEDULERS
        reading = turns * clocks.shared * self.operands(problem) / (self.tile.fm + self.tile.fn)
        multiplying = turns * problem.sums * max(clocks.tensor, clocks.issue, clocks.float32)
        return max(multiplying, reading + filling)

    def _instruction(self, problem: Contraction) -> MatrixInstruction:
        """Return the matrix instruction of the tile."""
        instruction = problem.instruction
        assert instruction is not None
        return instruction.grouped or instruction if self.tile.is_grouped else instruction

    def _joining(self, problem: Contraction, target: Target, most: int) -> float:
        """
        Return the seconds to join the splits, if an SM does at most `most` blocks. Each block of
        `last_block` stores its sums for another to load, and the last one loads those of all.
        """
        if self.split == 1:
            return 0.0
        moved = 2 * self._sum_bytes(problem) / L2_BYTES / target.clock
        times = 1 if self.join is Join.CLUSTER else max(self.split, most)
        return time_models.JOIN[self.join] + moved * times

    def _sum_bytes(self, problem: Contraction) -> int:
        """Return the bytes of the sums of a block."""
        return 4 * problem.sums * self.tile.m * self.tile.n

    def _spilled_bytes(self, problem: Contraction, target: Target) -> int:
        """Return the bytes of sums that blocks move through device memory, as L2 is too small."""
        if self.split == 1 or self.join is Join.CLUSTER:
            return 0
        left = self.blocks(problem) * self._sum_bytes(problem)
        return 2 * left if left > target.l2_size else 0

    def _room(self, problem: Contraction, target: Target) -> int:
        """Return the number of blocks that are resident on an SM, at least 1."""
        shared, registers = self.shared_bytes(problem), self.registers(problem)
        return max(1, target.blocks_per_sm(self.tile.threads, shared, registers))

    def _read_bytes(self, problem: Contraction, target: Target) -> float:
        """Return the bytes of operands that blocks read from device memory, at least each once."""
        once = problem.operand_bytes
        if once <= problem.batch * kept_bytes(target):
            return once
        return max(once, self._order(problem, target).read_bytes(self.raster, target))

    def _order(self, problem: Contraction, target: Target) -> BlockOrder:
        """Return the blocks that run at once; blocks that join their sums run together."""
        rows, columns = problem.rows_of_blocks(self.tile.m), -(-problem.n // self.tile.n)
        room = target.room(self._room(problem, target), self.cluster)
        return BlockOrder(
            rows,
            columns,
            problem.k * problem.m * problem.m_bytes / rows,
            problem.k * problem.n * problem.n_bytes / columns,
            max(1, room // self.split),
            problem.needed_block_tiles(self.tile.m, self.tile.n),
        )
