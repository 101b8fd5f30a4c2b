# SPDX-License-Identifier: Apache-2.0
"""
Lower bound of a time: the work that has to be done, over the work that a GPU does per second.

    floor = max(flops / operations a second, bytes / bytes a second)

The operations a second depend on the operands of a product:

| operands   | rate                                                                            |
|------------|---------------------------------------------------------------------------------|
| half types | peak of tensor cores                                                            |
| float32    | the faster of the float32 lanes and of tensor cores on tf32, half the peak. A   |
|            | float32 product takes three products on tf32, or one if PyTorch allows TF32     |

References: Williams, Waterman, Patterson, "Roofline", CACM 52(4), 2009; NVIDIA CUTLASS, example
27, "3xTF32", for float32 products by three products on tf32.
"""

from typing import NamedTuple

TENSOR_CORES = 32
"""
Number of multiply-adds that tensor cores do at most in the time of one on the float32 lanes.

No target has a higher ratio on half types: a B200 has 32, an H100 16 (`Target.tensor_flops`).

PyTorch may also save multiplications, as cuDNN does in convolutions by Winograd's method. A
measured time of PyTorch below `Peaks.floor_us` is therefore possible. A time below the bound with
this factor is a mistake.
"""

HALF_TYPES = ("float16", "bfloat16")
"""Names of the half types, which tensor cores multiply at their peak."""

SPLIT_TF32 = 3
"""Number of products on tf32 for one float32 product, whose operands are each split into two."""


class Work(NamedTuple):
    """Work of a computation, independent of the kernels that do it."""

    flops: int
    """
    Number of operations of contractions, where a multiply-add is two. Other operations never limit
    the time.
    """
    bytes: int
    """Bytes of the inputs, each read once, and of the results."""
    half_flops: int = 0
    """Part of `flops` in contractions of which both operands have half types."""

    def rates(self, us: float) -> tuple[float, float]:
        """Return the TFLOP/s and TB/s of this work if it takes `us` microseconds."""
        return self.flops / us * 1e-6, self.bytes / us * 1e-6


class Peaks(NamedTuple):
    """Work that a GPU does per second."""

    flops: float
    """float32 operations per second outside of tensor cores; a multiply-add is two."""
    bandwidth: float
    """Bytes per second to and from device memory."""
    tensor_flops: float
    """Operations per second on half types at the peak of tensor cores."""

    def floor_us(self, work: Work, *, allows_tf32: bool = False) -> float:
        """
        Return the minimum time, in microseconds, of kernels that do all multiplications of the
        work. `allows_tf32` is true if float32 operands may be cut to TF32.
        """
        on_tf32 = self.tensor_flops / 2 / (1 if allows_tf32 else SPLIT_TF32)
        return 1e6 * max(
            work.half_flops / self.tensor_flops,
            (work.flops - work.half_flops) / max(self.flops, on_tf32),
            work.bytes / self.bandwidth,
        )

    def least_us(self, work: Work) -> float:
        """
        Return the minimum time, in microseconds, of any kernels, even of those that save
        multiplications.
        """
        return 1e6 * max(work.flops / (TENSOR_CORES * self.flops), work.bytes / self.bandwidth)
