# SPDX-License-Identifier: Apache-2.0
"""
Contractions of random sizes, for which each pass takes a random one of its choices. Every choice is
possible, and the interpreter's results stay unchanged. Some schedules run in the simulator.
"""

from collections.abc import Callable

import pytest
import torch
from draws import drawn
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject
from needs import needs_nvrtc
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import tile
from tilewright.dialects.target import TARGETS
from tilewright.interpreters.check import check_pass
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.verification import verify_module
from tilewright.passes.rewriting.launching import with_main
from tilewright.passes.tile.chunk_matmul_k import ChunkMatmulKPass
from tilewright.passes.tile.scheduling_decision import rewrite
from tilewright.passes.tile.scheduling_pass import SchedulingPass, prefer
from tilewright.passes.tile.split_matmul_k import SplitMatmulKPass
from tilewright.passes.tile.tileify import TileifyPass

from .contractions import CASES, Sizes, contraction
from .scheduled import loops_of, run, simulate

Parse = Callable[[str], ModuleOp]

EXTENTS = st.integers(1, 70)
SIZES = st.builds(
    Sizes, EXTENTS, EXTENTS, EXTENTS | st.sampled_from([1, 65, 127, 300]), st.integers(1, 4)
)


def decide(step: SchedulingPass, module: ModuleOp, data: DataObject) -> None:
    """Apply a random choice of `step` to each launch that the pass does not skip."""
    for launch in [op for op in module.walk() if isinstance(op, tile.LaunchOp)]:
        if step.reason_against(launch) is not None:
            continue
        chosen = data.draw(st.sampled_from(list(prefer(step, launch))))
        note(chosen.step())
        assert chosen.reason_not_possible(launch) is None
        rewrite(chosen, launch)


def check(case: str, sizes: Sizes, target: str, data: DataObject) -> None:
    """
    Check that random scheduling choices change no result, and that the passes then skip every
    launch.
    """
    module = loops_of(contraction(case, sizes, fake=True))
    before = module.clone()
    TileifyPass(columns=True).apply(context(), module)
    for step in (ChunkMatmulKPass(target), SplitMatmulKPass(target)):
        decide(step, module, data)
        assert all(
            step.reason_against(op) is not None
            for op in module.walk()
            if isinstance(op, tile.LaunchOp)
        )
    verify_module(module)
    assert check_pass(before, module, "tile").notes == ()
    run(module, "blockify-launch,cooperative-reduce,split-joins,convert-tile-to-kernel")
    assert check_pass(before, module, "kernel").notes == ()


@settings(max_examples=drawn(12), suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from([*CASES]), SIZES, st.sampled_from(TARGETS), st.data())
def test_choices(case: str, sizes: Sizes, target: str, data: DataObject):
    check(case, sizes, target, data)


@settings(max_examples=600, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from([*CASES]), SIZES, st.sampled_from(TARGETS), st.data())
def test_many_choices(every_case: None, case: str, sizes: Sizes, target: str, data: DataObject):
    check(case, sizes, target, data)


# Splits of the chunks of 33x65 @ 65x17 over blocks: K has 9 chunks of 8, 5 of 16, or 3 of 32 steps.
SPLITS = {
    "cluster": "chunk-matmul-k{bk=8},split-matmul-k{factor=4 join=cluster}",
    "last block": "chunk-matmul-k{bk=16},split-matmul-k{factor=4 join=last_block}",
    "workspace": "chunk-matmul-k{bk=8},split-matmul-k{factor=5 join=workspace}",
    "atomic": "chunk-matmul-k{bk=32},split-matmul-k{factor=3 join=atomic}",
}


@pytest.mark.one_in(4)
@needs_nvrtc
@pytest.mark.parametrize("split", SPLITS.values(), ids=SPLITS)
@pytest.mark.parametrize("case", ["NN", "gated", "int32"])
def test_simulated(case: str, split: str):
    if "atomic" in split and case == "gated":
        pytest.skip("a product of sums is not stored as it is joined")
    source = contraction(case, Sizes(33, 17, 65, 1))
    schedule = f"tileify,{split},blockify-launch{{m=16 n=16}}"
    result = simulate(loops_of(source), schedule, source.args)
    torch.testing.assert_close(result, source.module(*source.args), rtol=1e-5, atol=1e-4)


@needs_nvrtc
def test_attention_is_split_too():
    # Every block computes the statistics of its rows; only the sum over values is split.
    source = contraction("attention", Sizes(20, 19, 16, 2))
    split = "chunk-matmul-k{bk=8},split-matmul-k{factor=2 join=last_block}"
    schedule = f"tileify{{columns=true}},{split},blockify-launch"
    result = simulate(loops_of(source), schedule, source.args)
    torch.testing.assert_close(result, source.module(*source.args), rtol=1e-5, atol=1e-5)


STAGED = (
    "blockify-launch{m=32 n=16},cooperative-reduce,stage-inputs,register-tile,double-buffer,"
    "async-copy,pipeline-k-outer,mark-unroll"
)


@pytest.mark.one_in(3)
@needs_nvrtc
@pytest.mark.parametrize("case", ["attention", "gated", "softplus prologue"])
def test_chunks_are_staged(case: str):
    # Seven chunks are split over three blocks, in rings of several slots; the last block has one
    # chunk.
    source = contraction(case, Sizes(21, 19, 50, 2))
    split = "chunk-matmul-k{bk=8},split-matmul-k{factor=3 join=cluster}"
    result = simulate(loops_of(source), f"tileify{{columns=true}},{split},{STAGED}", source.args)
    torch.testing.assert_close(result, source.module(*source.args), rtol=1e-5, atol=1e-4)


# Elements beyond the diagonal are NaN, and must not be read.
CAUSAL = """
loop.kernel @k(%s: memref<50x50xf32>, %v: memref<50x7xf32>) -> (%out: memref<50x7xf32>) {
  loop.for %i in 50, %j in 7 {
    %sum = loop.reduce %k in 50 with add {
      %0 = loop.load %s[%i, %k] where [%i - %k] : memref<50x50xf32>
      %1 = math.exp %0 : f32
      %2 = loop.load %v[%k, %j] : memref<50x7xf32>
      %3 = arith.mulf %1, %2 : f32
      loop.yield %3 where [%i - %k] : f32
    } : f32
    loop.store %sum, %out[%i, %j] : memref<50x7xf32>
  }
}"""


@needs_nvrtc
@pytest.mark.parametrize(
    "split", ["chunk-matmul-k{bk=8}", "chunk-matmul-k{bk=8},split-matmul-k{factor=3 join=cluster}"]
)
def test_beyond_the_diagonal(parse: Parse, split: str):
    scores, values = torch.randn(50, 50), torch.randn(50, 7)
    expected = scores.exp().tril() @ values
    scores[torch.ones(50, 50).triu(1).bool()] = torch.nan
    module = with_main(parse(CAUSAL))
    schedule = f"tileify,{split},blockify-launch{{m=16 n=8}}"
    result = simulate(module, schedule, [scores, values])
    torch.testing.assert_close(result, expected, rtol=1e-5, atol=1e-4)
