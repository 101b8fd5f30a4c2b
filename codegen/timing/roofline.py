# SPDX-License-Identifier: Apache-2.0
"""
How fast anything could be: what has to be done, over what a GPU does in a second.

    floor = max(flops / float32 operations a second, bytes / bytes a second)

Reference: Williams, Waterman, Patterson, "Roofline", CACM 52(4), 2009.
"""

from typing import NamedTuple

TENSOR_CORES = 32
"""
How many times as many multiply-adds a second tensor cores do, as the lanes for float32 do: more
than of any GPU, whatever the inputs (NVIDIA's H100 whitepaper: 7.4 times of float32 cut to TF32, 15
times of float16; later ones have more).

PyTorch multiplies half types by them, and its attention splits a float32 into several TF32. So it
is no mistake to be faster than the lanes for float32 allow, but to be faster than this is.
"""


class Work(NamedTuple):
    """What has to be done, by whatever kernels."""

    flops: int
    """Of contractions; a multiply-add is two. The others never bound anything."""
    bytes: int
    """All that has to be read, once, and the results."""

    def rates(self, us: float) -> tuple[float, float]:
        """TFLOP/s and TB/s of what needs so many microseconds."""
        return self.flops / us * 1e-6, self.bytes / us * 1e-6


class Peaks(NamedTuple):
    """What a GPU does in a second."""

    flops: float
    """float32 operations outside tensor cores; a multiply-add is two."""
    bandwidth: float
    """Bytes to and from device memory."""

    def floor_us(self, work: Work) -> float:
        """Microseconds that kernels need at least that leave tensor cores alone, as ours do."""
        return 1e6 * max(work.flops / self.flops, work.bytes / self.bandwidth)

    def least_us(self, work: Work) -> float:
        """Microseconds that any kernels need at least."""
        return 1e6 * max(work.flops / (TENSOR_CORES * self.flops), work.bytes / self.bandwidth)
