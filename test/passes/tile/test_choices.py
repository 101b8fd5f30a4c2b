# SPDX-License-Identifier: Apache-2.0
"""Every choice that a scheduling pass offers is possible, since a tuner may take any of them."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import prod
from pathlib import Path

import pytest
from xdsl.parser import Parser
from xdsl.pattern_rewriter import PatternRewriter

from tilewright.dialects import tile
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.pipeline_string import parse_pipeline
from tilewright.passes.driver.pipelines import available_passes, to_tile
from tilewright.passes.facts.block_joins import reason_not_lowered
from tilewright.passes.tile.chunk_matmul_k import ChunkMatmulKPass
from tilewright.passes.tile.cooperative_reduce import CooperativeReducePass
from tilewright.passes.tile.planner.block_tiles import BLOCK_TILES, MATRIX_TILES, SPLIT_TILES
from tilewright.passes.tile.planner.tiling_choice import CHUNKS, MATRIX_CHUNKS, SPLITS
from tilewright.passes.tile.register_tile_sizes import FACTORS
from tilewright.passes.tile.scheduling_decision import carry_out
from tilewright.passes.tile.scheduling_pass import SchedulingPass, prefer
from tilewright.passes.tile.split_matmul_k import SplitMatmulKPass

STEPS = [
    step
    for step in parse_pipeline(to_tile(), available_passes())
    if isinstance(step, SchedulingPass)
]
# sm_80 lacks clusters and TMA; sm_90a and sm_120 have them, and sm_120 has less shared memory.
TARGETS = ("sm_80", "sm_90a", "sm_120")
FOLDER = Path(__file__).parent
FILES = [path for path in FOLDER.rglob("*.mlir") if "tile.launch" in path.read_text()]

MOST_POSSIBLE = 400
"""Largest number of combinations of answers that are all enumerated by `possible`."""

MOST = 240
"""
Upper bound on a pass's choices. `register-tile` has the most: all tiles of a thread with each
number of blocks. Other passes have a few dozen.
"""


@pytest.fixture(scope="module")
def launches() -> list[tile.LaunchOp]:
    """All launches in the `.mlir` files of this folder."""
    modules = [Parser(context(), path.read_text()).parse_module() for path in FILES]
    return [op for module in modules for op in module.walk() if isinstance(op, tile.LaunchOp)]


def assert_answers(
    step: SchedulingPass, launch: tile.LaunchOp, choices: Sequence[SchedulingPass]
) -> None:
    """
    Assert that each choice answers the questions of the pass with values that the questions offer.
    """
    questions = step.questions(launch)
    if prod(map(len, questions.values())) <= MOST_POSSIBLE:
        assert {*choices} <= {*step.possible(launch)}
        return
    for choice, question in product(choices, questions):
        option, _, name = question.partition(" ")
        if not name:
            assert getattr(choice, option) in questions[question], (choice.step(), question)


def assert_choices_are_possible(step: SchedulingPass, launch: tile.LaunchOp) -> None:
    """
    Assert that every choice of the pass is possible; a pass without choices must return a reason.
    """
    name = launch.kernel.sym_name.data
    choices = [*prefer(step, launch)]
    assert len(choices) <= MOST
    assert_answers(step, launch, choices)
    for choice in choices:
        assert choice.reason_not_possible(launch) is None, (name, choice.step())
    assert choices or step.reason_not_possible(launch) is not None, name


@pytest.mark.one_in(2)
@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_choices_are_possible(
    step: SchedulingPass, launches: list[tile.LaunchOp], request: pytest.FixtureRequest
) -> None:
    every_case = request.config.getoption("--every-case")
    anchors = [launch for launch in launches if step.reason_against(launch) is None]
    assert anchors
    for i, launch in enumerate(anchors if every_case else anchors[::2]):
        for target in TARGETS if every_case else TARGETS[i % 3 :][:1]:
            asked = replace(step, target=target)
            if asked.reason_against(launch) is None:
                assert_choices_are_possible(asked, launch)


def test_joins_that_are_not_tried_are_lowered(launches: list[tile.LaunchOp]) -> None:
    steps = (
        CooperativeReducePass(threads=32, rows=1, split=2, join="cluster"),
        SplitMatmulKPass(factor=2, join="cluster"),
        SplitMatmulKPass(factor=2, join="last_block"),
    )
    accepted = [
        (step, launch)
        for step, launch in product(steps, launches)
        if step.reason_against(launch) is None and step.reason_not_possible(launch) is None
    ]
    assert {step for step, _ in accepted} == {*steps}
    for step, launch in accepted:
        assert reason_not_lowered(launch, step.match_and_rewrite) is None, str(launch)


def test_passes_offer_the_values_that_the_planner_compares() -> None:
    (launch,) = tile.launches_of(Parser(context(), MATMUL).parse_module())
    offered = ChunkMatmulKPass().questions(launch)["bk"]
    assert {*CHUNKS, *MATRIX_CHUNKS} <= {*offered}
    (chunked,) = tile.launches_of(Parser(context(), MATMUL).parse_module())
    carry_out(ChunkMatmulKPass(bk=16), chunked, PatternRewriter(chunked))
    assert {*SPLITS} == {1, *SplitMatmulKPass().questions(chunked)["factor"]}
    tiles = (*BLOCK_TILES, *MATRIX_TILES, *SPLIT_TILES)
    assert {*(each.fm for each in tiles), *(each.fn for each in tiles)} <= {*FACTORS}


MATMUL = """
loop.kernel @mm(%x: memref<64x4096xf32>, %w: memref<4096x64xf32>) -> (%out: memref<64x64xf32>) {
  tile.launch (%i = block 64 m, %j = block 64 n) {
    %sum = loop.reduce %k in 4096 with add {
      %0 = loop.load %x[%i, %k] : memref<64x4096xf32>
      %1 = loop.load %w[%k, %j] : memref<4096x64xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %sum, %out[%i, %j] : memref<64x64xf32>
  }
}
"""
