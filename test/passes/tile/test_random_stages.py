# SPDX-License-Identifier: Apache-2.0
"""
Kernels with random schedules lose their slabs and get new ones by `stage-inputs`, with a random
choice of how to stage each operand. Their results stay unchanged.
"""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import note
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from tilewright.api import lower
from tilewright.dialects import loop, tile
from tilewright.dialects.element_types import number_attribute
from tilewright.dialects.types import memref_type
from tilewright.interpreters import interpret
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.verification import verify_module
from tilewright.passes.rewriting.launching import with_main
from tilewright.passes.rewriting.simplify_accesses import simplify_accesses
from tilewright.passes.rewriting.substitution import Substitution
from tilewright.passes.tile.scheduling_decision import rewrite
from tilewright.passes.tile.scheduling_pass import prefer
from tilewright.passes.tile.stage_inputs import StageInputsPass

from .kernels.references import FOLDER
from .schedules.drawing import Drawn
from .test_random_schedules import KINDS, assert_same, check_many, schedules, times

Parse = Callable[[str], ModuleOp]


def launch_of(module: ModuleOp) -> tile.LaunchOp:
    """Return the only launch of a module."""
    (launch,) = [op for op in module.walk() if isinstance(op, tile.LaunchOp)]
    return launch


def without_slabs(launch: tile.LaunchOp) -> None:
    """
    Remove all slabs and shares of a launch: each load from a slab becomes the computation that
    filled it.
    """
    rewriter = PatternRewriter(launch)
    for stage in reversed(tile.stages_of(launch)):
        for load in [use.operation for use in stage.slab.uses]:
            assert isinstance(load, loop.LoadOp)
            _compute(stage, load, rewriter)
        rewriter.erase(stage)
    for share in [op for op in launch.walk() if isinstance(op, tile.ShareOp)]:
        _hold(share, rewriter)
    simplify_accesses(launch)


def _hold(share: tile.ShareOp, rewriter: PatternRewriter) -> None:
    """Remove a `tile.share`: each thread uses its own value instead of loading it from the slab."""
    for load in [use.operation for use in share.slab.uses]:
        assert isinstance(load, loop.LoadOp)
        assert (load.map, [*load.indices]) == (share.map, [*share.indices])
        rewriter.replace(load, [], [share.value])
    rewriter.erase(share)


def _compute(stage: tile.StageOp, load: loop.LoadOp, rewriter: PatternRewriter) -> None:
    """
    Replace a load from a slab by the stage's computation at the load's subscripts, with the stage's
    mask.
    """
    assert load.mask is None
    substitution = Substitution()
    for axis, subscript in zip(stage.body.block.args, load.map.data.results, strict=True):
        substitution.indices[axis] = (subscript, tuple(load.indices))
    terminator = stage.yield_op
    here = InsertPoint.before(load)
    for op in stage.body.block.ops:
        if op is not terminator:
            rewriter.insert(substitution.clone(op), here)
    value = substitution.value(terminator.values[0])
    if (mask := substitution.mask(terminator)) is not None:
        inside = rewriter.insert(loop.PredicateOp(mask), here)
        zero = rewriter.insert(arith.ConstantOp(number_attribute(0, value.type)), here)
        value = rewriter.insert(arith.SelectOp(inside.result, value, zero.result), here).result
    rewriter.replace(load, [], [value])


@st.composite
def staged(draw: DrawFn, kind: str) -> tuple[Drawn, ModuleOp]:
    """Draw a kernel, and a module of it with new slabs by `stage-inputs`, if the pass makes any."""
    drawn = draw(schedules(kind))
    module = Parser(context(), drawn.text).parse_module()
    launch = launch_of(module)
    without_slabs(launch)
    if StageInputsPass().reason_against(launch) is not None:
        return drawn, with_main(module)
    choice = draw(st.sampled_from(list(prefer(StageInputsPass(), launch))))
    note(f"\n{module}\n{choice.step()}")
    assert choice.reason_not_possible(launch) is None
    rewrite(choice, launch)
    verify_module(module)
    return drawn, with_main(module)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", KINDS)
def test_interpreted(kind: str, request: pytest.FixtureRequest):
    def check(pair: tuple[Drawn, ModuleOp]) -> None:
        drawn, module = pair
        note(f"\n{module}")
        if not tile.stages_of(launch_of(module)):
            return
        assert_same(interpret(module, *drawn.inputs, dtype=np.float64), drawn)
        lowered = lower(module, "kernel", "sm_90a")
        assert_same(interpret(lowered, *drawn.inputs, dtype=np.float64), drawn)

    check_many(staged(kind), times(request) * KINDS[kind][1] // 2, check)


# The pass restores the slabs of the hand-written kernels.
@pytest.mark.parametrize(
    "name",
    ["matmul_split_k", "gated_matmul", "batched_matmul_tma", "attention_values", "matmul_odd"],
)
def test_kernels_written_by_hand(parse: Parse, name: str):
    module = parse((FOLDER / f"{name}.mlir").read_text())
    launch = launch_of(module)
    had = [slab_text(stage) for stage in tile.stages_of(launch)]
    without_slabs(launch)
    assert not tile.stages_of(launch)
    rewrite(next(iter(prefer(StageInputsPass(), launch))), launch)
    assert [slab_text(stage) for stage in tile.stages_of(launch)] == had


def slab_text(stage: tile.StageOp) -> str:
    """Return the shape of a slab, its loads, and the ops that compute it, as text."""
    loads = [op for op in stage.body.block.ops if isinstance(op, loop.LoadOp)]
    reads = [f"{load.memref.name_hint}{load.map.data} where {load.mask}" for load in loads]
    ops = [op.name for op in stage.body.block.ops]
    return f"{memref_type(stage.slab).get_shape()} {reads} {ops}"
