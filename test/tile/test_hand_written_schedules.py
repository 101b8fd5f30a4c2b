# SPDX-License-Identifier: Apache-2.0
"""
The kernels that were scheduled by hand come out of the passes: each has a pipeline that makes it of
its PyTorch function, op for op. They may differ in names only.
"""

from collections.abc import Callable

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

import tilewright
from tilewright.dialects.loop import KernelOp
from tilewright.passes.lowering import context
from tilewright.passes.manager import PassManager
from tilewright.passes.pipeline_string import parse_pipeline
from tilewright.passes.pipelines import available_passes

from .kernels.references import FOLDER, REFERENCES

Parse = Callable[[str], ModuleOp]

# relu(a @ b + bias), 512x2048x2048: K is split over clusters of 4 blocks.
SPLIT_K = (
    "tileify,chunk-matmul-k{bk=16},split-matmul-k{factor=4 join=cluster},"
    "blockify-launch{m=128 n=128},stage-inputs{raw=a,b},"
    "register-tile{fm=8 fn=8 vm=4 vn=4 fk=4 min_blocks=2},double-buffer{depth=2},async-copy,"
    "pad-smem{pad=4 slabs=as},pipeline-k-outer{lookahead=1},mark-unroll{limit=16}"
)
# The same of 70x333x50, and a @ b, by each way in which blocks join.
JOINED = (
    "tileify,chunk-matmul-k{{bk=16}},split-matmul-k{{factor=3 join={join}}},"
    "blockify-launch{{m=32 n=32}},stage-inputs{{raw=a,b}},"
    "register-tile{{fm=4 fn=4 vm=4 vn=4 fk=1 min_blocks=0}},double-buffer{{depth=2}},async-copy,"
    "pad-smem{{pad=4 slabs=as}},pipeline-k-outer{{lookahead=1}},mark-unroll{{limit=16}}"
)
# 33x65 @ 65x17: nothing divides.
ODD = (
    "tileify,chunk-matmul-k{bk=16},blockify-launch{m=32 n=32},stage-inputs{raw=a,b},"
    "register-tile{fm=4 fn=4 vm=4 vn=1 fk=1 min_blocks=0},double-buffer{depth=3},async-copy,"
    "pad-smem{pad=1 slabs=as},pipeline-k-outer{lookahead=2},mark-unroll{limit=16}"
)
# (silu(g) * u) @ w: the product is computed while it is staged.
GATED = (
    "tileify,chunk-matmul-k{bk=16},blockify-launch{m=128 n=128},stage-inputs{raw=w computed=g},"
    "register-tile{fm=8 fn=8 vm=4 vn=4 fk=4 min_blocks=0},double-buffer{depth=2},async-copy,"
    "pad-smem{pad=4 slabs=gs},pipeline-k-outer{lookahead=1},mark-unroll{limit=16}"
)
# a @ b.T in batches, with a ring of four slots that TMA fills and swizzles.
BATCHED = (
    "tileify,chunk-matmul-k{bk=16},blockify-launch{m=128 n=128},stage-inputs{raw=a,b},"
    "register-tile{fm=8 fn=8 vm=1 vn=1 fk=4 min_blocks=1},double-buffer{depth=4},"
    "tma-copy{slabs=as,bs},split-inner-for-swizzle{width=64 slabs=as,bs},"
    "pipeline-k-outer{lookahead=3},mark-unroll{limit=16}"
)
# a @ b by TMA: rows of 512 bytes lie in pieces that a swizzle of 128 takes.
PIECES = (
    "tileify,chunk-matmul-k{bk=32},blockify-launch{m=128 n=128},stage-inputs{raw=a,b},"
    "register-tile{fm=8 fn=8 vm=1 vn=4 fk=4 min_blocks=1},double-buffer{depth=3},"
    "tma-copy{slabs=as,bs},split-inner-for-swizzle{width=128 slabs=as,bs},"
    "pipeline-k-outer{lookahead=2},mark-unroll{limit=16}"
)
# Rows of softmax and RMSNorm in registers: by the length of a row, who does how much of it.
ROWS = {
    100: "tileify,cooperative-reduce{threads=128 rows=4 row=registers},"
    "register-tile{vector=4 items=1 min_blocks=0},mark-unroll{limit=16}",
    512: "tileify,cooperative-reduce{threads=512 rows=4 row=registers},"
    "register-tile{vector=4 items=4 min_blocks=0},mark-unroll{limit=16}",
    2048: "tileify,cooperative-reduce{threads=2048 rows=1 row=registers},"
    "register-tile{vector=4 items=2 min_blocks=0},mark-unroll{limit=16}",
    50257: "tileify,cooperative-reduce{threads=50688 rows=1 row=registers},"
    "register-tile{vector=1 items=99 min_blocks=0},mark-unroll{limit=16}",
}

SCHEDULES = {
    "matmul_split_k": SPLIT_K,
    "matmul_odd": ODD,
    "gated_matmul": GATED,
    "batched_matmul_tma": BATCHED,
    "matmul_tma_slabs": PIECES,
    **{
        f"matmul_join_{join}": JOINED.format(join=join)
        for join in ("atomic", "cluster", "last_block", "workspace")
    },
    **{f"{op}_{n}": rows for op in ("softmax", "rms_norm") for n, rows in ROWS.items()},
}


def kernel_in(module: ModuleOp) -> KernelOp:
    """The only kernel of a module."""
    (kernel,) = [op for op in module.ops if isinstance(op, KernelOp)]
    return kernel


def without_names(kernel: KernelOp) -> str:
    """The text of a kernel whose values have numbers."""
    nameless = kernel.clone()
    nameless.sym_name, nameless.schedule = StringAttr("kernel"), None
    for op in nameless.walk():
        for value in (*op.results, *_arguments(op)):
            value.name_hint = None
    return str(nameless)


def _arguments(op: Operation):
    return [arg for region in op.regions for block in region.blocks for arg in block.args]


@pytest.mark.parametrize("name", SCHEDULES)
def test_the_passes_make_the_kernel(parse: Parse, name: str) -> None:
    reference = REFERENCES[name]
    inputs = [torch.empty(shape, device="meta") for shape in reference.shapes]
    captured = tilewright.capture(reference.function, *inputs)
    nest = kernel_in(tilewright.lower(captured, "loop", "sm_90a"))
    nest.detach()
    module = ModuleOp([nest])
    PassManager(context()).run(module, parse_pipeline(SCHEDULES[name], available_passes()))
    by_hand = kernel_in(parse((FOLDER / f"{name}.mlir").read_text()))
    assert without_names(kernel_in(module)) == without_names(by_hand)
    schedule = kernel_in(module).schedule
    assert schedule is not None
    assert schedule.data == SCHEDULES[name]
