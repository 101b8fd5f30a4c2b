# SPDX-License-Identifier: Apache-2.0
"""
How threads and blocks can share rows, and how long each way takes.

A row that fits is kept in registers: it is read once, whatever is done to it. A longer one is gone
along in steps, once for each loop over it. Where there are fewer rows than SMs, several blocks may
share each. All of it is weighed by one model of time:

    seconds = max(device memory, L2, instructions, waiting) + joining blocks

* device memory: what is read and written, at the bandwidth; what is read again if L2 holds it not;
* L2: what the SM with the most blocks reads and writes, rereads included;
* instructions: what that SM executes, idle threads included;
* waiting: as many times as blocks follow each other on an SM, the latency of memory for all that is
  not asked for together, and of the joins of threads.
"""

from collections.abc import Iterator
from itertools import product
from math import log
from typing import NamedTuple

from tilewright.dialects.kernel_like import MAX_CLUSTER, MAX_THREADS
from tilewright.dialects.target import L2_BYTES, WARP_SIZE, Target
from tilewright.dialects.tile import Join
from tilewright.passes.tile import latencies
from tilewright.passes.tile.chunk_reduce import LONG
from tilewright.passes.tile.row_problem import RowProblem
from tilewright.passes.tile.rows import SECTOR

USUAL_ELEMENTS = 8
"""Elements of a row that a thread has: enough loads are under way, and warps to hide them."""

MOST_ELEMENTS = 64
"""Registers that a row may take of a thread, beside what is computed of it."""

USUAL_THREADS = 256
"""Threads of a block that does several rows."""

AHEAD, _LEAST_AHEAD = 8, 4
"""Elements of a thread that are under way together, where it goes along a row in steps; of wide
accesses, so many at least."""

_STEPPING_THREADS = (256, 512, 1024)
_COLUMN_THREADS = (4, 8, 16, 32, 64)
_COLUMN_LANES = (8, 16, 32)
_SPLITS = (2, 4, 8, 16, 32, 64)

_LEAST_SHARE = 1024
"""Elements that a block has at least, if several share rows."""

BESIDE = 13
"""Registers of a thread beside what it keeps of the row."""

ISSUED = 128
"""Instructions of threads that an SM issues in a clock."""

CLOCKS_APART = 2
"""Clocks from an instruction of a warp to its next."""

ACCESS = 3
"""Instructions of an access: its address, its mask and itself."""

_WARP_JOIN, _BLOCK_JOIN, _SLOT_JOIN = 150, 100, 4
"""Clocks of joining a warp by shuffles, of meeting in shared memory, and of each slot there."""


