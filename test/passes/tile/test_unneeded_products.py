# SPDX-License-Identifier: Apache-2.0
"""
Attention scores of which a mask drops the part beyond the diagonal. Blocks beyond the diagonal run
no step, for each transport of operands and each join of sums. Dropped scores may be NaN.
"""

import re

import pytest
import torch
from torch import Tensor

import tilewright

from .scheduled import run, simulate

SYNC = "double-buffer{depth=2},pipeline-k-outer{lookahead=1}"
CP_ASYNC = "double-buffer{depth=3},async-copy,pipeline-k-outer{lookahead=2}"
TMA = "double-buffer{depth=2},tma-copy,pipeline-k-outer{lookahead=1}"
SPLIT = "split-matmul-k{{factor=2 join={}}},"
CLUSTER, LAST_BLOCK = SPLIT.format("cluster"), SPLIT.format("last_block")
SCHEDULE = (
    "tileify,chunk-matmul-k{{bk=8}},{split}blockify-launch{{m=16 n=16}},stage-inputs,"
    "register-tile{{fm=2 fn=2 vm=1 vn=1 fk=4 min_blocks=0}},{ring},mark-unroll"
)
CASES = [("", SYNC), ("", CP_ASYNC), ("", TMA), (CLUSTER, TMA), (LAST_BLOCK, CP_ASYNC)]


def scores(q: Tensor, k: Tensor) -> Tensor:
    """Return causal scores: query i attends to the keys up to key i, and other scores are -inf."""
    attends = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril()
    return (q @ k.transpose(-2, -1) * 0.25).masked_fill(~attends, -torch.inf)


@pytest.mark.one_in(8)
@pytest.mark.parametrize(("split", "ring"), CASES)
@pytest.mark.parametrize(("rows", "columns"), [(37, 53), (40, 21)])
def test_blocks_beyond_the_diagonal_do_nothing(split: str, ring: str, rows: int, columns: int):
    generator = torch.Generator().manual_seed(rows)
    q = torch.randn(2, rows, 24, generator=generator)
    k = torch.randn(2, columns, 24, generator=generator)
    k[:, -4:] = torch.nan
    module = tilewright.lower(tilewright.capture(scores, q, k), "loop", "sm_90a")
    found = simulate(module, SCHEDULE.format(split=split, ring=ring), [q, k])
    assert re.search(r"%ko in \d below \[.*%bm.*%bn.*\]", str(module))
    expected = scores(q.double(), k.double())
    assert expected.isnan().any() == (rows > columns)
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-5, equal_nan=True)


def test_a_block_that_does_a_step_does_all():
    """The bound of a block is checked in the prologue, not again in the loop."""
    module = tilewright.lower(
        tilewright.capture(scores, torch.randn(64, 64), torch.randn(64, 64)), "loop", "sm_90a"
    )
    run(module, SCHEDULE.format(split="", ring=CP_ASYNC))
    ahead, loop = str(tilewright.lower(module, "kernel")).split("scf.for", 1)
    assert re.search(r"loop.predicate \[.*%bm.*\]", ahead)
    assert "loop.predicate [7 - %next]" in loop
