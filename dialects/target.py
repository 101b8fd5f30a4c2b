# SPDX-License-Identifier: Apache-2.0
"""
Supported GPUs, by the architecture that NVRTC compiles for.

Each row holds the limits of one multiprocessor (SM), and the speed of a typical product.

Limits per SM: CUDA C++ Programming Guide, compute capabilities, "Technical Specifications per
Compute Capability". SM counts, bandwidth, flops and L2: NVIDIA's data sheet of the product.
"""

from dataclasses import dataclass
from functools import cached_property

from tilewright.errors import UsageError, did_you_mean

WARP_SIZE = 32
"""Lanes in a warp, on every target."""

SCHEDULERS = 4
"""
Schedulers of an SM, each with one tensor core, on every target (Programming Guide,
"Multiprocessor").
"""

MMA_FLOPS = 2 * 16 * 8 * 16
"""Operations of one `mma.sync` m16n8k16; a multiply-add counts as two."""

VECTOR_BYTES = (4, 8, 16)
"""Sizes in bytes of a thread's vector accesses, on every target (PTX ISA, `cp.async`)."""
WIDEST_BYTES = max(VECTOR_BYTES)

_KIB, _MIB = 1024, 1024**2

PARAMETER_BYTES = 32764
"""
Most bytes of a kernel's parameters, on every target (Programming Guide, kernel parameters: from
CUDA 12.1 and driver 530 on).
"""

L2_BYTES = 64
"""Bytes that L2 delivers to an SM in a clock, on every target (NVIDIA A100 whitepaper, L2)."""

BARRIERS_PER_SM = 64
"""
Barriers that all resident blocks of an SM share; a block has at most 16 (measured on an H100).
"""

LAUNCH_SECONDS = 2e-6
"""Overhead of a launch in seconds, on every target."""

MOST_ROW_BYTES = 32 << 10
"""
Most bytes of a row that a block keeps in shared memory; an SM then still holds several blocks.
"""

_MAX_FFMA_LANES = 128 / 1.2
"""
Most multiply-adds of an SM in a clock: each of its four schedulers issues 32 of them in 1.2 clocks,
measured on an H100 (`benchmarks/gpu_check.py`, `micro ffma`).
"""

_RESERVED_SHARED = 1 * _KIB
"""
Bytes of shared memory that the system reserves for each block (Programming Guide, shared memory,
8.0 on).
"""

_MMA_CLOCKS = {
    "sm_80": (8, 8),  # A100 whitepaper: 312 TFLOP/s, 256 multiply-adds a clock of a tensor core
    "sm_86": (16, 16),  # GA102 whitepaper, RTX A6000: 154.8 TFLOP/s for all sums
    "sm_89": (16, 16),  # data sheet of the L40S: 362 TFLOP/s
    # measured: 5.98 (`benchmarks/gpu_check.py`, `micro hmma`); H100 whitepaper: 989.4 TFLOP/s
    "sm_90a": (6, 4),
    # in no data sheet: others measured 8.2 to 8.5 on a B300; data sheet of the B200: 2.25 PFLOP/s
    "sm_100a": (8, 2),
    # RTX Blackwell whitepaper, RTX 5090: 209.5 TFLOP/s with float32 sums, 419 with float16 sums
    "sm_120": (32, 16),
}
"""
`Target.mma_clocks` and `Target.peak_mma_clocks` by target, from the products' dense rates without
sparsity.
"""

_DEFAULT_GPC = 16
"""SMs assumed in each group (GPC) if `gpcs` is unknown."""

# Granularity of allocation (CUDA Occupancy Calculator, 8.0 on). A warp gets registers in units of
# 256. An SM allocates warps in fours, one for each of its quarters. Shared memory is allocated in
# units of 128 bytes.
_REGISTER_UNIT = 256
_WARP_UNIT = 4
_SHARED_UNIT = 128


