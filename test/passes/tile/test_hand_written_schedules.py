# SPDX-License-Identifier: Apache-2.0
"""
The passes reproduce the hand-scheduled kernels. Each kernel has a pipeline that makes it, op for
op, from its PyTorch function or from a loop nest. Only the names of values may differ.
"""

from collections.abc import Callable

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

import tilewright
from tilewright.dialects.loop import KernelOp

from .kernels.references import FOLDER, REFERENCES
from .scheduled import run

Parse = Callable[[str], ModuleOp]

# relu(a @ b + bias), 512x2048x2048: K is split over clusters of 4 blocks.
SPLIT_K = (
    "tileify,chunk-matmul-k{bk=16},split-matmul-k{factor=4 join=cluster},"
    "blockify-launch{m=128 n=128},stage-inputs{raw=a,b},"
    "register-tile{fm=8 fn=8 vm=4 vn=4 fk=4 min_blocks=2},double-buffer{depth=2},async-copy,"
    "pad-smem{pad=4 slabs=as},pipeline-k-outer{lookahead=1},mark-unroll{limit=16}"
)
# relu(a @ b + bias) of 70x333x50, or a @ b for the atomic join; `join` says how blocks combine
# their sums.
JOINED = (
    "tileify,chunk-matmul-k{{bk=16}},split-matmul-k{{factor=3 join={join}}},"
    "blockify-launch{{m=32 n=32}},stage-inputs{{raw=a,b}},"
    "register-tile{{fm=4 fn=4 vm=4 vn=4 fk=1 min_blocks=0}},double-buffer{{depth=2}},async-copy,"
    "pad-smem{{pad=4 slabs=as}},pipeline-k-outer{{lookahead=1}},mark-unroll{{limit=16}}"
)
# a @ b of 33x65 and 65x17: no extent is a multiple of its tile.
ODD = (
    "tileify,chunk-matmul-k{bk=16},blockify-launch{m=32 n=32},stage-inputs{raw=a,b},"
    "register-tile{fm=4 fn=4 vm=4 vn=1 fk=1 min_blocks=0},double-buffer{depth=3},async-copy,"
    "pad-smem{pad=1 slabs=as},pipeline-k-outer{lookahead=2},mark-unroll{limit=16}"
)
# (silu(g) * u) @ w: the operand silu(g) * u is computed while it is staged.
GATED = (
    "tileify,chunk-matmul-k{bk=16},blockify-launch{m=128 n=128},stage-inputs{raw=w computed=g},"
    "register-tile{fm=8 fn=8 vm=4 vn=4 fk=4 min_blocks=0},double-buffer{depth=2},async-copy,"
    "pad-smem{pad=4 slabs=gs},pipeline-k-outer{lookahead=1},mark-unroll{limit=16}"
)
# a @ b.T in batches, with rings of four slots that TMA fills and swizzles.
BATCHED = (
    "tileify,chunk-matmul-k{bk=16},blockify-launch{m=128 n=128},stage-inputs{raw=a,b},"
    "register-tile{fm=8 fn=8 vm=1 vn=1 fk=4 min_blocks=1},double-buffer{depth=4},"
    "tma-copy{slabs=as,bs},split-inner-for-swizzle{width=64 slabs=as,bs},"
    "pipeline-k-outer{lookahead=3},mark-unroll{limit=16}"
)
# a @ b by TMA: rows of 512 bytes are split into inner pieces of 128 bytes, for the 128-byte
# swizzle.
PIECES = (
    "tileify,chunk-matmul-k{bk=32},blockify-launch{m=128 n=128},stage-inputs{raw=a,b},"
    "register-tile{fm=8 fn=8 vm=1 vn=4 fk=4 min_blocks=1},double-buffer{depth=3},"
    "tma-copy{slabs=as,bs},split-inner-for-swizzle{width=128 slabs=as,bs},"
    "pipeline-k-outer{lookahead=2},mark-unroll{limit=16}"
)
# Rows of softmax and RMSNorm in registers: the share of each thread, by the length of a row.
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

