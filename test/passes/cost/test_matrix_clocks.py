# SPDX-License-Identifier: Apache-2.0
"""Time model of a main loop on tensor cores, compared with arithmetic by hand."""

import pytest

from tilewright.dialects.matrix_instruction import MatrixInstruction
from tilewright.dialects.target import target
from tilewright.passes.cost.matrix_clocks import WarpTile, matrix_clocks

BF16, TF32X3 = MatrixInstruction.M16N8K16_BF16, MatrixInstruction.M16N8K8_TF32X3


@pytest.mark.parametrize(
    ("tile", "instructions", "registers"),
    [
        (WarpTile(64, 32, 64, BF16), 64, 96),  # 4 * 4 * 4; 4 * (4 * 4 + 4 * 2)
        (WarpTile(64, 64, 64, BF16), 128, 128),
        (WarpTile(16, 8, 16, BF16), 1, 6),
        (WarpTile(17, 8, 16, BF16), 2, 10),  # a partial fragment
        (WarpTile(64, 32, 32, MatrixInstruction.M16N8K8_TF32), 64, 96),
        (WarpTile(64, 32, 32, TF32X3), 192, 96),
    ],
)
def test_work_of_a_warp(tile: WarpTile, instructions: int, registers: int):
    assert (tile.instructions, tile.loaded_registers) == (instructions, registers)


@pytest.mark.parametrize(
    ("tile", "warps", "name", "clocks", "share"),
    [
        # 128x128x64 by eight warps: 2 * 64 * 6; 8 * 96; 2 * (64 + 24)
        (WarpTile(64, 32, 64, BF16), 8, "sm_90a", (768, 768, 176, 0), 1),
        (WarpTile(64, 32, 64, BF16), 8, "sm_80", (1024, 768, 176, 0), 1),
        (WarpTile(64, 32, 64, BF16), 8, "sm_120", (4096, 768, 176, 0), 1),
        # 128x64x64 by eight warps of 32x32: 2 * 32 * 6; 8 * 64; 2 * (32 + 16)
        (WarpTile(32, 32, 64, BF16), 8, "sm_90a", (384, 512, 96, 0), 0.75),
        # 128x128x64 by four warps of 64x64: 128 * 6; 4 * 128; 128 + 32
        (WarpTile(64, 64, 64, BF16), 4, "sm_90a", (768, 512, 160, 0), 1),
        # five warps: one scheduler has two of them
        (WarpTile(64, 64, 64, BF16), 5, "sm_90a", (1536, 640, 320, 0), 1),
        # float32 by three products on tf32: 2 * 192 * 6; 8 * 96; 2 * (192 + 24 + 96 * 4 + 128 * 4)
        (WarpTile(64, 32, 32, TF32X3), 8, "sm_90a", (2304, 768, 2224, 1600), 1),
    ],
)
def test_clocks_of_an_sm(
    tile: WarpTile, warps: int, name: str, clocks: tuple[float, ...], share: float
):
    found = matrix_clocks(tile, warps, target(name))
    assert found == clocks
    assert found.total == max(clocks)
    assert found.share == share


def test_splitting_float32_is_issued_too():
    tile = WarpTile(64, 32, 16, MatrixInstruction.M16N8K8_TF32X3)
    found = matrix_clocks(tile, 4, target("sm_90a"))
    split, added = (64 + 32) * 16 // 32 * 4, 64 * 32 // 32 * 4
    assert found.issue == 3 * 4 * 4 * 2 + 12 + split + added
    assert found.tensor == 3 * 4 * 4 * 2 * 6
