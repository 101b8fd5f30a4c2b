# SPDX-License-Identifier: Apache-2.0
"""
Modelled times of tilings, compared with times measured on a GPU (`benchmarks/results/nvidia-h200`).
"""

import json
from math import exp, log
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, NamedTuple

import pytest

from tilewright.dialects.target import target
from tilewright.dialects.tile import Join
from tilewright.passes.tile.planner.block_tiles import BLOCK_TILES, BlockTile
from tilewright.passes.tile.planner.contraction import Contraction
from tilewright.passes.tile.planner.tiling import Tiling
from tilewright.passes.tile.planner.tiling_choice import fastest_tiling

RESULTS = Path(__file__).parents[4] / "benchmarks" / "results" / "nvidia-h200" / "tilings.json"
H100 = target("sm_90a")  # its multiprocessors equal those of the H200, at the same speed
PROBLEMS = {
    "matmul.tinyllama.q_proj.s512": Contraction(1, 512, 2048, 2048, 1, 4, 4),
    "matmul.tinyllama.gate_proj.s128": Contraction(1, 128, 5632, 2048, 1, 4, 4),
}
TILE = {(tile.m, tile.n, tile.fm, tile.fn): tile for tile in BLOCK_TILES}


class Measured(NamedTuple):
    """Tiling with its measured time `us` and its modelled time `by_model`, both in microseconds."""

    tiling: Tiling
    us: float
    by_model: float


def measured(case: str) -> list[Measured]:
    """
    Return the measured tilings of `case` with asynchronous copies. Tilings with TMA are excluded:
    they were measured with a different wait.
    """
    rows: list[dict[str, Any]] = json.loads(RESULTS.read_text())["cases"][case]
    found = [(_tiling(row), row["us"]) for row in rows if row["copies"] == "async"]
    problem = PROBLEMS[case]
    return [Measured(each, us, 1e6 * each.seconds(problem, H100)) for each, us in found]


def _tiling(row: dict[str, Any]) -> Tiling:
    m, n, fm, fn = row["tile"]
    tile: BlockTile = TILE[m, n, fm, fn]
    join = Join.LAST_BLOCK if row["join"] is None else Join(row["join"])
    return Tiling(tile, row["bk"], row["split"], 3, join)


@pytest.mark.parametrize("case", PROBLEMS)
def test_the_model_fits(case: str):
    ratios = [log(each.us / each.by_model) for each in measured(case)]
    assert len(ratios) > 40
    assert 0.95 < exp(fmean(ratios)) < 1.05
    assert pstdev(ratios) < 0.06


@pytest.mark.parametrize("case", PROBLEMS)
def test_the_modelled_best_is_among_the_measured_best(case: str):
    rows = measured(case)
    chosen = min(rows, key=lambda each: each.by_model)
    assert chosen.us < 1.1 * min(each.us for each in rows)


def test_clusters_that_do_not_fit_at_once_are_not_chosen():
    """132 blocks in clusters of three took two rounds on the GPU; the planner once chose them."""
    tiling = fastest_tiling(PROBLEMS["matmul.tinyllama.gate_proj.s128"], H100)
    assert (tiling.split, tiling.join) == (3, Join.LAST_BLOCK)
