# SPDX-License-Identifier: Apache-2.0
"""Tilings of attention that the planner offers and chooses."""

import hypothesis.strategies as st
import pytest
import torch
from draws import drawn
from hypothesis import given, settings

from tilewright import api
from tilewright.dialects import loop
from tilewright.dialects.matrix_instruction import MatrixInstruction
from tilewright.dialects.target import TARGETS, target
from tilewright.frontend.expression import parse_expression
from tilewright.passes.tile.planner.attention import Attention, attention_of
from tilewright.passes.tile.planner.attention_choice import MOST_COLUMNS, attention_tilings
from tilewright.passes.tile.planner.plan_schedules import launched, weighed

from ..scheduled import loops_of

HALVES, SPLIT = MatrixInstruction.M16N8K16_BF16, MatrixInstruction.M16N8K8_TF32X3
H100 = target("sm_90a")

_sizes = st.sampled_from([1, 2, 7, 16, 33, 64, 100, 129, 512, 4096])


@settings(max_examples=drawn(30))
@given(
    st.integers(1, 70),
    _sizes,
    st.sampled_from([1, 8, 40, 64, 128, 256, 257, 300, 1000]),
    _sizes,
    st.sampled_from([0, 8, 40, 64, 128, 256, 1030]),
    st.sampled_from([(4, None), (4, SPLIT), (2, HALVES), (2, None)]),
    st.booleans(),
    st.sampled_from(TARGETS),
)
def test_every_tiling_fits(
    batch: int,
    m: int,
    n: int,
    keys: int,
    depth: int,
    kind: tuple[int, MatrixInstruction | None],
    is_partial: bool,
    name: str,
):
    element, instruction = kind
    sizes = batch, m, n, keys, depth
    problem = Attention(*sizes, element, element, is_partial, element, instruction)
    found = attention_tilings(problem, target(name))
    assert found
    for tiling in found:
        assert tiling.threads % 32 == 0
        assert tiling.threads <= 1024
        assert tiling.n <= MOST_COLUMNS
        assert tiling.n >= n or n > 256
        assert tiling.n % tiling.side == 0
        assert tiling.shared_bytes(problem) <= target(name).shared_per_block
        assert tiling.seconds(problem, target(name)) > 0
        if tiling.is_matrix:
            assert instruction is not None
            chunk = tiling.pipeline(problem, target(name))[0]
            assert (f" slice={tiling.slice}" in chunk) == (tiling.slice > 0)
            assert tiling.slice % instruction.fragments.k == 0
            is_rounded = depth % instruction.fragments.k != 0 and not tiling.slice
            assert (f"depth={instruction.fragments.k}" in chunk) == is_rounded
            assert tiling.bk % instruction.fragments.k == 0
            assert tiling.side // tiling.fn in ((4,) if n <= 256 else (4, 8, 16, 32))


def test_many_rows_take_matrix_instructions_and_one_block_for_all_keys():
    problem = Attention(32, 2048, 128, 2048, 128, 2, 2, True, 2, HALVES)
    best = attention_tilings(problem, H100)[0]
    assert best.is_matrix
    assert best.split == 1
    assert best.depth > 1
    assert best.seconds(problem, H100) < 140e-6


def test_wide_heads_are_owned_by_several_warps_of_a_block():
    problem = Attention(32, 2048, 320, 2048, 320, 2, 2, False, 2, HALVES)
    best = attention_tilings(problem, H100)[0]
    assert best.n == 320
    assert best.side // best.fn > 4


def test_blocks_share_the_columns_of_wider_heads():
    problem = Attention(32, 2048, 1000, 2048, 1000, 2, 2, False, 2, HALVES)
    found = {tiling.n for tiling in attention_tilings(problem, H100)}
    assert found & {*range(250, 513)}
    assert max(found) <= MOST_COLUMNS


def test_long_queries_and_keys_are_staged_in_slices():
    problem = Attention(1024, 512, 1024, 512, 1024, 2, 2, False, 2, HALVES)
    best, *others = attention_tilings(problem, H100)
    assert (best.m, best.n, best.slice) == (32, 1024, 64)  # each score is computed once
    assert all(tiling.slice == 64 for tiling in others)
    assert "chunk-matmul-k{bk=128 slice=64}" in best.pipeline(problem, H100)


