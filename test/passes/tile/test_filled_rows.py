# SPDX-License-Identifier: Apache-2.0
"""
Attention to the filled rows of a cache, up to a position that is an input. The reduction visits
only chunks up to the position. Rows beyond it may hold anything, even NaN if they have a chunk of
their own. If only scores are computed, blocks of scores beyond the position run no step.
"""

import re
from collections.abc import Callable
from itertools import product

import pytest
import torch
from needs import needs_nvrtc
from some_cases import some
from torch import Tensor
from torch.nn import functional
from xdsl.dialects.builtin import ModuleOp

import tilewright

from .scheduled import run, simulate_all

CHUNK, WINDOW = 8, 11
"""Rows of a chunk, and rows that a query with a sliding window attends to."""
LONGEST = torch.iinfo(torch.int64)

SYNC = "double-buffer{depth=2},pipeline-k-outer{lookahead=1}"
CP_ASYNC = "double-buffer{depth=3},async-copy,pipeline-k-outer{lookahead=2}"
TMA = "double-buffer{depth=2},tma-copy,pipeline-k-outer{lookahead=1}"
SCHEDULE = (
    f"tileify,chunk-matmul-k{{{{bk={CHUNK}}}}},"
    "blockify-launch{{m=16 n=16}},share-scores,stage-inputs,"
    "register-tile{{fm=2 fn=2 vm=1 vn=1 fk=4 min_blocks=0}},{ring},mark-unroll"
)

Attention = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]


def filled(q: Tensor, k: Tensor, v: Tensor, position: Tensor) -> Tensor:
    """Return attention of a query to all rows up to `position`."""
    mask = torch.arange(k.shape[-2]) <= position
    return functional.scaled_dot_product_attention(q, k, v, mask[None, None, None], enable_gqa=True)


def sliding(q: Tensor, k: Tensor, v: Tensor, position: Tensor) -> Tensor:
    """Return attention of a query to the last `WINDOW` rows up to `position`."""
    row = torch.arange(k.shape[-2])
    mask = (row <= position) & (row > position - WINDOW)
    return functional.scaled_dot_product_attention(q, k, v, mask[None, None, None], enable_gqa=True)


def negated(q: Tensor, k: Tensor, v: Tensor, position: Tensor) -> Tensor:
    """Return the result of `sliding`, with a mask that negates the hidden rows, in int32."""
    row, last = torch.arange(k.shape[-2], dtype=torch.int32), position.int()
    mask = ~(row > last) & ~(row <= last - WINDOW)
    return functional.scaled_dot_product_attention(q, k, v, mask[None, None, None], enable_gqa=True)


def tensors(rows: int, position: int, queries: int = 1) -> list[Tensor]:
    """Return queries of eight heads, keys and values of two heads, and the position."""
    generator = torch.Generator().manual_seed(rows)
    sizes = (8, queries), (2, rows), (2, rows)
    made = [torch.randn(1, *size, 16, generator=generator) for size in sizes]
    return [*made, torch.tensor([position])]


def lowered(attention: Attention, inputs: list[Tensor]) -> ModuleOp:
    """Return the Loop IR of `attention`."""
    return tilewright.lower(tilewright.capture(attention, *inputs), "loop", "sm_90a")


def check(attention: Attention, pipeline: str, cases: list[list[Tensor]]) -> str:
    """
    Schedule `attention` by `pipeline` and return its text. Assert that the simulator's results
    equal PyTorch's in float64.
    """
    module = lowered(attention, cases[0])
    run(module, pipeline)
    for inputs, found in zip(cases, simulate_all(module, cases), strict=True):
        expected = attention(*(t.double() if t.is_floating_point() else t for t in inputs))
        torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-5)
    return str(module)


def bounds_in(text: str) -> list[str]:
    """Return the upper bounds of the loops over chunks that depend on an input, in order."""
    bounds = re.findall(r"%ko in [^{]*below \[([^\]]*)\]", text)
    return [bound for bound in bounds if re.search(r"%\d", bound)]


SOME = [(filled, 69), (negated, 69), (sliding, 64)]
OTHERS = [case for case in product((filled, sliding, negated), (64, 69)) if case not in SOME]


@pytest.mark.one_in(2)
@needs_nvrtc
@pytest.mark.parametrize(("attention", "rows"), some(SOME, unpacked=True))
def test_chunks_beyond_the_position_are_skipped(attention: Attention, rows: int):
    check_positions(attention, rows)


