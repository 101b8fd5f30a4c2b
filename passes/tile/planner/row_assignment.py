# SPDX-License-Identifier: Apache-2.0
"""
Assignment of threads and blocks to rows, with a model of its time:

    seconds = max(device memory, L2, instructions, waiting) + joining blocks

* device memory: bytes read and written, at the bandwidth; rereads count if L2 cannot hold the rows.
  Steps along a row with few threads on an SM reach a part of the bandwidth;
* L2: bytes that the SM with the most blocks reads and writes, rereads included;
* instructions: instructions that this SM executes, idle threads included;
* waiting: latency of memory for each group of loads, and of each join of threads. This latency
  counts once for each round of blocks on an SM.

A row that fits is kept in registers, and is read once. Threads go along a longer row in steps, once
for each loop over it.
"""

from typing import NamedTuple

from tilewright.dialects.target import L2_BYTES, WARP_SIZE, Target
from tilewright.dialects.tile import Join
from tilewright.passes.cost import time_models
from tilewright.passes.cost.row_registers import BESIDE
from tilewright.passes.tile.planner.row_problem import RowProblem
from tilewright.passes.tile.row_facts import LONG, SECTOR

AHEAD, _LEAST_AHEAD = 8, 4
"""
Elements of a thread that are in flight together if it goes along a row in steps. If accesses are
wide, at least the second number of steps is in flight.
"""

_KEPT = 2
"""
Elements of a thread that are in flight on average if it goes along a row in steps. By the clock,
1.6 to 4 of the 8 elements of a chunk are, since the compiler does not move all loads to its start.
"""

ISSUED = 128
"""Instructions of single threads that an SM issues in a clock."""

CLOCKS_APART = 2
"""Clocks from an instruction of a warp to its next."""

ACCESS = 3
"""Instructions of an access: its address, its mask and itself."""

LARGE_BLOCK = 512
"""
Threads of a block from which on its registers are limited, so that as many blocks are resident as
the model assumes. One register too many halves the blocks of 1,024 threads.
"""

_WARP_JOIN, _BLOCK_JOIN, _SLOT_JOIN = 150, 100, 4
"""Clocks to join a warp by shuffles, to meet in shared memory, and to join each slot there."""


