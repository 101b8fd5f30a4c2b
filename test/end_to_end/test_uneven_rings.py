# SPDX-License-Identifier: Apache-2.0
"""Products whose sums are split into uneven parts, each over a ring of three slots."""

import pytest
from needs import needs_nvrtc

from tilewright.tools import cli

SCHEDULE = (
    "tileify,chunk-matmul-k{bk=32},split-matmul-k{factor=2 join=cluster},"
    "blockify-launch{m=32 n=32},stage-inputs{raw=t0,t1},register-tile{fm=2 fn=2 fk=1 min_blocks=2},"
    "tensor-core{instr=m16n8k16_bf16},double-buffer{depth=3},tma-copy{slabs=t0s,t1s},"
    "pipeline-k-outer{lookahead=2}"
)


@needs_nvrtc
def test_the_last_steps_of_an_unrolled_loop_are_not_dropped(capsys: pytest.CaptureFixture[str]):
    # One part has 6 steps, the other has 5. NVRTC took both for multiples of 3.
    product = "torch.randn(8, 352).bfloat16() @ torch.randn(352, 64).bfloat16()"
    options = ["--target", "sm_90a", "--no-db", "--schedule", SCHEDULE]
    assert cli.main(["run", *options, "-c", product]) == 0
    assert capsys.readouterr().out.endswith("right\n")
