# SPDX-License-Identifier: Apache-2.0
"""Comparison of the clock with measured times: data sets, halves, fits and statistics of errors."""

from pathlib import Path

import clock_error
import clock_rows
import numpy as np
import pytest

GEMM = """op,gpu,batch,m,n,k,ms,kernel,grid,block
bmm,h100-sxm,32,64,512,512,0.049013,sm80_xmma_gemm_tilesize64x64x8_stage3_ffma,1x8x32,128
bmm,h100-sxm,2,128,64,512,0.05,sm80_xmma_gemm_tilesize64x128x8_stage3_ffma,1x1x2,128
linear,a100-pcie-80gb,1,1024,2560,2560,0.7805,ampere_sgemm_128x64_tn,20x16x1,128
bmm,h100-sxm,96,128,196,196,0.05,sm80_xmma_gemm_tilesize256x64x8_stage3_ffma,1x3x96,128
bmm,h100-sxm,1,64,64,64,0.05,sm80_xmma_gemm_tilesize64x64x8_stage3_ffma,1x1x4,128
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "gemm-fp32.csv").write_text(GEMM)
    return tmp_path


def test_products_with_a_tile_that_we_have_and_its_grid_are_compared(folder: Path):
    found = list(clock_rows.sgemm(folder))
    # the fourth has a tile that is not ours, the fifth a grid that splits k
    assert [row.name for row in found] == [
        "bmm.32x64x512x512",
        "bmm.2x128x64x512",
        "linear.1x1024x2560x2560",
    ]
    assert [(row.tile["m"], row.tile["n"]) for row in found] == [(64, 64), (128, 64), (64, 128)]
    assert found[2].tile["blocks"] == 320
    assert found[0].seconds == 49.013e-6


def test_a_row_has_the_times_of_both_models(folder: Path):
    row = clock_error.compared(next(clock_rows.sgemm(folder)))
    assert row["us"] == pytest.approx(49.013)
    assert 20 < row["estimate_us"] < 100
    assert 20 < row["clock_us"] < 100


def test_rows_are_taken_once_and_in_a_fixed_order(folder: Path, monkeypatch: pytest.MonkeyPatch):
    def named(measured: clock_rows.MeasuredTime) -> clock_error.Row:
        return {"name": measured.name, "device": measured.device}

    monkeypatch.setattr(clock_error, "compared", named)
    first = list(clock_error.slice_of("sgemm", folder, [], 2))
    rest = list(clock_error.slice_of("sgemm", folder, first, 2))
    assert len(first) == 2
    assert len(rest) == 1
    assert [*first, *rest] == list(clock_error.slice_of("sgemm", folder, [], 9))


def test_regret_is_how_much_slower_the_first_choice_is():
    names = ["mm.s8.64x64.8x4", "mm.s8.64x32.4x4", "mm.s8.32x32.2x4", "mm.s9.32x32.2x4", "norm.s8"]
    models = [(5.0, 1.0, 3.0), (4.0, 2.0, 2.0), (6.0, 3.0, 1.0), (1.0, 1.0, 1.0), (1.0, 1.0, 1.0)]
    rows = [
        {"name": name, "us": us, "estimate_us": estimate, "clock_us": clock}
        for name, (us, estimate, clock) in zip(names, models, strict=True)
    ]
    assert clock_error.regrets(rows) == {"mm.s8": {"estimate": 0.25, "clock": 0.5}}


def test_errors_are_relative():
    found = clock_error.errors_of(np.array([1.0, 2.0, 4.0]), np.array([1.1, 1.8, 4.0]))
    assert found["mean"] == pytest.approx(0.2 / 3, abs=1e-4)
    assert found["median"] == pytest.approx(0.1)
    assert found["rank"] == 1


def test_ranks_of_opposite_orders_have_correlation_minus_one():
    one = np.array([1.0, 2.0, 3.0, 9.0])
    assert clock_error.rank_correlation(one, -one) == pytest.approx(-1)


def test_equal_times_have_the_mean_of_their_ranks():
    one = np.array([1.0, 2.0, 2.0, 2.0, 9.0])
    # ranks 0, 2, 2, 2, 4 against 0, 1, 2, 3, 4: the order of equal times makes no difference
    for other in ([1.0, 2.0, 3.0, 4.0, 9.0], [1.0, 4.0, 3.0, 2.0, 9.0]):
        assert clock_error.rank_correlation(one, np.array(other)) == pytest.approx(0.8**0.5)


def test_a_fit_finds_a_constant_and_a_factor():
    models = np.array([[1.0, 10.0], [1.0, 20.0], [1.0, 50.0]])
    assert clock_error.fitted(models, models @ [3.0, 1.5]) == pytest.approx([3.0, 1.5])


def test_constants_are_fitted_on_one_half_and_tested_on_the_other():
    rows: list[clock_error.Row] = [
        {
            "name": f"row{n}",
            "device": "h100-sxm",
            "us": 50 + 3.0 * n,
            "estimate_us": 1.0 * n + 1,
            "clock_us": 1.5 * n + 1,
        }
        for n in range(40)
    ]
    found = clock_error.summary(rows, {})
    halves = [sum(clock_error.half_of(row["name"]) == half for row in rows) for half in (0, 1)]
    assert min(halves) > 10
    assert found["clock"]["all"]["rows"] == 40
    assert found["clock fitted"]["all"]["rows"] == halves[1]
    assert found["clock fitted"]["all"]["mean"] == pytest.approx(0, abs=1e-6)
    assert found["clock fitted"]["constants"] == pytest.approx([48, 2])


def test_waves_of_blocks_explain_times_that_are_waves(folder: Path):
    (row, *_) = clock_rows.sgemm(folder)
    made = [
        row._replace(
            name=f"row{n}",
            tile={"m": 64, "n": 64, "k": 64.0 * (n % 7 + 1), "blocks": 132.0 * (n % 5 + 1)},
            seconds=(5 + (n % 5 + 1) * (n % 7 + 1) * 2) / 1e6,
        )
        for n in range(60)
    ]
    modelled = clock_error.by_waves(made)
    for each in made:
        assert modelled[each.name] == pytest.approx(1e6 * each.seconds, rel=1e-6)
