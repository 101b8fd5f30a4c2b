# SPDX-License-Identifier: Apache-2.0
"""
Kernels of random sizes, split into blocks, threads and registers by random choices of the passes.
The interpreter's results stay unchanged down to Kernel IR. Some schedules run in the simulator.
"""

import pytest
import torch
from draws import drawn
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from hypothesis.strategies import DataObject
from needs import needs_nvrtc
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import tile
from tilewright.dialects.tile.attributes import Level
from tilewright.frontend.expression import Expression, parse_expression
from tilewright.interpreters.check import check_pass
from tilewright.passes.driver.verification import verify_module
from tilewright.passes.tile.blockify_launch import BlockifyLaunchPass
from tilewright.passes.tile.chunk_matmul_k import ChunkMatmulKPass
from tilewright.passes.tile.cooperative_reduce import CooperativeReducePass
from tilewright.passes.tile.mark_unroll import MarkUnrollPass
from tilewright.passes.tile.register_tile import RegisterTilePass
from tilewright.passes.tile.scheduling_decision import rewrite
from tilewright.passes.tile.scheduling_pass import SchedulingPass, prefer, reason_to_skip
from tilewright.passes.tile.stage_inputs import StageInputsPass

from .contractions import CASES, Sizes, contraction
from .scheduled import loops_of, run, simulate

EXTENTS = st.integers(1, 70)
SIZES = st.builds(
    Sizes, EXTENTS, EXTENTS, EXTENTS | st.sampled_from([1, 64, 128]), st.integers(1, 3)
)

MOST_ELEMENTS = 4096
"""Largest `m * n` of a block: the interpreter computes all its elements, masked or not."""

OTHERS = (
    "torch.randn({m}, {n}) + torch.randn({n})",
    "torch.randn({n}, {m}).T * torch.randn({m}, {n})",
    "torch.randn({b}, {m}, {n}).half() + 1",
    "torch.randn({b}, {m}, {k})[:, ::2] - torch.randn({k})",
    "torch.cat([torch.randn({m}, {n}), torch.randn({m}, {k})], 1).relu()",
    "F.softmax(torch.randn({m}, {k}), -1)",
    "F.softmax(torch.randn({k}, {m}), 0)",
    "F.layer_norm(torch.randn({m}, {k}), ({k},))",
    "torch.argmax(torch.randn({m}, {k}), -1)",
    "torch.randn({m}, 3).amax(-1)",
    "torch.cumsum(torch.randn({m}, {n}), 1)",
    "F.embedding(torch.randint(0, {m}, ({k},)), torch.randn({m}, {n}))",
)


def launches(module: ModuleOp) -> list[tile.LaunchOp]:
    return [op for op in module.walk() if isinstance(op, tile.LaunchOp)]


def decide(step: SchedulingPass, launch: tile.LaunchOp, data: DataObject) -> None:
    """Apply a random choice of `step` to the launch, unless the pass skips it."""
    if step.reason_against(launch) is not None:
        return
    choices = [choice for choice in prefer(step, launch) if is_small(choice)]
    chosen = data.draw(st.sampled_from(choices))
    note(chosen.step())
    assert chosen.reason_not_possible(launch) is None
    rewrite(chosen, launch)


def is_small(step: SchedulingPass) -> bool:
    if not isinstance(step, BlockifyLaunchPass):
        return True
    return (step.m or 1) * (step.n or 1) <= MOST_ELEMENTS


def check(source: Expression, data: DataObject) -> None:
    """
    Check that random scheduling choices change no result, and that `register-tile` then skips the
    launches.
    """
    module = loops_of(source)
    before = module.clone()
    run(module, "tileify")
    steps = [ChunkMatmulKPass(), BlockifyLaunchPass(), CooperativeReducePass(), StageInputsPass()]
    if data.draw(st.booleans()):
        steps.remove(StageInputsPass())
    for step in (*steps, RegisterTilePass(), MarkUnrollPass()):
        for launch in launches(module):
            shares = step.name == "blockify-launch" and reason_to_skip(step, launch) is not None
            if not shares:
                decide(step, launch, data)
    for launch in launches(module):
        if not launch.axes_at(Level.REGISTER):
            continue
        assert RegisterTilePass().reason_against(launch) is not None
    verify_module(module)
    assert check_pass(before, module, "tile").notes == ()
    run(module, "to-kernel")
    assert check_pass(before, module, "kernel").notes == ()


@settings(max_examples=drawn(6), suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from([*CASES]), SIZES, st.data())
def test_contractions(case: str, sizes: Sizes, data: DataObject):
    check(contraction(case, sizes, fake=True), data)


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from([*CASES]), SIZES, st.data())
def test_many_contractions(every_case: None, case: str, sizes: Sizes, data: DataObject):
    check(contraction(case, sizes, fake=True), data)


@settings(max_examples=drawn(6), suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(OTHERS), SIZES, st.data())
def test_others(text: str, sizes: Sizes, data: DataObject):
    check(parse_expression(text.format(**sizes._asdict()), fake=True), data)


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(OTHERS), SIZES, st.data())
def test_many_others(every_case: None, text: str, sizes: Sizes, data: DataObject):
    check(parse_expression(text.format(**sizes._asdict()), fake=True), data)


TILE = (
    "chunk-matmul-k{bk=8},blockify-launch{m=32 n=32},stage-inputs,register-tile{fm=4 fn=4},"
    "mark-unroll"
)
LINE = "blockify-launch{n=256},register-tile{vector=4 items=2}"
ROWS = "cooperative-reduce{threads=384 rows=1 row=registers},register-tile{items=3 vector=4}"
SIMULATED = {
    "torch.relu(torch.randn(33, 65) @ torch.randn(65, 17) + torch.randn(17))": TILE,
    "torch.bmm(torch.randn(3, 40, 24), torch.randn(3, 33, 24).mT)": TILE,
    "torch.randn(10, 57) + torch.randn(57)": LINE,
    "torch.randn(10, 64) + torch.randn(64)": LINE,
    "F.softmax(torch.randn(6, 300), -1)": ROWS,
    "F.softmax(torch.randn(6, 301), -1)": ROWS,
}


@pytest.mark.one_in(3)
@needs_nvrtc
@pytest.mark.parametrize("text", SIMULATED)
def test_simulated(text: str):
    source = parse_expression(text)
    result = simulate(loops_of(source), f"tileify,{SIMULATED[text]}", source.args)
    torch.testing.assert_close(result, source.module(*source.args), rtol=1e-5, atol=1e-4)
