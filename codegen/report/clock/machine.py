# SPDX-License-Identifier: Apache-2.0
"""
Rates and latencies of a multiprocessor (SM), by target, and devices with their clocks.

A rate is the number of clocks for which a warp's instruction occupies a pipe of its scheduler.
Sources of the rates:

* *guide*: CUDA C++ Programming Guide, "Arithmetic Instructions", results per clock and SM. A pipe
  of 64 results a clock takes a warp 32 / (64 / 4) = 2 clocks;
* *micro*: measured on an H100 SXM (`benchmarks/gpu_check.py`, stage `micro`);
* `Target.mma_clocks`: rate of matrix instructions, with sources in `dialects/target.py`.

Latencies in clocks: Jia et al. (Volta, 2018) and Luo et al. (Hopper, 2024), as in
`critical_path.py`; those of memory on the H100 are *micro*, those on the A100 are assumed. Other
latencies that have no source for a target are those of the H100.
"""

from dataclasses import dataclass
from typing import NamedTuple

from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.target import Target


class Pipe(StrEnum):
    """Units that execute instructions; each scheduler has its own, except `SHARED`."""

    FMA = "float32"
    ALU = "integer"
    DOUBLE = "double"
    SPECIAL = "special functions"
    TENSOR = "tensor cores"
    MEMORY = "memory queue"
    """Queue of instructions that leave the scheduler for shared memory, L1 or a shuffle (MIO)."""
    CONTROL = "control"


@dataclass(frozen=True)
class Machine:
    """Rates and latencies of one target's SM."""

    fma: float
    """Clocks of a float32 instruction."""
    fma_integer: float
    """Clocks of an integer multiply-add, which has one half of the float32 pipe."""
    alu: float
    """Clocks of an integer, logic, compare or select instruction."""
    double: float
    special: float = 8
    """Clocks of a special function: 16 results a clock (guide; micro: 8.02)."""
    second_read: float = 0.51
    """
    Clocks of each register that a multiply-add reads from a bank from which it reads another. It is
    fitted to *micro*: an outer product, which has 0.383 of these reads, takes 1.197 clocks.
    A multiply-add of two clocks hides them.
    """
    queue_clocks: float = 2
    """Clocks between two instructions that a scheduler puts into its memory queue."""
    queue_length: int = 8
    """Instructions in a scheduler's memory queue; assumed."""
    shared_latency: int = 23
    """Clocks from a wavefront of shared memory to its result (30 in all, Luo et al.)."""
    shuffle_latency: int = 22
    special_latency: int = 20
    tensor_latency: int = 33
    constant_latency: int = 25
    """Clocks of special registers and indexed constants."""
    remote_latency: int = 200
    """Clocks of a load from another block's shared memory (Luo et al.: about 180)."""
    memory_latency: float = 700
    """Clocks of a load from device memory without other loads (micro: 700.6)."""
    l2_latency: float = 293
    """Clocks of a load from L2 (micro: 293.4)."""
    barrier: int = 20
    """Clocks from the last arrival at a block's barrier to the release (micro: 28.48 in all)."""
    cluster_barrier: int = 385
    """Clocks of a barrier of a cluster (micro: 768 to 822 for two)."""


_MACHINES = {
    # guide, 8.0: 64 float32, 64 integer, 32 double results; latencies of memory are assumed
    "sm_80": Machine(2, 2, 2, 4, second_read=0, memory_latency=560, l2_latency=262),
    # guide, 8.6: 128 float32, 64 integer, 2 double results
    "sm_86": Machine(1, 2, 2, 64),
    # guide, 9.0: 128 float32, 64 integer, 64 double results
    "sm_90a": Machine(1, 2, 2, 2),
    # guide, 12.0: 128 float32, 2 double results; RTX Blackwell whitepaper: 128 integer results
    "sm_120": Machine(1, 1, 1, 64),
}

_NEAREST = {"sm_89": "sm_86", "sm_100a": "sm_90a"}
"""Targets without a table, with those whose tables they use."""


def machine_of(target: Target) -> Machine:
    """Return the table of a target, or the one of the nearest target."""
    return _MACHINES[_NEAREST.get(target.name, target.name)]


def note_on(target: Target) -> str | None:
    """Return a note if the target has no table, or None."""
    nearest = _NEAREST.get(target.name)
    return nearest and f"the clock has no table of {target.name}; it uses the one of {nearest}"


class Device(NamedTuple):
    """Product with a target's instruction set, and the speeds that differ between products."""

    target: str
    sms: int
    hertz: float
    """Clock frequency under load."""
    bandwidth: float
    """Bytes of device memory in a second, of the data sheet."""
    l2_clock_bytes: float
    """
    Bytes that L2 delivers in a clock to all SMs; for GA102 and GB202 no source, 64 for each SM.
    """


_DEVICES = {
    # NVIDIA A100 whitepaper: 1.41 GHz, 5120 bytes a clock from L2; data sheets: bandwidth
    "a100-sxm": Device("sm_80", 108, 1.41e9, 2.039e12, 5120),
    "a100-pcie-80gb": Device("sm_80", 108, 1.41e9, 1.935e12, 5120),
    "a100-pcie-40gb": Device("sm_80", 108, 1.41e9, 1.555e12, 5120),
    "a6000": Device("sm_86", 84, 1.8e9, 0.768e12, 84 * 64),
    # measured: 1.98 GHz during all cases of suite84 (`benchmarks/results/nvidia-h100-80gb-hbm3/`)
    "h100-sxm": Device("sm_90a", 132, 1.98e9, 3.35e12, 5120),
    # data sheet; Chips and Cheese (2023) measured 1.755 GHz, and less under load
    "h100-pcie": Device("sm_90a", 114, 1.755e9, 2.039e12, 5120),
    # data sheet: 4.8 TB/s
    "h200": Device("sm_90a", 132, 1.98e9, 4.8e12, 5120),
    "rtx-5090": Device("sm_120", 170, 2.407e9, 1.792e12, 170 * 64),
}

DEVICES = tuple(_DEVICES)
"""Names of the devices."""


def device_named(name: str) -> Device:
    """Return the device called `name`, one of `DEVICES`."""
    return _DEVICES[name]


def device_of(target: Target) -> Device:
    """Return the typical device of a target, with the numbers of `Target`."""
    l2 = 5120 if target.name in ("sm_80", "sm_90a") else 64 * target.sms
    return Device(target.name, target.sms, target.clock, target.bandwidth, l2)
