# SPDX-License-Identifier: Apache-2.0
"""
Lower bound of a time: the work that has to be done, over the work that a GPU does per second.

    floor = max(flops / float32 operations a second, bytes / bytes a second)

Reference: Williams, Waterman, Patterson, "Roofline", CACM 52(4), 2009.
"""

from typing import NamedTuple

TENSOR_CORES = 32
"""
Number of multiply-adds that tensor cores do at most in the time of one on the float32 lanes.

It is above the ratio of any GPU, for any type of input. NVIDIA's H100 whitepaper has 7.4 for
float32 cut to TF32, and 15 for float16; later GPUs have more.

PyTorch uses tensor cores for half types, and its attention splits a float32 into several TF32. A
measured time below the bound of the float32 lanes is therefore possible. A time below the bound
with this factor is a mistake.
"""


class Work(NamedTuple):
    """Work of a computation, independent of the kernels that do it."""

    flops: int
    """
    Number of operations of contractions, where a multiply-add is two. Other operations never limit
    the time.
    """
    bytes: int
    """Bytes of the inputs, each read once, and of the results."""

    def rates(self, us: float) -> tuple[float, float]:
        """Return the TFLOP/s and TB/s of this work if it takes `us` microseconds."""
        return self.flops / us * 1e-6, self.bytes / us * 1e-6


class Peaks(NamedTuple):
    """Work that a GPU does per second."""

    flops: float
    """float32 operations per second outside of tensor cores; a multiply-add is two."""
    bandwidth: float
    """Bytes per second to and from device memory."""

    def floor_us(self, work: Work) -> float:
        """
        Return the minimum time, in microseconds, of kernels that do not use tensor cores, as
        Tilewright's.
        """
        return 1e6 * max(work.flops / self.flops, work.bytes / self.bandwidth)

    def least_us(self, work: Work) -> float:
        """Return the minimum time, in microseconds, of any kernels, even on tensor cores."""
        return 1e6 * max(work.flops / (TENSOR_CORES * self.flops), work.bytes / self.bandwidth)
