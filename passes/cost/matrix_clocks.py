# SPDX-License-Identifier: Apache-2.0
"""
Model of a main loop on tensor cores: clocks of an SM whose warps multiply from shared memory.

    clocks = max(tensor cores, shared memory, issue, float32)

* tensor cores: matrix instructions of a scheduler's warps, at the target's interval (`mma_clocks`);
* shared memory: wavefronts of `ldmatrix`, one for each register of a fragment, without conflicts,
  or those in which a warpgroup reads its factors;
* issue: matrix instructions, `ldmatrix` of four registers, and roundings of float32;
* float32: instructions that split factors, at the target's number of float32 lanes.

Each warp loads its fragments of A and of B once for each step of the instruction along k. For
example, eight warps on sm_90a each multiply 64x32x64 by m16n8k16:

| a warp's work                 | number                    | clocks of the unit |
|-------------------------------|---------------------------|--------------------|
| matrix instructions           | 4 * 4 * 4 = 64            | 64 * 6 * 8 / 4     |
| registers loaded by `ldmatrix` | 4 * (4 * 4 + 4 * 2) = 96 | 96 * 8             |
"""

from functools import lru_cache
from typing import NamedTuple

from tilewright.dialects.matrix_instruction import (
    MOST_COLUMNS,
    MOST_MATRICES,
    REGISTER_BYTES,
    STEPS_OF_SUM,
    Fragments,
    MatrixInstruction,
)
from tilewright.dialects.target import SCHEDULERS, WARP_SIZE, Target
from tilewright.dialects.types import size_of
from tilewright.passes.cost.banks import BANK_BYTES, BANKS

_TO_ROUND, _TO_SPLIT, _TO_ADD = 2, 4, 4
"""
Instructions of the machine code: to round an element of a factor to tf32, to split it, and to add a
sum of split products (one less from sm_86 on).
"""

_PER_DESCRIPTOR = 4
"""Instructions of the machine code for the descriptor of a matrix of a warpgroup."""

_FLOAT_TO_SPLIT = 3
"""Instructions of `_TO_SPLIT` that float32 lanes execute: a half, a difference, a product."""

_FLOPS_TO_SPLIT, _FLOPS_TO_ADD = 4, 5
"""Operations of these instructions for an element, and for a sum; a multiply-add counts as two."""


class MatrixClocks(NamedTuple):
    """Clocks for which each unit of an SM is busy."""

    tensor: float
    shared: float
    issue: float
    float32: float

    @property
    def total(self) -> float:
        """Clocks of the busiest unit."""
        return max(self)

    @property
    def share(self) -> float:
        """Share of `total` for which tensor cores are busy."""
        return self.tensor / self.total


class WarpTile(NamedTuple):
    """Part of a product that one warp does by an instruction: `m` x `n` outputs, `k` steps."""

    m: int
    n: int
    k: int
    instruction: MatrixInstruction

    @property
    def instructions(self) -> int:
        """Number of matrix instructions; partial fragments count as whole ones."""
        shape = self.instruction.fragments
        m, n, k = self._fragments(shape)
        return m * n * k * shape.products

    @property
    def issued(self) -> int:
        """
        Number of matrix instructions that a warp issues; an instruction of a warpgroup takes all
        columns, and two descriptors.
        """
        shape = self.instruction.fragments
        if not self.instruction.is_grouped:
            return self.instructions
        m, _, k = self._fragments(shape)
        return m * k * -(-self.n // MOST_COLUMNS) * (1 + 2 * _PER_DESCRIPTOR)

    def interval(self, target: Target) -> float:
        """Return the clocks of a tensor core for each of `instructions`."""
        return target.peak_mma_clocks if self.instruction.is_grouped else target.mma_clocks

    @property
    def wavefronts(self) -> float:
        """
        Wavefronts in which shared memory is read for the products. A warpgroup reads the rows of
        each warp, and B once for its four warps.
        """
        shape = self.instruction.fragments
        if not self.instruction.is_grouped:
            return self.loaded_registers
        m, n, k = self._fragments(shape)
        of_a, of_b = shape.m * shape.k, n * shape.n * shape.k / shape.warps
        return m * k * (of_a + of_b) * size_of(shape.element) / (BANKS * BANK_BYTES)

    @property
    def loaded_registers(self) -> int:
        """Registers of a thread that `ldmatrix` loads for the fragments of A and of B."""
        shape = self.instruction.fragments
        if self.instruction.is_grouped:
            return 0
        m, n, k = self._fragments(shape)
        elements = k * (m * shape.elements_a + n * shape.elements_b)
        return elements * size_of(shape.element) // REGISTER_BYTES

    @property
    def other_instructions(self) -> int:
        """
        Instructions that round factors of float32 to tf32, or split them and add the sums of the
        three products to the float32 sum.
        """
        match self.instruction:
            case MatrixInstruction.M16N8K8_TF32:
                return self._elements * _TO_ROUND
            case MatrixInstruction.M16N8K8_TF32X3:
                return self._elements * _TO_SPLIT + self._sums * _TO_ADD
            case _:
                return 0

    @property
    def float32_instructions(self) -> int:
        """Number of the `other_instructions` that the float32 lanes execute."""
        if not self.instruction.is_split:
            return 0
        return self._elements * _FLOAT_TO_SPLIT + self._sums * _TO_ADD

    @property
    def float32_flops(self) -> int:
        """Number of operations of the `float32_instructions`."""
        if not self.instruction.is_split:
            return 0
        return self._elements * _FLOPS_TO_SPLIT + self._sums * _FLOPS_TO_ADD

    @property
    def _elements(self) -> int:
        """Elements of both factors in a lane."""
        return (self.m + self.n) * self.k // WARP_SIZE

    @property
    def _sums(self) -> int:
        """Sums of split products that a lane adds to float32 sums."""
        return self.m * self.n // WARP_SIZE * self.k // STEPS_OF_SUM

    @property
    def fragment_registers(self) -> int:
        """
        Registers of a thread for all fragments that are multiplied together. Split factors have two
        parts, for up to 16 steps of K, and their products have two sums.
        """
        shape = self.instruction.fragments
        is_split = self.instruction.is_split
        together = min(self.k, STEPS_OF_SUM) if is_split else shape.k
        loaded = self._replace(k=together).loaded_registers
        return 2 * (loaded + shape.elements_d) if is_split else loaded

    def _fragments(self, shape: Fragments) -> tuple[int, int, int]:
        """Return the number of fragments along m, n and k."""
        return -(-self.m // shape.m), -(-self.n // shape.n), -(-self.k // shape.k)


@lru_cache(maxsize=1 << 10)  # many tilings of a product have the same tile
def matrix_clocks(tile: WarpTile, warps: int, target: Target) -> MatrixClocks:
    """Return the clocks of an SM on which `warps` resident warps do one `tile` each."""
    of_scheduler = -(-warps // SCHEDULERS)
    loads = -(-tile.loaded_registers // MOST_MATRICES)
    return MatrixClocks(
        of_scheduler * tile.instructions * tile.interval(target),
        warps * tile.wavefronts,
        of_scheduler * (tile.issued + loads + tile.other_instructions),
        of_scheduler * tile.float32_instructions * WARP_SIZE * SCHEDULERS / target.fp32_lanes,
    )