def pieces_ahead(vector: int) -> int:
    """Return the pieces of `vector` elements that a thread loads together in steps along a row."""
    return max(_LEAST_AHEAD, AHEAD // vector)


class RowAssignment(NamedTuple):
    """Assignment of threads and blocks to rows: the joint decision for a kernel of rows."""

    threads: int
    """Threads of a block that share a row."""
    items: int
    """Pieces of a row that a thread has at once."""
    vector: int
    """Adjacent elements of a piece: elements of one row, or of as many columns."""
    rows: int = 1
    """Rows of a block; if rows are columns in memory, groups of `vector` columns."""
    split: int = 1
    """Blocks that share a row."""
    join: Join = Join.LAST_BLOCK
    """Join of these blocks."""
    columns: bool = False

    def __str__(self) -> str:
        split = f", split {self.split} ({self.join})" if self.split > 1 else ""
        if self.columns:
            wide = f" by {self.vector}" if self.vector > 1 else ""
            return f"{self.threads} threads a column, {self.rows} side by side{wide}{split}"
        several = f", {self.rows} rows a block" if self.rows > 1 else ""
        each = f"{self.elements} elements each at once, by {self.vector}"
        return f"{self.threads} threads a row, {each}{several}{split}"

    @property
    def elements(self) -> int:
        """Elements that a thread has at once."""
        return self.items * self.vector

    @property
    def covered(self) -> int:
        """Elements of a row that a block has at once, including those beyond the row's end."""
        return self.threads * (self.items if self.columns else self.elements)

    @property
    def block_rows(self) -> int:
        """Rows of a block."""
        return self.rows * self.vector if self.columns else self.rows

    @property
    def block_threads(self) -> int:
        """Threads of a block."""
        return self.threads * self.rows

    @property
    def ahead(self) -> int:
        """Steps whose elements a thread loads together."""
        return max(1, pieces_ahead(self.vector) // self.items)

    def steps(self, problem: RowProblem) -> int:
        """
        Return the steps in which a block does its part of a row; 1 if the part is in registers.
        """
        return -(-problem.length // (self.split * self.covered))

    def in_registers(self, problem: RowProblem) -> bool:
        """True if a block has its whole part of a row at once, in registers."""
        return not self.columns and self.steps(problem) == 1

    def blocks(self, problem: RowProblem) -> int:
        """Return the number of blocks of the grid."""
        return -(-problem.rows // self.block_rows) * self.split

    @property
    def cluster(self) -> int:
        """Blocks of a cluster."""
        return self.join.cluster(self.split)

    def resident(self, problem: RowProblem, target: Target) -> int:
        """Return the number of blocks that an SM has room for."""
        kept = self.elements if self.in_registers(problem) else self.ahead * self.elements
        return target.blocks_per_sm(self.block_threads, 0, BESIDE + kept)

    def min_blocks(self, problem: RowProblem, target: Target) -> int:
        """Return the blocks on an SM for which registers are limited, or 0."""
        if self.block_threads < LARGE_BLOCK or not self.in_registers(problem):
            return 0
        blocks = min(self.resident(problem, target), self.blocks(problem) // target.sms)
        return blocks if blocks > 1 else 0

    def seconds(self, problem: RowProblem, target: Target) -> float:
        """
        Return the seconds that the kernel takes, by the model in the docstring of this module.
        """
        room = self.resident(problem, target)
        most = target.turns(self.blocks(problem), room, self.cluster)
        resident = min(most, room)
        clocks = max(
            most * self._l2_bytes(problem, target) / L2_BYTES,
            most * self.block_threads * self._instructions(problem) / ISSUED,
            -(-most // resident) * self._waiting(problem, target),
        )
        bandwidth = target.bandwidth * self._reached_bandwidth(problem, target)
        memory = self._device_bytes(problem, target) / bandwidth
        busy = max(clocks / target.clock, memory)
        return busy + (problem.joins * time_models.JOIN[self.join] if self.split > 1 else 0.0)

    def _reads_once(self, problem: RowProblem, target: Target) -> bool:
        """
        True if a block reads its part of the rows from memory once. This holds for rows kept in
        registers, and for columns if half of shared memory holds them.
        """
        if not self.columns:
            return self.in_registers(problem)
        part = self.block_rows * self.steps(problem) * self.threads
        return part * problem.read <= target.shared_per_block // 2

    def _device_bytes(self, problem: RowProblem, target: Target) -> float:
        at_once = self._blocks_at_once(problem, target) / self.split * self.block_rows
        is_held = problem.length * problem.read * at_once <= target.l2_size / 2
        reads_once = is_held or self._reads_once(problem, target)
        read = problem.read if reads_once else problem.reread
        return problem.rows * problem.length * (read + problem.written)

    def _reached_bandwidth(self, problem: RowProblem, target: Target) -> float:
        """Return the share of the bandwidth that the blocks that run at a time reach."""
        if self.columns or self.in_registers(problem):
            return 1.0
        of_thread = max(_KEPT, self.elements) * problem.reread / problem.loops
        in_flight = self._blocks_at_once(problem, target) * self.block_threads * of_thread
        return time_models.reached_bandwidth(in_flight / target.sms, target)

    def _blocks_at_once(self, problem: RowProblem, target: Target) -> float:
        room = target.room(self.resident(problem, target), self.cluster)
        return min(self.blocks(problem), room)

    def _l2_bytes(self, problem: RowProblem, target: Target) -> float:
        """Return the bytes that a block reads and writes."""
        read = problem.read if self._reads_once(problem, target) else problem.reread
        wasted = max(1, SECTOR // self.block_rows) if problem.are_columns else 1
        part = min(self.steps(problem) * self.covered, problem.length)
        return self.block_rows * part * (read + problem.written) * wasted

    def _instructions(self, problem: RowProblem) -> float:
        """Return the instructions of a thread: computation, and accesses by their width."""
        accesses = 1 if self.in_registers(problem) else problem.loops
        of_element = problem.work + ACCESS * accesses / self.vector
        return self.steps(problem) * self.elements * of_element

    def _waiting(self, problem: RowProblem, target: Target) -> float:
        """
        Return the clocks that a block waits: for memory, for dependent instructions, and for joins.
        """
        asked = 1
        if not self.in_registers(problem):
            loops = 1 if self._reads_once(problem, target) else problem.loops
            asked = loops * -(-self.steps(problem) // self.ahead)
        memory = asked * time_models.MEMORY * target.clock
        alone = CLOCKS_APART * self._instructions(problem)
        return memory + alone + problem.joins * self._join_clocks()

    def _join_clocks(self) -> float:
        if self.columns:
            return _BLOCK_JOIN + _SLOT_JOIN * self.threads * self.vector
        warps = self.threads // WARP_SIZE
        return _WARP_JOIN + (_BLOCK_JOIN + _SLOT_JOIN * warps if warps > 1 else 0)

    def pipeline(self, problem: RowProblem, target: Target) -> list[str]:
        """Return the steps that carry out the assignment, each as the text of a pipeline step."""
        covered = self.threads if self.columns else self.covered
        kept = "registers" if self.in_registers(problem) else "stage"
        rows = f"rows={self.block_rows}" + " columns=true" * self.columns
        split = f" split={self.split} join={self.join.value}" if self.split > 1 else ""
        passes, unrolled = [f"cooperative-reduce{{threads={covered} {rows} row={kept}{split}}}"], ""
        if self.steps(problem) >= LONG and self.ahead > 1:
            passes.append(f"chunk-reduce{{chunk={self.ahead}}}")
            unrolled = f"{{limit={self.ahead}}}"
        if self.columns:
            passes.append("stage-inputs")
        if not self.columns or self.vector > 1:
            most = self.min_blocks(problem, target)
            limited = f" min_blocks={most}" if most else ""
            passes.append(f"register-tile{{items={self.items} vector={self.vector}{limited}}}")
        return [*passes, f"mark-unroll{unrolled}"]
