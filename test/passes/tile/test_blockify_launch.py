# SPDX-License-Identifier: Apache-2.0
"""Blocks in groups of rows: kernels with copies by TMA and with split sums, in the simulator."""

import pytest
import torch
from needs import needs_nvrtc

from tilewright.frontend.expression import parse_expression

from .scheduled import loops_of, run, simulate_all

SPLITS = {
    "whole": "",
    "cluster": "split-matmul-k{factor=2 join=cluster},",
    "last block": "split-matmul-k{factor=2 join=last_block},",
}
STAGED = (
    "stage-inputs{raw=t0,t1},register-tile{fm=2 fn=4},double-buffer{depth=2},"
    "tma-copy{slabs=t0s,t1s},pipeline-k-outer,mark-unroll"
)


@pytest.mark.one_in(3)
@needs_nvrtc
@pytest.mark.parametrize("split", SPLITS.values(), ids=SPLITS)
def test_blocks_run_in_groups_of_rows(split: str):
    # six rows of blocks, of which the last is cut off
    source = parse_expression("torch.randn(90, 128) @ torch.randn(128, 72)")
    module = loops_of(source)
    grouped = "blockify-launch{m=16 n=32 raster=3}"
    run(module, f"tileify,chunk-matmul-k{{bk=32}},{split}{grouped},{STAGED}")
    text = str(module)
    assert "%bg = block 2 m, %bn = block 3 n, %br = block 3 m" in text
    assert text.count("transport(tma)") == 2
    left, right = source.args
    (result,) = simulate_all(module, [[left, right]])
    torch.testing.assert_close(result, left @ right, rtol=1e-5, atol=1e-4)
