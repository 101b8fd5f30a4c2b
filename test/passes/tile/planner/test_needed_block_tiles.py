# SPDX-License-Identifier: Apache-2.0
"""
Number of block tiles that must be computed. A tile is needed if each condition holds for some
element of it.
"""

from itertools import product

import hypothesis.strategies as st
from draws import drawn
from hypothesis import given, settings

from tilewright.dialects.target import target
from tilewright.passes.tile.planner.block_tiles import BLOCK_TILES
from tilewright.passes.tile.planner.contraction import Contraction
from tilewright.passes.tile.planner.needed_block_tiles import Diagonal, needed_block_tiles
from tilewright.passes.tile.planner.tiling import Tiling
from tilewright.passes.tile.planner.tiling_choice import fastest_tiling, tilings

_factor, _size, _side = st.integers(-2, 2), st.integers(1, 40), st.sampled_from([1, 3, 8, 16])
_diagonal = st.builds(Diagonal, _factor, _factor, st.integers(-40, 40))
CAUSAL = Diagonal(1, -1, 0)


@settings(max_examples=drawn(100))
@given(st.lists(_diagonal, min_size=1, max_size=2), _size, _size, _side, _side)
def test_each_condition_holds_somewhere(
    diagonals: list[Diagonal], rows: int, columns: int, m: int, n: int
):
    def holds(diagonal: Diagonal, first_row: int, first_column: int) -> bool:
        tile = product(range(first_row, first_row + m), range(first_column, first_column + n))
        return any(diagonal.m * i + diagonal.n * j + diagonal.constant >= 0 for i, j in tile)

    corners = product(range(0, rows, m), range(0, columns, n))
    expected = sum(all(holds(d, *corner) for d in diagonals) for corner in corners)
    assert needed_block_tiles(tuple(diagonals), (rows, columns), (m, n)) == expected


def test_many_rows_are_sampled():
    rows, causal = 1 << 40, (CAUSAL,)
    found = needed_block_tiles(causal, (rows, rows), (1 << 12, 1 << 12))
    exact = 2**28 * (2**28 + 1) // 2
    assert abs(found / exact - 1) < 1e-3


def test_half_of_the_scores_takes_little_more_than_half_the_time():
    gpu = target("sm_90a")
    scores = Contraction(batch=64, m=2048, n=2048, k=128, sums=1, m_bytes=4, n_bytes=4)
    causal = scores._replace(diagonals=(CAUSAL,))
    times = [fastest_tiling(it, gpu).seconds(it, gpu) for it in (scores, causal)]
    assert 0.5 < times[1] / times[0] < 0.56
    assert fastest_tiling(causal, gpu) == tilings(causal, gpu)[0]


def test_blocks_that_an_sm_begins_with_may_all_be_needed():
    gpu = target("sm_90a")
    scores = Contraction(batch=1, m=512, n=512, k=64, sums=1, m_bytes=4, n_bytes=4)
    causal = scores._replace(diagonals=(CAUSAL,))
    (square,) = (tile for tile in BLOCK_TILES if tile.fm == tile.fn == 8)
    tiling = Tiling(square, bk=16, split=1, depth=2)
    assert tiling.needed_blocks(causal) < tiling.blocks(causal) <= gpu.sms
    assert tiling.seconds(causal, gpu) == tiling.seconds(scores, gpu)
