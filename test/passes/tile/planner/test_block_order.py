# SPDX-License-Identifier: Apache-2.0
"""Bytes that concurrent blocks read, counted block by block, and the planner's order of blocks."""

from dataclasses import replace
from itertools import product

import pytest

from tilewright.dialects.matrix_instruction import MatrixInstruction
from tilewright.dialects.target import TARGETS, target
from tilewright.passes.tile.planner.block_order import BlockOrder, kept_bytes
from tilewright.passes.tile.planner.contraction import Contraction
from tilewright.passes.tile.planner.tiling_choice import fastest_tiling

SMALL = replace(target("sm_90a"), l2_size=2)  # nothing stays
H100 = target("sm_90a")
BF16 = MatrixInstruction.M16N8K16_BF16


def square(size: int) -> Contraction:
    """Return a product of two square matrices of bfloat16."""
    return Contraction(1, size, size, size, 1, m_bytes=2, n_bytes=2, instruction=BF16)


def counted(order: BlockOrder, raster: int) -> float:
    """Return the bytes that rounds of blocks in launch order read, each its own panels."""
    groups = range(order.rows // raster)
    grid = product(groups, range(order.columns), range(raster))
    places = [(group * raster + row, column) for group, column, row in grid]
    read = 0.0
    for first in range(0, len(places), order.at_once):
        running = places[first : first + order.at_once]
        rows, columns = ({place[side] for place in running} for side in (0, 1))
        read += len(rows) * order.row_bytes + len(columns) * order.column_bytes
    return read


@pytest.mark.parametrize("raster", [1, 2, 4])
@pytest.mark.parametrize("at_once", [4, 8, 16, 32, 64])
def test_rounds_that_fill_rows_read_what_is_counted(raster: int, at_once: int):
    order = BlockOrder(8, 8, 3.0, 5.0, at_once, blocks=64)
    assert order.read_bytes(raster, SMALL) == counted(order, raster)


def test_an_operand_that_stays_in_l2_is_read_once():
    gpu = replace(H100, l2_size=2 * 70)
    assert kept_bytes(gpu) == 70
    order = BlockOrder(rows=64, columns=4, row_bytes=10.0, column_bytes=8.0, at_once=8, blocks=256)
    assert order.read_bytes(1, gpu) == 64 * 10 + 4 * 8
    # a round of one row more leaves no room for the 4 columns
    assert order._replace(at_once=16).read_bytes(1, gpu) == 64 * 10 + 16 * 4 * 8


@pytest.mark.parametrize("rows", [1, 3, 6, 8, 16, 96])
@pytest.mark.parametrize("column_bytes", [1.0, 7.0, 900.0])
def test_the_best_raster_reads_least(rows: int, column_bytes: float):
    order = BlockOrder(rows, 64, 7.0, column_bytes, at_once=132, blocks=64 * rows)
    possible = [raster for raster in (1, 2, 4, 8, 16) if rows % raster == 0]
    least = min(possible, key=lambda raster: order.read_bytes(raster, SMALL))
    assert order.best_raster(SMALL) == least


@pytest.mark.parametrize("name", TARGETS)
def test_products_whose_operands_stay_in_l2_are_not_grouped(name: str):
    problem = square(512)
    tiling = fastest_tiling(problem, target(name))
    assert tiling.raster == 1
    assert "raster" not in ",".join(tiling.pipeline(problem, target(name)))


def test_a_large_product_is_grouped_if_memory_limits_it():
    problem, slow = square(8192), replace(H100, bandwidth=0.5e12)
    assert fastest_tiling(problem, H100).raster == 1  # tensor cores take longer than its reads
    tiling = fastest_tiling(problem, slow)
    assert tiling.raster > 1
    tile = f"blockify-launch{{m={tiling.tile.m} n={tiling.tile.n} raster={tiling.raster}}}"
    assert tile in tiling.pipeline(problem, slow)
    assert str(tiling).endswith(f", blocks in groups of {tiling.raster} rows")
    in_rows = tiling._replace(raster=1)
    assert tiling.seconds(problem, slow) < 0.9 * in_rows.seconds(problem, slow)


def test_rows_that_read_the_same_weights_run_together():
    # 128x18944x3584: without groups, the second row of blocks reads all weights again
    problem = Contraction(1, 128, 18944, 3584, 1, m_bytes=2, n_bytes=2, instruction=BF16)
    tiling = fastest_tiling(problem, target("sm_120"))
    rows = 128 // tiling.tile.m
    assert tiling.raster == rows