def test_whole_queries_and_keys_are_staged_if_there_is_room_for_many():
    problem = Attention(32, 2048, 64, 2048, 512, 2, 2, False, 2, HALVES)
    assert not any(tiling.slice for tiling in attention_tilings(problem, H100))
    assert all(tiling.slice for tiling in attention_tilings(problem, target("sm_120")))


def test_few_rows_share_their_keys():
    problem = Attention(4, 8, 64, 2048, 64, 4, 4, True, 4, None)
    assert attention_tilings(problem, H100)[0].split > 1


def test_a_split_leaves_every_block_two_chunks():
    problem = Attention(1, 1, 64, 256, 64, 4, 4, False, 4, None)
    for tiling in attention_tilings(problem, H100):
        assert tiling.split == 1 or 2 * tiling.split * tiling.bk <= 256


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "F.scaled_dot_product_attention(torch.randn(2, 37, 40), torch.randn(2, 65, 40), "
            "torch.randn(2, 65, 24), is_causal=True)",
            Attention(2, 37, 24, 65, 40, 4, 4, True, 4, SPLIT),
        ),
        (
            "F.scaled_dot_product_attention(*(torch.randn(1, 8, 64, 32, dtype=torch.bfloat16) "
            "for _ in range(3)))",
            Attention(8, 64, 32, 64, 32, 2, 2, False, 2, HALVES),
        ),
        (
            "F.scaled_dot_product_attention(torch.randn(1, 8, 1, 32), torch.randn(1, 2, 64, 32), "
            "torch.randn(1, 2, 64, 32), enable_gqa=True)",
            Attention(2, 4, 32, 64, 32, 4, 4, False, 4, SPLIT),
        ),
        (
            "F.scaled_dot_product_attention(torch.randn(3, 1, 32), torch.randn(3, 64, 32), "
            "torch.randn(3, 64, 32))",
            Attention(3, 1, 32, 64, 32, 4, 4, False, 4, None),
        ),
    ],
)
def test_the_problem_of_an_expression(text: str, expected: Attention):
    module = loops_of(parse_expression(text, fake=True))
    (kernel,) = (op for op in module.ops if isinstance(op, loop.KernelOp))
    _, launch = launched(kernel)
    assert attention_of(launch) == expected
    found = weighed(launch, H100)
    assert found is not None
    assert found.problem == expected
    assert "share-scores" in found.pipeline()


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "type", "sizes"),
    [
        ("sm_90a", torch.float64, (8, 512, 512, 64)),  # blocks leave sums of 8 bytes for others
        ("sm_86", torch.float16, (1, 256, 256, 256)),  # weights are in shared memory at first
        ("sm_89", torch.float16, (32, 64, 64, 128)),  # one chunk, in which queries are staged too
    ],
)
def test_the_plan_fits_in_shared_memory(
    name: str, type: torch.dtype, sizes: tuple[int, int, int, int]
):
    batch, rows, keys, size = sizes
    shapes = (batch, rows, size), (batch, keys, size), (batch, keys, size)
    inputs = [torch.empty(shape, dtype=type) for shape in shapes]
    captured = api.capture(torch.nn.functional.scaled_dot_product_attention, *inputs)
    module = api.lower(captured, "tile", name, db=False)
    assert "with softmax" in str(module)


def test_heads_that_share_long_keys_need_one_kernel():
    heads = "8, 32768, 128, dtype=torch.bfloat16"
    text = (
        "F.scaled_dot_product_attention(torch.randn(1, 32, 1, 128, dtype=torch.bfloat16), "
        f"torch.randn(1, {heads}), torch.randn(1, {heads}), enable_gqa=True)"
    )
    module = loops_of(parse_expression(text, fake=True))
    (kernel,) = (op for op in module.ops if isinstance(op, loop.KernelOp))
    _, launch = launched(kernel)
    assert attention_of(launch) == Attention(8, 4, 128, 32768, 128, 2, 2, False, 2, HALVES)
