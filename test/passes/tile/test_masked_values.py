# SPDX-License-Identifier: Apache-2.0
"""
Attention values that a mask hides. Blocks of rows skip the chunks beyond the mask, for each
transport of values and each join of sums. A hidden NaN makes a row NaN only if the row's block
computes its chunk. Visible values contribute normally.
"""

import re
from collections.abc import Callable
from itertools import product

import pytest
import torch
from torch import Tensor
from torch.nn import functional
from xdsl.dialects.builtin import ModuleOp

import tilewright

from .scheduled import run, simulate

SYNC = "double-buffer{depth=2},pipeline-k-outer{lookahead=1}"
CP_ASYNC = "double-buffer{depth=3},async-copy,pipeline-k-outer{lookahead=2}"
TMA = "double-buffer{depth=2},tma-copy,pipeline-k-outer{lookahead=1}"
SPLIT = "split-matmul-k{factor=2 join=last_block},"
ROWS, CHUNK, WINDOW = 16, 8, 11
"""Rows of a block, keys of a chunk, and keys that a row with a sliding window attends to."""
SCHEDULE = (
    f"tileify,chunk-matmul-k{{{{bk={CHUNK}}}}},{{split}}"
    f"blockify-launch{{{{m={ROWS} n=16}}}},share-scores,stage-inputs,"
    "register-tile{{fm=2 fn=2 vm=1 vn=1 fk=4 min_blocks=0}},{ring},mark-unroll"
)

Attention = Callable[[Tensor, Tensor, Tensor], Tensor]


def causal(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Return causal attention: query i attends to the keys up to key i."""
    return functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)


def sliding(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Return sliding attention: query i attends to the last `WINDOW` keys up to key i."""
    row, key = torch.arange(q.shape[-2])[:, None], torch.arange(k.shape[-2])
    mask = (key <= row) & (key > row - WINDOW)
    return functional.scaled_dot_product_attention(q, k, v, mask, enable_gqa=True)


def one_head(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Return causal attention with one head of keys: the rows of all heads form one matrix."""
    return causal(q, k[:, :1], v[:, :1])


def eager(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Return causal attention written out with `softmax`, where a hidden NaN times 0 is NaN."""
    mask = torch.full((q.shape[-2], k.shape[-2]), -torch.inf).triu(1)
    k, v = (tensor.repeat_interleave(2, 1) for tensor in (k, v))
    return torch.softmax(q @ k.transpose(-2, -1) * 0.25 + mask, -1) @ v


def tensors(rows: int, keys: int) -> list[Tensor]:
    """Return queries of four heads, and keys and values of two heads."""
    generator = torch.Generator().manual_seed(rows)
    sizes = (4, rows), (2, keys), (2, keys)
    return [torch.randn(1, *size, 16, generator=generator) for size in sizes]


def lowered(attention: Attention, inputs: list[Tensor]) -> ModuleOp:
    """Return the Loop IR of `attention`."""
    return tilewright.lower(tilewright.capture(attention, *inputs), "loop", "sm_90a")


def reference(attention: Attention, inputs: list[Tensor]) -> Tensor:
    """Return PyTorch's result in float64."""
    return attention(*(tensor.double() for tensor in inputs))


SIZES = [(37, 53), (40, 21), (48, 48)]
"""Pairs of row and key counts."""
RINGS = [("", SYNC), ("", CP_ASYNC), ("", TMA), (SPLIT, SYNC)]
SOME = [
    *((causal, SIZES[at % 3], ring) for at, ring in enumerate(RINGS)),
    *((sliding, SIZES[at % 3], ring) for at, ring in enumerate(RINGS, 1)),
]
OTHERS = [case for case in product((causal, sliding), SIZES, RINGS) if case not in SOME]


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("attention", "sizes", "ring"), SOME)
def test_chunks_beyond_the_mask_are_skipped(
    attention: Attention, sizes: tuple[int, int], ring: tuple[str, str]
):
    check(attention, tensors(*sizes), SCHEDULE.format(split=ring[0], ring=ring[1]))


@pytest.mark.usefixtures("every_case")
@pytest.mark.parametrize(("attention", "sizes", "ring"), OTHERS)
def test_every_case(attention: Attention, sizes: tuple[int, int], ring: tuple[str, str]):
    check(attention, tensors(*sizes), SCHEDULE.format(split=ring[0], ring=ring[1]))


def check(attention: Attention, inputs: list[Tensor], schedule: str) -> None:
    """
    Assert that `schedule` bounds the loop over chunks, and that the simulator's result equals
    PyTorch's.
    """
    module = lowered(attention, inputs)
    found = simulate(module, schedule, inputs)
    assert re.search(r"fastmath<nnan,ninf>", str(module))
    bounds = r"from \[.*%bm.*\] below \[.*%bm.*\]" if attention is sliding else r"below \[.*%bm.*\]"
    assert re.search(rf"%ko in \d+ {bounds} with softmax", str(module))
    torch.testing.assert_close(found.double(), reference(attention, inputs), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("attention", [causal, sliding])
def test_no_product_is_masked(attention: Attention):
    """
    The loop yields without a mask, even in the chunk that the diagonal crosses: hidden weights are
    0.
    """
    module = lowered(attention, tensors(48, 48))
    run(module, SCHEDULE.format(split="", ring=CP_ASYNC))
    (yielded,) = re.findall(r"fastmath<nnan,ninf> : f32\n *loop\.yield (.*)", str(module))
    assert "where" not in yielded


def test_statistics_of_many_rows_skip_steps_too():
    inputs = tensors(261, 259)
    module = lowered(sliding, inputs)
    found = simulate(module, SCHEDULE.format(split="", ring=CP_ASYNC), inputs)
    bounds = r"%k\w* in \d+ from \[.*%bm.*\] below \[.*%bm.*\] with"
    assert re.findall(rf"{bounds} (\w+)", str(module)) == ["softmax"]
    torch.testing.assert_close(found.double(), reference(sliding, inputs), rtol=1e-5, atol=1e-5)


def test_a_block_may_have_rows_of_two_heads():
    inputs = tensors(37, 37)
    module = lowered(one_head, inputs)
    found = simulate(module, "plan-schedules,apply-schedule", inputs)
    values = str(module).rsplit("tile.launch", 1)[1]
    assert re.search(r"%ko in \d+ below \[.*%bm.* floordiv 37.*\] with softmax", values)
    torch.testing.assert_close(found.double(), reference(one_head, inputs), rtol=1e-5, atol=1e-5)


def test_a_hidden_value_that_is_nan_does_not_reach_blocks_before_it():
    inputs = tensors(48, 64)
    first = 40
    inputs[2][..., first:, :] = torch.nan
    found = simulate(lowered(causal, inputs), SCHEDULE.format(split="", ring=CP_ASYNC), inputs)
    assert found[..., first:, :].isnan().all()
    assert not found[..., : first // ROWS * ROWS, :].isnan().any()
    clean = [*inputs[:2], inputs[2].nan_to_num(0.0)]
    is_number = ~found.isnan()
    torch.testing.assert_close(
        found[is_number].double(), reference(causal, clean)[is_number], rtol=1e-5, atol=1e-5
    )


def test_attention_written_out_skips_no_chunk():
    inputs = tensors(48, 48)
    inputs[2][..., 40:, :] = torch.nan
    module = lowered(eager, inputs)
    found = simulate(module, SCHEDULE.format(split="", ring=CP_ASYNC), inputs)
    assert "below" not in str(module)
    assert found.isnan().all()