class RowSharing(NamedTuple):
    """The joint decision for rows."""

    threads: int
    """Threads of a block that share a row."""
    items: int
    """Pieces of a thread, which it has at once."""
    vector: int
    """Elements of a piece, which lie side by side: of one row, or of as many columns."""
    rows: int = 1
    """Rows of a block; of columns, those that `vector` does not count."""
    split: int = 1
    """Blocks that share a row."""
    join: Join = Join.LAST_BLOCK
    """How they join."""
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
        """Elements of a row that a block has at once, those beyond the row's end included."""
        return self.threads * (self.items if self.columns else self.elements)

    @property
    def block_rows(self) -> int:
        """Rows that a block does."""
        return self.rows * self.vector if self.columns else self.rows

    @property
    def block_threads(self) -> int:
        """Threads of a block."""
        return self.threads * self.rows

    @property
    def ahead(self) -> int:
        """Steps of which a thread asks for the elements together."""
        return max(_LEAST_AHEAD, AHEAD // self.vector)

    def steps(self, problem: RowProblem) -> int:
        """In how many steps a block does its part of a row; 1: it is in registers."""
        return -(-problem.length // (self.split * self.covered))

    def in_registers(self, problem: RowProblem) -> bool:
        """Whether a block has its part of a row at once."""
        return not self.columns and self.steps(problem) == 1

    def blocks(self, problem: RowProblem) -> int:
        """Blocks of the grid."""
        return -(-problem.rows // self.block_rows) * self.split

    def resident(self, problem: RowProblem, target: Target) -> int:
        """Blocks that an SM has room for."""
        kept = self.elements if self.in_registers(problem) else self.ahead * self.vector
        return target.blocks_per_sm(self.block_threads, 0, BESIDE + kept)

    def seconds(self, problem: RowProblem, target: Target) -> float:
        """How long it takes, by the model above."""
        blocks = self.blocks(problem)
        most = -(-blocks // target.sms)
        resident = min(most, self.resident(problem, target))
        clocks = max(
            most * self._l2_bytes(problem, target) / L2_BYTES,
            most * self.block_threads * self._instructions(problem) / ISSUED,
            -(-most // resident) * self._waiting(problem, target),
        )
        busy = max(clocks / target.clock, self._device_bytes(problem, target) / target.bandwidth)
        return busy + (problem.joins * latencies.JOIN[self.join] if self.split > 1 else 0.0)

    def _reads_once(self, problem: RowProblem, target: Target) -> bool:
        """Whether a block's part of its rows stays there: in registers or, of columns, staged."""
        if not self.columns:
            return self.in_registers(problem)
        part = self.block_rows * self.steps(problem) * self.threads
        return part * problem.read <= target.shared_per_block // 2

    def _device_bytes(self, problem: RowProblem, target: Target) -> float:
        resident = target.sms * self.resident(problem, target)
        at_once = min(self.blocks(problem), resident) / self.split * self.block_rows
        is_held = problem.length * problem.read * at_once <= target.l2_size / 2
        reads_once = is_held or self._reads_once(problem, target)
        read = problem.read if reads_once else problem.reread
        return problem.rows * problem.length * (read + problem.written)

    def _l2_bytes(self, problem: RowProblem, target: Target) -> float:
        """Of a block."""
        read = problem.read if self._reads_once(problem, target) else problem.reread
        wasted = max(1, SECTOR // self.block_rows) if problem.are_columns else 1
        part = min(self.steps(problem) * self.covered, problem.length)
        return self.block_rows * part * (read + problem.written) * wasted

    def _instructions(self, problem: RowProblem) -> float:
        """Of a thread: what is computed, and the accesses, as wide as they are."""
        accesses = 1 if self.in_registers(problem) else problem.loops
        of_element = problem.work + ACCESS * accesses / self.vector
        return self.steps(problem) * self.elements * of_element

    def _waiting(self, problem: RowProblem, target: Target) -> float:
        """Clocks of a block: for memory, for one instruction after the other, for its threads."""
        asked = 1
        if not self.in_registers(problem):
            loops = 1 if self._reads_once(problem, target) else problem.loops
            asked = loops * -(-self.steps(problem) // self.ahead)
        memory = asked * latencies.MEMORY * target.clock
        alone = CLOCKS_APART * self._instructions(problem)
        return memory + alone + problem.joins * self._join_clocks()

    def _join_clocks(self) -> float:
        if self.columns:
            return _BLOCK_JOIN + _SLOT_JOIN * self.threads * self.vector
        warps = self.threads // WARP_SIZE
        return _WARP_JOIN + (_BLOCK_JOIN + _SLOT_JOIN * warps if warps > 1 else 0)

    def pipeline(self, problem: RowProblem, target: Target) -> list[str]:
        """The passes that do it."""
        covered = self.threads if self.columns else self.covered
        kept = "registers" if self.in_registers(problem) else "stage"
        rows = f"rows={self.block_rows}" + " columns=true" * self.columns
        split = f" split={self.split} join={self.join.value}" if self.split > 1 else ""
        passes, unrolled = [f"cooperative-reduce{{threads={covered} {rows} row={kept}{split}}}"], ""
        if self.steps(problem) >= LONG:
            passes.append(f"chunk-reduce{{chunk={self.ahead}}}")
            unrolled = f"{{limit={self.ahead}}}"
        if self.columns:
            passes.append("stage-inputs")
        if not self.columns or self.vector > 1:
            passes.append(f"register-tile{{items={self.items} vector={self.vector}}}")
        return [*passes, f"mark-unroll{unrolled}"]


def row_sharings(problem: RowProblem, target: Target) -> list[RowSharing]:
    """What can be, the fastest first."""
    shapes = _of_columns(problem, target) if problem.are_columns else _of_rows(problem, target)
    possible = [sharing for sharing in shapes if sharing.resident(problem, target) > 0]
    return sorted(possible, key=lambda sharing: _preference(sharing, problem, target))


def _preference(sharing: RowSharing, problem: RowProblem, target: Target) -> tuple[float, ...]:
    """
    Of those within a twentieth of each other: one block to a row or, if not, all SMs at work; wide
    accesses; few splits; little waste, of which a twentieth weighs as much as twice or half the
    usual number of elements; several rows a block.
    """
    about = round(log(sharing.seconds(problem, target)) / 0.05)
    idle = max(0, target.sms - sharing.blocks(problem)) if sharing.split > 1 else 0
    covered = sharing.steps(problem) * sharing.covered * sharing.split
    waste = covered / problem.length - 1
    unusual = abs(log(sharing.elements / USUAL_ELEMENTS, 2))
    best = waste * 20 + unusual, sharing.threads, -sharing.rows
    return about, sharing.split > 1, -sharing.vector, idle, sharing.split, *best


def _of_rows(problem: RowProblem, target: Target) -> Iterator[RowSharing]:
    """A block's part of a row in registers, if that can be, and in steps."""
    for split, join in _splits(problem, 1, target):
        part = -(-problem.length // split)
        for threads in range(WARP_SIZE, MAX_THREADS + 1, WARP_SIZE):
            items = -(-part // (threads * problem.vector))
            rows = 1 if split > 1 else _rows_of_block(threads, problem, target)
            sharing = RowSharing(threads, items, problem.vector, rows, split, join)
            if sharing.elements <= MOST_ELEMENTS:
                yield sharing
        for threads in _STEPPING_THREADS:
            if threads * problem.vector < part:
                yield RowSharing(threads, 1, problem.vector, 1, split, join)


def _rows_of_block(threads: int, problem: RowProblem, target: Target) -> int:
    """As many as make a block of the usual size, if that leaves two blocks for each SM."""
    wanted = min(USUAL_THREADS // threads, problem.rows // (2 * target.sms))
    return 1 << max(wanted, 1).bit_length() - 1


def _of_columns(problem: RowProblem, target: Target) -> Iterator[RowSharing]:
    """Neighbouring threads do neighbouring columns, or vectors of them."""
    vectors = dict.fromkeys((problem.vector, 1))
    for threads, lanes, vector in product(_COLUMN_THREADS, _COLUMN_LANES, vectors):
        if threads * lanes > MAX_THREADS // 2 or lanes * vector >= 2 * problem.rows:
            continue
        for split, join in _splits(problem, lanes * vector, target):
            yield RowSharing(threads, 1, vector, lanes, split, join, columns=True)


def _splits(problem: RowProblem, rows: int, target: Target) -> Iterator[tuple[int, Join]]:
    """
    Into how many parts a row can be split among blocks of so many `rows`, and how they join: where
    there are fewer rows than SMs, or a row does not fit the registers of a block.
    """
    yield 1, Join.LAST_BLOCK
    blocks = -(-problem.rows // rows)
    is_long = problem.length > MAX_THREADS * MOST_ELEMENTS
    fitting = [waves * target.sms // blocks for waves in (1, 2)]
    if not problem.joins:
        return
    worth = [s for s in (*_SPLITS, *fitting) if 2 <= s <= problem.length * rows // _LEAST_SHARE]
    for split in dict.fromkeys(worth):
        is_wanted = blocks * split <= 2 * target.sms
        if target.has_clusters and split <= MAX_CLUSTER and (is_wanted or is_long):
            yield split, Join.CLUSTER
        if problem.ends_joined and is_wanted:
            yield split, Join.LAST_BLOCK
