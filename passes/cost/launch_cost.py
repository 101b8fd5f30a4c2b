# SPDX-License-Identifier: Apache-2.0
"""Figures of the cost of one launch, as `kernel_cost.py` counts them."""

from dataclasses import dataclass

from tilewright.dialects.target import LAUNCH_SECONDS, MMA_FLOPS, Target


@dataclass
class KernelCost:
    """Cost of one launch."""

    blocks: int = 0
    """Blocks in the grid; 0 for a loop nest, which is not scheduled yet."""
    threads: int = 0
    """Threads in a block."""
    flops: float = 0
    """Floating-point operations; a special function counts as its instructions."""
    matrix_flops: float = 0
    """Number of `flops` that matrix instructions do."""
    mma: float = 0
    """Number of matrix instructions, in units of one m16n8k16 on half types."""
    wgmma: float = 0
    """Number of products of warpgroups, in units of one m16n8k16."""
    global_bytes: int = 0
    """
    Distinct bytes read from and written to device memory: each buffer read once and written once.
    """
    accessed_bytes: float = 0
    """Bytes that threads load and store in global memory, repeated reads included."""
    sectors: float = 0
    """Sectors of global memory that warps touch (`global_sectors`); 0 before there are threads."""
    ideal_sectors: float = 0
    """Fewest sectors that would hold the bytes that warps ask for."""
    shared_bytes: int = 0
    """Shared memory of a block: staged slabs and the slots of combines."""
    barriers: float = 0
    """Barriers at which a block waits during one launch."""
    registers: int = 0
    """Registers of a thread (`live_registers`)."""
    wavefronts: float = 0
    """Wavefronts of all shared memory accesses in one launch (`shared_banks`)."""
    ideal_wavefronts: float = 0
    """Wavefronts of these accesses without bank conflicts."""

    def occupancy(self, target: Target) -> int | None:
        """Return the number of blocks that an SM holds at once; None before there are threads."""
        if not self.threads:
            return None
        return target.blocks_per_sm(self.threads, self.shared_bytes, self.registers)

    def seconds(self, target: Target) -> float:
        """
        Return a lower bound of the launch time: arithmetic, tensor cores or device memory, plus the
        launch itself.
        """
        busy = max(
            (self.flops - self.matrix_flops) / target.flops,
            self.mma * MMA_FLOPS / target.mma_flops,
            self.wgmma * MMA_FLOPS / target.tensor_flops,
            self.global_bytes / target.bandwidth,
        )
        return busy + LAUNCH_SECONDS
