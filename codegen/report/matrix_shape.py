# SPDX-License-Identifier: Apache-2.0
"""
Sizes of the product that one matrix instruction of a tensor core does, from its opcode.

| language | opcode                                               | m, n, k     | element | warps |
|----------|------------------------------------------------------|-------------|---------|-------|
| SASS     | `HMMA.16816.F32.BF16`                                | 16, 8, 16   | 16 bits | 1     |
| SASS     | `HMMA.1688.F32.TF32`                                 | 16, 8, 8    | 32 bits | 1     |
| SASS     | `HGMMA.64x128x16.F32.BF16`                           | 64, 128, 16 | 16 bits | 4     |
| PTX      | `mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32`  | 16, 8, 16   | 16 bits | 1     |
| PTX      | `wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32` | 64, 64, 8   | 32 bits | 4     |

Reference: PTX ISA, "Matrix multiply-accumulate operation using mma" and "Asynchronous warpgroup
level matrix instructions".
"""

import re
from functools import lru_cache
from typing import NamedTuple

from tilewright.dialects.target import MMA_FLOPS, WARP_SIZE

_SASS = re.compile(
    r"HMMA\.(?P<m>16)(?P<n>8)(?P<k>16|8|4)\.(?P<types>.*)"
    r"|HGMMA\.(?P<gm>64)x(?P<gn>\d+)x(?P<gk>\d+)\.(?P<gtypes>.*)"
)
_PTX = re.compile(
    r"mma\.sync\.aligned\.m(?P<m>16)n(?P<n>8)k(?P<k>\d+)\.row\.col\.(?P<types>.*)"
    r"|wgmma\.mma_async\.sync\.aligned\.m(?P<gm>64)n(?P<gn>\d+)k(?P<gk>\d+)\.(?P<gtypes>.*)"
)
_TYPES = re.compile(r"(?P<sums>f32|f16)(\.(?P<element>tf32|bf16|f16)(\.\w+)*)?")

_GROUP_WARPS = 4
_HALF_BITS = 16
_TF32_BITS = 32


class MatrixShape(NamedTuple):
    """Sizes of the product A * B (m x k and k x n) that one matrix instruction adds to its sums."""

    m: int
    n: int
    k: int
    bits: int
    """Bits of an element of A or B."""
    sum_bits: int = 32
    """Bits of a sum."""
    warps: int = 1
    """Number of warps that execute the instruction together: 1 by `mma.sync`, 4 by `wgmma`."""

    @property
    def flops(self) -> float:
        """Operations of a thread; a multiply-add counts as two."""
        return 2 * self.m * self.n * self.k / (self.warps * WARP_SIZE)

    @property
    def mma_count(self) -> float:
        """
        Number of `mma.sync` m16n8k16 on half types that take as long as a warp's share of the
        instruction. The time is proportional to the products and to the bits of an element.
        """
        return WARP_SIZE * self.flops * self.bits / (MMA_FLOPS * _HALF_BITS)

    @property
    def sum_registers(self) -> int:
        """Registers of a thread that hold its sums."""
        return self.m * self.n * self.sum_bits // (32 * self.warps * WARP_SIZE)


@lru_cache(maxsize=1 << 10)
def shape_in_sass(opcode: str) -> MatrixShape | None:
    """
    Return the sizes in a SASS opcode; None for other instructions, and for other element types than
    half types and tf32.
    """
    return _shape(_SASS.fullmatch(opcode), "f16")


def shape_in_ptx(opcode: str) -> MatrixShape | None:
    """
    Return the sizes in a PTX opcode; None for other instructions, and for other element types than
    half types and tf32.
    """
    return _shape(_PTX.fullmatch(opcode), "")


def _shape(found: re.Match[str] | None, default: str) -> MatrixShape | None:
    """
    Return the sizes that an opcode names; `default` is the type of its elements if it names none.
    """
    if found is None:
        return None
    prefix = "g" if found["gm"] else ""
    types = _TYPES.fullmatch(found[f"{prefix}types"].lower())
    element = (types["element"] or default) if types else ""
    if types is None or not element:
        return None
    return MatrixShape(
        *(int(found[f"{prefix}{axis}"]) for axis in "mnk"),
        bits=_TF32_BITS if element == "tf32" else _HALF_BITS,
        sum_bits=int(types["sums"][1:]),
        warps=_GROUP_WARPS if prefix else 1,
    )