@needs_nvrtc
@pytest.mark.usefixtures("every_case")
@pytest.mark.parametrize(("attention", "rows"), OTHERS)
def test_every_case(attention: Attention, rows: int):
    check_positions(attention, rows)


def check_positions(attention: Attention, rows: int) -> None:
    """
    Check that a query attends to nothing beyond its position, for positions inside and outside the
    rows.
    """
    positions = (0, CHUNK - 1, CHUNK, 30, rows - 1, rows, -1, LONGEST.min, LONGEST.max)
    cases = [tensors(rows, position) for position in positions]
    text = check(attention, SCHEDULE.format(ring=SYNC), cases)
    assert_bounded(text)
    starts = re.findall(r"%ko in \d+ from \[([^\]]*)\]", text)
    assert all(re.fullmatch(rf"%\d+ floordiv {CHUNK}", start) for start in starts)
    assert len(starts) == (attention is not filled)


def assert_bounded(text: str) -> None:
    """Assert that the chunks of attention end at the position."""
    (bound,) = bounds_in(text)
    assert re.fullmatch(rf"\(%\d+ \+ {CHUNK - 1}\) floordiv {CHUNK}", bound)


@pytest.mark.one_in(3)
@needs_nvrtc
@pytest.mark.parametrize("ring", [SYNC, CP_ASYNC, TMA])
def test_several_queries(ring: str):
    cases = [tensors(53, position, queries=20) for position in (0, 7, 8, 29, 52)]
    assert_bounded(check(filled, SCHEDULE.format(ring=ring), cases))


@needs_nvrtc
def test_rows_beyond_the_position_may_be_nan():
    """The planner's schedule skips chunks, too."""
    inputs = tensors(133, 0)
    module = lowered(filled, inputs)
    run(module, "to-tile")
    assert len(bounds_in(str(module))) == 1
    (chunk,) = map(int, re.findall(r"chunk-matmul-k\{bk=(\d+)", str(module)))
    assert chunk < 133
    inputs[-1][0] = chunk - 1
    clean = [tensor.clone() for tensor in inputs]
    for rows in inputs[1:3]:
        rows[..., chunk:, :] = torch.nan
    found, expected = simulate_all(module, [inputs, clean])
    assert torch.equal(found, expected)


def written_out(q: Tensor, k: Tensor, v: Tensor, position: Tensor) -> Tensor:
    """
    Return attention written out with `masked_fill` and `softmax`, where a hidden NaN times 0 is
    NaN.
    """
    k, v = (tensor.repeat_interleave(4, 1) for tensor in (k, v))
    mask = torch.arange(k.shape[-2]) <= position
    scores = (q @ k.transpose(-2, -1)).masked_fill(~mask, -torch.inf)
    return torch.softmax(scores, -1) @ v


def scores(q: Tensor, k: Tensor, v: Tensor, position: Tensor) -> Tensor:
    """Return only the scores of attention; those beyond the position are minus infinity."""
    mask = torch.arange(k.shape[-2]) <= position
    return (q[:, :2] @ k.mT).masked_fill(~mask, -torch.inf)


def per_head(q: Tensor, k: Tensor, v: Tensor, position: Tensor) -> Tensor:
    """Return attention in which each head has a position of its own."""
    mask = torch.arange(k.shape[-2]) <= position[:, None]
    return functional.scaled_dot_product_attention(q, k, v, mask[:, None], enable_gqa=True)


@needs_nvrtc
def test_attention_written_out_sums_all_values():
    text = check(written_out, "to-tile", [tensors(69, position) for position in (8, 68)])
    assert not bounds_in(text)


@needs_nvrtc
def test_blocks_of_scores_beyond_the_position_run_no_step():
    cases = [tensors(53, position, queries=20) for position in (0, 7, 8, 29, 52)]
    schedule = SCHEDULE.replace(",share-scores", "")
    (bound,) = bounds_in(check(scores, schedule.format(ring=SYNC), cases))
    assert re.fullmatch(r"%\d+ \* 2 - %bn \* 32", bound)


@needs_nvrtc
def test_positions_that_differ_bound_nothing():
    inputs = tensors(69, 0)
    inputs[-1] = torch.tensor([0, 7, 8, 20, 33, 50, 67, 68])
    text = check(per_head, "to-tile", [inputs])
    assert not bounds_in(text)