# softmax(scores) @ v, causal: the weights are computed while they are staged.
ATTENTION = (
    "tileify{columns=true},chunk-matmul-k{bk=16},blockify-launch{m=32 n=64},cooperative-reduce,"
    "stage-inputs{raw=v computed=scores},"
    "register-tile{fm=4 fn=4 vm=4 vn=4 fk=1 min_blocks=0},double-buffer{depth=2},async-copy,"
    "pipeline-k-outer{lookahead=1},mark-unroll{limit=16}"
)
ATTENTION_NEST = """
loop.kernel @attention_values(%scores: memref<8x100x100xf32>, %v: memref<2x100x64xf32>)
    -> (%out: memref<8x100x64xf32>) {
  loop.for %h in 8, %i in 100 {
    %max = loop.reduce %k in 100 with max {
      %0 = loop.load %scores[%h, %i, %k] : memref<8x100x100xf32>
      loop.yield %0 where [%i - %k] : f32
    } : f32
    %sum = loop.reduce %k in 100 with add {
      %0 = loop.load %scores[%h, %i, %k] : memref<8x100x100xf32>
      %1 = arith.subf %0, %max : f32
      %2 = math.exp %1 : f32
      loop.yield %2 where [%i - %k] : f32
    } : f32
    loop.for %j in 64 {
      %acc = loop.reduce %k in 100 with add {
        %0 = loop.load %scores[%h, %i, %k] : memref<8x100x100xf32>
        %1 = arith.subf %0, %max : f32
        %2 = math.exp %1 : f32
        %3 = loop.load %v[%h floordiv 4, %k, %j] : memref<2x100x64xf32>
        %4 = arith.mulf %2, %3 : f32
        loop.yield %4 where [%i - %k] : f32
      } : f32
      %o = arith.divf %acc, %sum : f32
      loop.store %o, %out[%h, %i, %j] : memref<8x100x64xf32>
    }
  }
}
"""

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
    """Return the only kernel of a module."""
    (kernel,) = [op for op in module.ops if isinstance(op, KernelOp)]
    return kernel


def without_names(kernel: KernelOp) -> str:
    """Return the text of a kernel without name hints, so that its values are numbered."""
    nameless = kernel.clone()
    nameless.sym_name, nameless.schedule = StringAttr("kernel"), None
    for op in nameless.walk():
        for value in (*op.results, *_arguments(op)):
            value.name_hint = None
    return str(nameless)


def _arguments(op: Operation):
    return [arg for region in op.regions for block in region.blocks for arg in block.args]


def scheduled(nest: KernelOp, schedule: str) -> KernelOp:
    """Return the kernel that `schedule` makes of `nest`; detaches `nest` from its module."""
    nest.detach()
    module = ModuleOp([nest])
    run(module, schedule)
    return kernel_in(module)


def assert_is_by_hand(kernel: KernelOp, parse: Parse, name: str, schedule: str) -> None:
    """
    Assert that the kernel equals the one in the file, and that its schedule attribute is
    `schedule`.
    """
    by_hand = kernel_in(parse((FOLDER / f"{name}.mlir").read_text()))
    assert without_names(kernel) == without_names(by_hand)
    assert kernel.schedule is not None
    assert kernel.schedule.data == schedule


@pytest.mark.one_in(4)
@pytest.mark.parametrize("name", SCHEDULES)
def test_the_passes_make_the_kernel(parse: Parse, name: str) -> None:
    reference = REFERENCES[name]
    inputs = [torch.empty(shape, device="meta") for shape in reference.shapes]
    captured = tilewright.capture(reference.function, *inputs)
    nest = kernel_in(tilewright.lower(captured, "loop", "sm_90a"))
    assert_is_by_hand(scheduled(nest, SCHEDULES[name]), parse, name, SCHEDULES[name])


def test_the_passes_make_causal_attention(parse: Parse) -> None:
    """
    The kernel is made from a loop nest whose masks state the diagonal. PyTorch's `masked_fill`
    states the value beyond the diagonal instead.
    """
    kernel = scheduled(kernel_in(parse(ATTENTION_NEST)), ATTENTION)
    assert_is_by_hand(kernel, parse, "attention_values", ATTENTION)


def test_every_kernel_has_a_schedule() -> None:
    files = {file.stem for file in FOLDER.glob("*.mlir")}
    assert files == {*SCHEDULES, "attention_values"}