@dataclass(frozen=True)
class Target:
    """One architecture, and the product whose numbers represent it."""

    name: str
    product: str
    sms: int
    shared_per_block: int
    """Most bytes of shared memory that a block may opt in to."""
    shared_per_sm: int
    """Bytes of shared memory of an SM."""
    max_warps_per_sm: int
    max_blocks_per_sm: int
    bandwidth: float
    """Bytes per second to and from device memory."""
    flops: float
    """float32 operations per second outside tensor cores; a fused multiply-add counts as two."""
    l2_size: int
    """Capacity of the L2 cache in bytes."""
    gpcs: tuple[int, ...] = ()
    """
    Measured number of SMs in each group (GPC); empty if it was not measured.

    A cluster of more than two blocks must fit in one group. Chips of one product differ.
    """
    fp32_lanes: int = 128
    """float32 multiply-adds that an SM does in one clock."""
    registers_per_sm: int = 65536
    max_registers_per_thread: int = 255
    max_threads_per_block: int = 1024

    def __repr__(self) -> str:
        return f"<Target {self.name}: {self.product}>"

    @property
    def max_threads_per_sm(self) -> int:
        """Most threads that are resident on one SM."""
        return self.max_warps_per_sm * WARP_SIZE

    @cached_property
    def compute_capability(self) -> int:
        """Compute capability of the architecture as one number: 90 for sm_90a."""
        return int(self.name.removeprefix("sm_").rstrip("a"))

    @property
    def has_warpgroups(self) -> bool:
        """True if warpgroups multiply matrices in shared memory together (`wgmma`)."""
        return self.name == "sm_90a"

    @property
    def has_clusters(self) -> bool:
        """True if blocks can read each other's shared memory (PTX ISA, cluster, sm_90 on)."""
        return self.compute_capability >= 90

    @property
    def has_tma(self) -> bool:
        """True if the GPU has a tensor memory accelerator (PTX ISA, cp.async.bulk, sm_90 on)."""
        return self.compute_capability >= 90

    @property
    def clock(self) -> float:
        """Clock frequency in Hz at which `flops` is reached."""
        return self.flops / (2 * self.fp32_lanes * self.sms)

    @property
    def mma_clocks(self) -> float:
        """
        Clocks for which one `mma.sync` m16n8k16 on half types with float32 sums occupies a tensor
        core. One m16n8k8 on tf32 takes equally long: half the products at half the rate.
        """
        return _MMA_CLOCKS[self.name][0]

    @property
    def peak_mma_clocks(self) -> float:
        """
        Clocks of the multiply-adds of one m16n8k16 on half types at the peak of a tensor core, by
        any instruction (`wgmma`, `tcgen05`) with float32 or float16 sums.
        """
        return _MMA_CLOCKS[self.name][1]

    @property
    def mma_flops(self) -> float:
        """Operations per second on half types by `mma.sync` with float32 sums, at `clock`."""
        return self.sms * SCHEDULERS * MMA_FLOPS / self.mma_clocks * self.clock

    @property
    def tensor_flops(self) -> float:
        """
        Operations per second on half types at the peak of tensor cores, at `clock`; no kernel is
        faster. The rate on tf32 is half.

        The data sheet's rate can be lower, as NVIDIA states it at a lower clock (H100: 1.83 GHz
        instead of 1.98).
        """
        return self.sms * SCHEDULERS * MMA_FLOPS / self.peak_mma_clocks * self.clock

    @property
    def ffma_lanes(self) -> float:
        """
        Multiply-adds of outer products that an SM does in one clock.

        Two of a multiply-add's three registers are often in the same bank, which takes a second
        read. The second read is hidden on targets whose multiply-add takes two clocks.
        """
        return min(self.fp32_lanes, _MAX_FFMA_LANES)

    def warps_of(self, threads: int) -> int:
        """Return the number of warps in a block of `threads` threads."""
        return -(-threads // WARP_SIZE)

    def block_limits(
        self, threads: int, shared: int, registers: int, barriers: int = 1
    ) -> dict[str, int]:
        """
        Return how many blocks fit on one SM by each resource: registers, shared memory, warps, ...

        A block has `threads` threads, `shared` bytes and `barriers` barriers; each thread has
        `registers` registers. The limit is 0 for a resource that even one block exceeds.
        """
        warps = self.warps_of(threads)
        warp_registers = _round_up(max(registers, 1) * WARP_SIZE, _REGISTER_UNIT)
        warps_with_registers = self.registers_per_sm // warp_registers // _WARP_UNIT * _WARP_UNIT
        block_shared = _round_up(shared + _RESERVED_SHARED, _SHARED_UNIT)
        limits = {
            "registers": warps_with_registers // warps,
            "shared memory": self.shared_per_sm // block_shared,
            "warps": self.max_warps_per_sm // warps,
            "blocks": self.max_blocks_per_sm,
            "barriers": BARRIERS_PER_SM // max(barriers, 1),
        }
        if registers > self.max_registers_per_thread:
            limits["registers"] = 0
        if shared > self.shared_per_block:
            limits["shared memory"] = 0
        if threads > self.max_threads_per_block:
            limits["warps"] = 0
        return limits

    def registers_given(self, threads: int, blocks: int) -> int:
        """
        Return the most registers per thread with which `blocks` blocks of `threads` threads each
        are resident on an SM at once.
        """
        warps = _round_up(blocks * self.warps_of(threads), _WARP_UNIT)
        warp_registers = self.registers_per_sm // warps // _REGISTER_UNIT * _REGISTER_UNIT
        return min(warp_registers // WARP_SIZE, self.max_registers_per_thread)

    def blocks_per_sm(self, threads: int, shared: int, registers: int) -> int:
        """
        Return how many blocks are resident on one SM (minimum of `block_limits`); 0 if none fits.
        """
        return min(self.block_limits(threads, shared, registers).values())

    def room(self, per_sm: int, cluster: int = 1) -> int:
        """
        Return how many blocks are resident on the whole GPU, in whole clusters of `cluster` blocks,
        if each SM holds `per_sm` blocks.
        """
        if cluster <= 2:  # SMs come in pairs
            return self.sms * per_sm // cluster * cluster
        gpcs = self.gpcs or (self.sms % _DEFAULT_GPC, *(_DEFAULT_GPC,) * (self.sms // _DEFAULT_GPC))
        return sum(sms * per_sm // cluster for sms in gpcs) * cluster

    def turns(self, blocks: int, per_sm: int, cluster: int = 1) -> int:
        """
        Return how many of the `blocks` blocks of a grid the busiest SM runs in total, if each SM
        holds `per_sm` at once.

        `per_sm` is at least 1.
        """
        rounds, rest = divmod(blocks, self.room(per_sm, cluster))
        at_once = -(-rest // self.sms)
        while self.room(at_once, cluster) < rest:
            at_once += 1
        return rounds * per_sm + at_once


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


_TARGETS = {
    row.name: row
    for row in (
        Target(
            "sm_80",
            "A100 SXM 80 GB",
            108,
            163 * _KIB,
            164 * _KIB,
            64,
            32,
            2.039e12,
            19.5e12,
            40 * _MIB,
            fp32_lanes=64,
        ),
        Target(
            "sm_86", "RTX A6000", 84, 99 * _KIB, 100 * _KIB, 48, 16, 0.768e12, 38.7e12, 6 * _MIB
        ),
        Target("sm_89", "L40S", 142, 99 * _KIB, 100 * _KIB, 48, 24, 0.864e12, 91.6e12, 96 * _MIB),
        Target(
            "sm_90a",
            "H100 SXM",
            132,
            227 * _KIB,
            228 * _KIB,
            64,
            32,
            3.35e12,
            66.9e12,
            50 * _MIB,
            gpcs=(18, 18, 16, 16, 16, 16, 16, 8),
        ),
        Target("sm_100a", "B200", 148, 227 * _KIB, 228 * _KIB, 64, 32, 8.0e12, 75e12, 126 * _MIB),
        Target(
            "sm_120", "RTX 5090", 170, 99 * _KIB, 100 * _KIB, 48, 24, 1.792e12, 104.8e12, 96 * _MIB
        ),
    )
}

TARGETS = tuple(_TARGETS)
"""Names of all targets, oldest first."""

DEFAULT_TARGET = "sm_90a"
"""Target to compile for if no GPU is present."""


def target(name: str | object) -> Target:
    """
    Return the target called `name`; raise `UsageError`, which lists all targets, if it is unknown.
    """
    if not isinstance(name, str):
        raise UsageError(f"a target is a name such as 'sm_90a', not {name!r}")
    if name not in _TARGETS:
        remedy = f"{did_you_mean(name, TARGETS)} known: {', '.join(TARGETS)}"
        raise UsageError(f"unknown target '{name}'", remedy=remedy.lstrip())
    return _TARGETS[name]
