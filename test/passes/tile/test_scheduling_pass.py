# SPDX-License-Identifier: Apache-2.0
"""A pattern that sets a property of ops changes nothing when it is applied a second time."""

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.pattern_rewriter import PatternRewriteWalker, RewritePattern

from tilewright.dialects import tile
from tilewright.passes.tile.async_copy import AsyncCopyPass
from tilewright.passes.tile.double_buffer import DoubleBufferPass
from tilewright.passes.tile.mark_unroll import MarkUnrollPass
from tilewright.passes.tile.pad_smem import PadSmemPass
from tilewright.passes.tile.pipeline_k_outer import PipelineKOuterPass
from tilewright.passes.tile.scheduling_decision import rewrite
from tilewright.passes.tile.split_inner_for_swizzle import SplitInnerForSwizzlePass
from tilewright.passes.tile.tma_copy import TmaCopyPass

MATMUL = """
loop.kernel @mm(%x: memref<64x64xf32>, %w: memref<64x64xf32>) -> (%out: memref<64x64xf32>) {
  tile.launch (%bm = block 4 m, %bn = block 4 n, %tm = thread 16 m, %tn = thread 16 n) {
    %sum = loop.reduce %ko in 4 with add {
      %xs = tile.stage (%i, %k) in [16, 16] {
        %0 = loop.load %x[%bm * 16 + %i, %ko * 16 + %k] : memref<64x64xf32>
        loop.yield %0 : f32
      } : memref<16x16xf32, 3 : i64>
      %ws = tile.stage (%k_1, %j) in [16, 16] {
        %1 = loop.load %w[%ko * 16 + %k_1, %bn * 16 + %j] : memref<64x64xf32>
        loop.yield %1 : f32
      } : memref<16x16xf32, 3 : i64>
      %chunk = loop.reduce %ki in 16 with add {
        %2 = loop.load %xs[%tm, %ki] : memref<16x16xf32, 3 : i64>
        %3 = loop.load %ws[%ki, %tn] : memref<16x16xf32, 3 : i64>
        %4 = arith.mulf %2, %3 : f32
        loop.yield %4 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %sum, %out[%bm * 16 + %tm, %bn * 16 + %tn] : memref<64x64xf32>
  }
}"""

STEPS = (
    DoubleBufferPass(depth=3),
    TmaCopyPass(slabs=("xs",)),
    SplitInnerForSwizzlePass(width=64, slabs=("xs",)),
    AsyncCopyPass(),
    PadSmemPass(pad=(4,), slabs=("ws",)),
    PipelineKOuterPass(lookahead=2),
    MarkUnrollPass(limit=16),
)


@pytest.mark.parametrize("last", range(len(STEPS)), ids=[step.name for step in STEPS])
def test_a_second_time_nothing_changes(parse: Callable[[str], ModuleOp], last: int):
    (launch,) = tile.launches_of(parse(MATMUL))
    for step in STEPS[:last]:
        rewrite(step, launch)

    def changes(pattern: RewritePattern) -> bool:
        walker = PatternRewriteWalker(pattern, apply_recursively=False)
        return walker.rewrite_region(launch.kernel.body)

    pattern = STEPS[last].pattern(launch)
    assert changes(pattern)
    done = str(launch)
    assert not changes(pattern)
    assert not changes(STEPS[last].pattern(launch))
    assert str(launch) == done
