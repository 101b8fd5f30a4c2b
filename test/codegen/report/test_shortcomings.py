# SPDX-License-Identifier: Apache-2.0
"""Shortcomings that the report lists for a kernel."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from tilewright.codegen.launch_plan import Launch
from tilewright.codegen.report.evidence import KernelEvidence, MainLoop
from tilewright.codegen.report.instruction import Category
from tilewright.codegen.report.instruction_mix import InstructionMix
from tilewright.codegen.report.matrix_shape import MatrixShape
from tilewright.codegen.report.occupancy import occupancy
from tilewright.codegen.report.resources import Resources
from tilewright.codegen.report.shortcomings import (
    FFMA_SHARES,
    Tile,
    expected_share,
    shortcomings,
    wide_share,
)
from tilewright.codegen.report.traffic import Traffic
from tilewright.dialects.target import target

_H100 = target("sm_90a")

_PRODUCT = KernelEvidence(
    Launch("k", 264, 128, 0, (0,), (1,)),
    launches=1,
    target=_H100,
    language="SASS",
    resources=Resources(96, 0, 0, 0, 0, 0),
    shared_bytes=0,
    occupancy=occupancy(_H100, 128, 0, 96),
    mix=InstructionMix({}, {}),
    loop=None,
    traffic=Traffic("buffers", 4096),
    roofline_seconds=None,
    estimate=None,
)


def _with_loop(**counts: int) -> KernelEvidence:
    mix = InstructionMix({Category[name]: n for name, n in counts.items()}, {})
    return replace(_PRODUCT, loop=MainLoop(0, mix))


def test_a_product_has_the_share_of_its_tile():
    assert not list(shortcomings(_with_loop(FFMA=85, LDS=15), Tile(64, 64)))
    found = list(shortcomings(_with_loop(FFMA=84, LDS=16), Tile(64, 64)))
    assert found == ["FFMA share 0.84 of 0.85"]


def test_a_product_on_tensor_cores_needs_no_multiply_adds():
    found = _with_loop(HMMA=64, LDSM=24, INTEGER=100)
    assert found.loop is not None
    mix = replace(found.loop.mix, matrices={MatrixShape(16, 8, 16, 16): 64})
    assert not list(shortcomings(replace(found, loop=MainLoop(0, mix)), Tile(128, 128)))


def test_computing_operands_lowers_the_expected_share():
    loop = _with_loop(FFMA=75, FLOAT=6, SPECIAL=4, LDS=15)
    assert list(shortcomings(loop, Tile(64, 64))) == ["FFMA share 0.75 of 0.85"]
    assert list(shortcomings(loop, Tile(64, 64, computes=True))) == ["FFMA share 0.75 of 0.77"]


def test_tiles_that_compute_their_operands_have_lower_shares():
    tiles = [Tile(rows, columns, computes=True) for rows, columns in FFMA_SHARES]
    assert [expected_share(tile) for tile in tiles] == [0.81, 0.77, 0.75]
    assert not list(shortcomings(_with_loop(FFMA=77, LDS=23), Tile(64, 64, computes=True)))


def test_other_tiles_have_no_share():
    for computes in (False, True):
        assert not list(shortcomings(_with_loop(FFMA=1, LDS=99), Tile(16, 16, computes)))


def _scheduled(schedule: str, grid: int) -> KernelEvidence:
    return replace(_PRODUCT, launch=replace(_PRODUCT.launch, grid=grid, schedule=schedule))


def _tile(m: int, n: int) -> str:
    return f"tileify,blockify-launch{{m={m} n={n}}},mark-unroll{{limit=16}}"


@pytest.mark.parametrize(
    ("schedule", "grid", "falls_short"),
    [
        (_tile(32, 32), 32, True),  # each of a block's four warps could be a block
        (_tile(16, 16), 128, False),  # one warp per block: no further blocks are possible
        (_tile(16, 32), 120, True),
        (_tile(128, 128), 132, False),
        ("tileify,cooperative-reduce{threads=2048 rows=1 row=registers}", 32, False),
        ("tileify,cooperative-reduce{threads=128 rows=2 row=registers}", 32, True),
        ("tileify,cooperative-reduce{threads=32 rows=8 columns=true row=stage}", 32, False),
        ("tileify,cooperative-reduce{threads=32 rows=32 columns=true row=stage}", 32, True),
        ("tileify,blockify-launch{n=1024}", 40, True),
        ("tileify,blockify-launch{n=128}", 40, False),
        ("", 40, False),
    ],
)
def test_blocks_for_every_sm_where_there_is_work_for_them(
    schedule: str, grid: int, falls_short: bool
):
    found = list(shortcomings(_scheduled(schedule, grid), None))
    assert found == ([f"{grid} blocks for 132 SMs"] if falls_short else [])


WIDE, NARROW = (Category.LDGSTS, 128), (Category.STG, 32)


@pytest.mark.parametrize(
    ("accesses", "copied", "expected"),
    [
        ({}, 0, None),
        ({WIDE: 1}, 0, 1),
        ({WIDE: 1, NARROW: 4}, 0, 0.5),
        ({NARROW: 4}, 0, 0),
        ({NARROW: 4}, 3 * 16 * 128, 0.75),  # 128 threads store 16 bytes each
        ({}, 4096, 1),
    ],
)
def test_wide_accesses_are_those_of_16_bytes_and_copied_boxes(
    accesses: Mapping[tuple[Category, int], int], copied: float, expected: float | None
):
    kernel = replace(_PRODUCT, mix=InstructionMix({}, accesses), copied_bytes=copied)
    assert wide_share(kernel) == expected
