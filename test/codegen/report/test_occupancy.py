# SPDX-License-Identifier: Apache-2.0
"""Occupancy, with the results of CUDA's occupancy calculator."""

import pytest

from tilewright.codegen.report.occupancy import occupancy
from tilewright.dialects.target import target

_KIB = 1024


@pytest.mark.parametrize(
    ("name", "threads", "shared", "registers", "blocks", "limiters"),
    [
        ("sm_80", 256, 0, 32, 8, ("registers", "warps")),
        ("sm_80", 256, 0, 64, 4, ("registers",)),
        ("sm_80", 128, 32 * _KIB, 32, 4, ("shared memory",)),  # 33 KiB each of 164
        ("sm_80", 32, 0, 16, 32, ("blocks",)),
        ("sm_86", 256, 0, 32, 6, ("warps",)),  # 48 warps
        ("sm_86", 64, 0, 24, 16, ("blocks",)),
        ("sm_89", 1024, 0, 32, 1, ("warps",)),  # the second would be warps 33 to 64 of 48
        ("sm_89", 128, 49 * _KIB, 32, 2, ("shared memory",)),
        ("sm_90a", 256, 32 * _KIB, 128, 2, ("registers",)),
        ("sm_90a", 256, 113 * _KIB, 64, 2, ("shared memory",)),
        ("sm_90a", 256, 113 * _KIB + 1, 64, 1, ("shared memory",)),
        ("sm_90a", 1024, 0, 32, 2, ("registers", "warps")),
        ("sm_100a", 384, 0, 168, 1, ("registers",)),
        ("sm_120", 192, 0, 40, 8, ("registers", "warps")),
    ],
)
def test_blocks_and_their_limits(
    name: str, threads: int, shared: int, registers: int, blocks: int, limiters: tuple[str, ...]
):
    found = occupancy(target(name), threads, shared, registers)
    assert (found.blocks, found.limiters) == (blocks, limiters)


def test_barriers_that_a_block_takes():
    """
    A block reserves all sixteen barriers if a barrier's id is no constant: 4 blocks per SM on H100.
    """
    found = occupancy(target("sm_90a"), 128, 0, 32, barriers=16)
    assert (found.blocks, found.limiters) == (4, ("barriers",))


def test_warps_and_their_share():
    found = occupancy(target("sm_90a"), 100, 0, 255)  # a block of four warps
    assert (found.blocks, found.warps, found.max_warps, found.share) == (2, 8, 64, 0.125)


@pytest.mark.parametrize(
    ("threads", "shared", "registers", "limiter"),
    [
        (1025, 0, 16, "warps"),
        (1024, 0, 65, "registers"),
        (128, 228 * _KIB, 16, "shared memory"),
    ],
)
def test_a_block_that_cannot_run(threads: int, shared: int, registers: int, limiter: str):
    found = occupancy(target("sm_90a"), threads, shared, registers)
    assert (found.blocks, found.share, found.limiters) == (0, 0.0, (limiter,))
