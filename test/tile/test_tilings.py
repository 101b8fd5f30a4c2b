# SPDX-License-Identifier: Apache-2.0
"""Every contraction can be tiled, however many sums an element joins."""

import re

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from tilewright.dialects.target import TARGETS, target
from tilewright.frontend.expression import parse_expression
from tilewright.interpreters.check import check_pass
from tilewright.passes.tile.contraction import Contraction
from tilewright.passes.tile.tilings import fastest_tiling, tilings

from .scheduled import loops_of, run


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


@settings(max_examples=30)
@given(_sizes, _sizes, _sizes, st.integers(1, 40), st.integers(1, 9), st.sampled_from(TARGETS))
def test_the_fastest_is_the_first(m: int, n: int, k: int, batch: int, sums: int, name: str):
    problem = Contraction(batch, m, n, k, sums, m_bytes=4, n_bytes=2 * sums)
    assert fastest_tiling(problem, target(name)) == tilings(problem, target(name))[0]


@pytest.mark.parametrize("name", TARGETS)
def test_no_more_blocks_are_asked_for_than_an_sm_has(name: str):
    gpu = target(name)
    problem = Contraction(batch=1, m=64, n=64, k=64, sums=1, m_bytes=4, n_bytes=4)
    for tiling in tilings(problem, gpu):
        steps = ",".join(tiling.pipeline(problem, gpu))
        (asked,) = [int(found) for found in re.findall(r"min_blocks=(\d+)", steps)]
        assert asked <= gpu.max_blocks_per_sm
        assert asked * tiling.tile.threads <= gpu.max_threads_per_sm
