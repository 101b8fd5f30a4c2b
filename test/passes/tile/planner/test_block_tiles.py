# SPDX-License-Identifier: Apache-2.0
"""Tiles with 8x16 elements a thread: chosen for large float32 products, without spills."""

import pytest
import torch
from needs import needs_nvrtc

from tilewright.codegen.report import report_of
from tilewright.dialects.matrix_instruction import MatrixInstruction
from tilewright.dialects.target import target
from tilewright.frontend.expression import parse_expression
from tilewright.passes.tile.planner.block_tiles import BLOCK_TILES, BlockTile
from tilewright.passes.tile.planner.contraction import Contraction
from tilewright.passes.tile.planner.tiling import Tiling
from tilewright.passes.tile.planner.tiling_choice import fastest_tiling

from ..scheduled import loops_of, run, simulate

LARGE = [tile for tile in BLOCK_TILES if tile.fm * tile.fn == 128]
A6000 = target("sm_86")


def float32(m: int, n: int, k: int) -> Contraction:
    """Return a product of float32 matrices, for which three products of TF32 are possible."""
    by = MatrixInstruction.M16N8K8_TF32X3
    return Contraction(1, m, n, k, 1, m_bytes=4, n_bytes=4, instruction=by)


def schedule(tile: BlockTile, problem: Contraction) -> str:
    """Return the planner's schedule with this tile."""
    return ",".join(["tileify", *Tiling(tile, 16, 1, 3).pipeline(problem, A6000)])


def test_a_large_product_of_float32_gets_the_largest_tile():
    assert [(tile.m, tile.n) for tile in LARGE] == [(128, 256), (256, 128)]
    assert fastest_tiling(float32(8192, 8192, 8192), A6000).tile in LARGE
    assert fastest_tiling(float32(512, 512, 512), A6000).tile not in LARGE


@pytest.mark.one_in(2)
@needs_nvrtc
@pytest.mark.parametrize("tile", LARGE, ids=["wide", "tall"])
def test_a_thread_has_registers_for_128_sums(tile: BlockTile):
    # no size is a multiple of a tile
    source = parse_expression("torch.randn(515, 1021) @ torch.randn(1021, 770)", fake=True)
    module = loops_of(source)
    run(module, schedule(tile, float32(515, 770, 1021)))
    (kernel,) = report_of(module, A6000).kernels
    assert not kernel.resources.spills
    assert kernel.resources.registers <= tile.registers
    assert kernel.occupancy.blocks == 1


@needs_nvrtc
def test_a_thread_adds_128_sums_right():
    source = parse_expression("torch.randn(130, 50) @ torch.randn(50, 261)")
    result = simulate(loops_of(source), schedule(LARGE[0], float32(130, 261, 50)), source.args)
    torch.testing.assert_close(result, source.module(*source.args), rtol=1e-5, atol=1e-4)


def test_sums_of_two_products_do_not_fit():
    problem = float32(8192, 8192, 4096)._replace(sums=2, n_operands=2, instruction=None)
    assert not Tiling(LARGE[0], 16, 1, 3).fits(problem, A6000)
    assert not Tiling(LARGE[0], 16, 2, 3).fits(problem._replace(sums=1), A6000)
