# SPDX-License-Identifier: Apache-2.0
"""
Tilings that the planner offers and chooses: every contraction has one, for any number of sums.
"""

import re

import hypothesis.strategies as st
import pytest
from draws import drawn
from hypothesis import given, settings

from tilewright.dialects import loop
from tilewright.dialects.matrix_instruction import MatrixInstruction
from tilewright.dialects.target import TARGETS, target
from tilewright.frontend.expression import parse_expression
from tilewright.interpreters.check import check_pass
from tilewright.passes.tile.planner.block_tiles import BLOCK_TILES
from tilewright.passes.tile.planner.contraction import Contraction, contraction_of
from tilewright.passes.tile.planner.plan_schedules import launched
from tilewright.passes.tile.planner.tiling_choice import fastest_tiling, tilings

from ..scheduled import loops_of, run


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("sums", [1, 7, 40])
def test_there_is_a_tiling(name: str, sums: int):
    problem = Contraction(batch=1, m=64, n=64, k=64, sums=sums, m_bytes=4, n_bytes=4 * sums)
    found = tilings(problem, target(name))
    assert found
    assert all(tiling.seconds(problem, target(name)) > 0 for tiling in found)


def test_more_sums_than_the_registers_of_a_large_tile():
    products = ["F.silu(x @ torch.randn(20, 18))"] * 7
    source = parse_expression(f"x = torch.randn(17, 20)\n{' + '.join(products)}", fake=True)
    module = loops_of(source)
    before = module.clone()
    run(module, "to-tile")
    assert check_pass(before, module, "to-tile").notes == ()


_sizes = st.sampled_from([1, 7, 16, 33, 64, 100, 129, 512, 1000, 4096, 5000])


@settings(max_examples=drawn(30))
@given(
    _sizes,
    _sizes,
    _sizes,
    st.integers(1, 40),
    st.integers(1, 9),
    st.sampled_from([None, MatrixInstruction.M16N8K16_BF16, MatrixInstruction.M16N8K8_TF32X3]),
    st.sampled_from(TARGETS),
)
def test_the_fastest_is_the_first(
    m: int, n: int, k: int, batch: int, sums: int, by: MatrixInstruction | None, name: str
):
    problem = Contraction(batch, m, n, k, sums, m_bytes=4, n_bytes=2 * sums, instruction=by)
    assert fastest_tiling(problem, target(name)) == tilings(problem, target(name))[0]


@pytest.mark.parametrize(("size", "is_matrix"), [(32, False), (128, False), (512, True)])
def test_small_products_of_float32_do_without_tensor_cores(size: int, is_matrix: bool):
    # 64 tiles of 16x16 leave SMs idle, as larger matrix tiles do
    split = MatrixInstruction.M16N8K8_TF32X3
    problem = Contraction(1, size, size, size, 1, m_bytes=4, n_bytes=4, instruction=split)
    assert fastest_tiling(problem, target("sm_90a")).tile.is_matrix == is_matrix


@pytest.mark.parametrize("name", TARGETS)
def test_no_more_blocks_are_asked_for_than_an_sm_has(name: str):
    gpu = target(name)
    problem = Contraction(batch=1, m=64, n=64, k=64, sums=1, m_bytes=4, n_bytes=4)
    for tiling in tilings(problem, gpu):
        steps = ",".join(tiling.pipeline(problem, gpu))
        (asked,) = [int(found) for found in re.findall(r"min_blocks=(\d+)", steps)]
        assert asked <= gpu.max_blocks_per_sm
        assert asked * tiling.tile.threads <= gpu.max_threads_per_sm


def test_rows_that_two_sums_share_are_one_operand():
    products = (
        "x = torch.randn(512, 256)\n"
        "F.silu(x @ torch.randn(256, 1024)) * (x @ torch.randn(256, 1024))"
    )
    module = loops_of(parse_expression(products, fake=True))
    kernel = next(op for op in module.ops if isinstance(op, loop.KernelOp))
    problem = contraction_of(launched(kernel)[1], target("sm_90a"))
    assert problem is not None
    assert (problem.sums, problem.m_operands, problem.n_operands) == (2, 1, 2)


def test_two_sums_of_a_thread_take_the_registers_of_twice_the_columns():
    two = Contraction(1, m=512, n=4096, k=2048, sums=2, m_bytes=4, n_bytes=8, n_operands=2)
    best = fastest_tiling(two, target("sm_90a"))
    (square,) = (tile for tile in BLOCK_TILES if tile.fm == tile.fn == 8)
    assert (best.tile.fm, 2 * best.tile.fn) == (8, 8)
    assert best.registers(two) == square.registers


def test_sums_that_share_rows_get_threads_with_more_rows():
    shared = Contraction(1, 32, 5632, 2048, 2, m_bytes=4, n_bytes=8, n_operands=2)
    best = fastest_tiling(shared, target("sm_90a")).tile
    assert best.fm > best.fn


@pytest.mark.one_in(8)
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("sums", [1, 2, 3, 4])
def test_a_thread_has_registers_for_the_sums_of_another_block(name: str, sums: int):
    problem = Contraction(1, 128, 5632, 2048, sums, m_bytes=4, n_bytes=4 * sums, n_operands=sums)
    split = [tiling for tiling in tilings(problem, target(name)) if tiling.split > 1]
    assert split
    assert all(2 * sums * t.tile.fm * t.tile.fn <= 255 for t in split)
