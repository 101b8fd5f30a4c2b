# SPDX-License-Identifier: Apache-2.0
"""The tree of ways to fuse a program: each leaf can be built, and computes the same results."""

from collections import Counter
from functools import cache
from pathlib import Path
from random import Random

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

import tilewright
from tilewright.dialects import loop
from tilewright.dialects.types import tensor_type
from tilewright.errors import UsageError
from tilewright.frontend.expression import parse_expression
from tilewright.interpreters.host import interpret
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import context, lower
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.pipeline_string import parse_pipeline
from tilewright.passes.driver.pipelines import available_passes
from tilewright.tools.tune.fusion_tuning import launches_by_digest, program_us
from tilewright.tuning.database import Database
from tilewright.tuning.fusion_schedule import DEFAULT, decided, fused_by, fusion_of, schedule_of
from tilewright.tuning.fusions import Fusions, Node, fuse
from tilewright.tuning.host_functions import entries, launches
from tilewright.tuning.known_fusion import with_known_fusion
from tilewright.tuning.measurement import Measurement
from tilewright.tuning.program_key import digest, key_of, note_of
from tilewright.tuning.search.tree import random_leaf

TARGET = "sm_90a"

ATTENTION = "F.scaled_dot_product_attention(*[torch.randn(2, 24, 8) for _ in range(3)])"
MLP = "nn.Sequential(nn.Linear(24, 40), nn.SiLU(), nn.Linear(40, 24))(torch.randn(6, 24))"
NORM = "nn.RMSNorm(48)(torch.randn(8, 48)) @ torch.randn(48, 16)"
PROGRAMS = (ATTENTION, MLP, NORM)

APART = "fuse-reduction:rms_norm_1>rms_norm_2"


@cache
def captured(expression: str) -> ModuleOp:
    """Return an expression at Torch IR, cached: it must not be changed."""
    model = parse_expression(expression, fake=True, seed=0)
    return tilewright.capture(model.module, *model.args, kwargs=model.kwargs).module


@cache
def program(expression: str) -> ModuleOp:
    """Return an expression at Tensor IR, cached: it must not be changed."""
    return lower(captured(expression), Level.TENSOR, target=TARGET)


def any_leaf(fusions: Fusions, random: Random) -> Node:
    """Return a random leaf with at least one overturned decision."""
    return random_leaf(random.choice(fusions.root.children[1:]), random)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("expression", PROGRAMS)
def test_the_first_leaf_is_the_default(expression: str) -> None:
    fusions = Fusions(program(expression), TARGET)
    leaf = fusions.root.children[0]
    assert (leaf.label, leaf.schedule) == ("as it is", DEFAULT)
    nests = lower(program(expression), Level.LOOP, target=TARGET)
    assert str(fusions.nests(leaf)) == str(nests)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("expression", PROGRAMS)
def test_overturned_decisions_compute_the_same(expression: str) -> None:
    tensors, random = program(expression), Random(3)
    fusions, generator = Fusions(tensors, TARGET), np.random.default_rng(0)
    (main,) = entries(captured(expression))
    shapes = [tensor_type(argument).get_shape() for argument in main.body.block.args]
    arrays = [generator.standard_normal(shape) for shape in shapes]
    expected = interpret(tensors, *arrays, dtype=np.float64)
    found = set[str]()
    for _ in range(6):
        leaf = any_leaf(fusions, random)
        nests = fusions.nests(leaf)
        found.add(str(nests))
        results = interpret(nests, *arrays, dtype=np.float64)
        for result, right in zip(results, expected, strict=True):
            np.testing.assert_allclose(result, right, rtol=1e-9, atol=1e-9)
    assert len(found) > 1


@pytest.mark.one_in(3)
@pytest.mark.parametrize("expression", PROGRAMS)
def test_a_schedule_makes_its_program(expression: str) -> None:
    fusions = Fusions(program(expression), TARGET)
    leaf = any_leaf(fusions, Random(1))
    assert leaf.schedule is not None
    module = Parser(context(), str(program(expression))).parse_module()
    PassManager(context()).run(module, parse_pipeline(leaf.schedule, available_passes()))
    assert launches_by_digest(module) == launches_by_digest(fusions.nests(leaf))
    assert schedule_of(fusion_of(leaf.schedule)) == leaf.schedule


def test_all_leaves_are_different_programs() -> None:
    pending, found = [*Fusions(program(NORM), TARGET).root.children], list[str | None]()
    while pending and len(found) < 12:
        node = pending.pop(0)
        pending += node.children
        if not node.children:
            found.append(node.schedule)
    assert len({*found}) == len(found) == 12


def test_decisions_that_are_overturned_are_met() -> None:
    fusions, random = Fusions(program(ATTENTION), TARGET), Random(2)
    for _ in range(4):
        fused = fusions.fused(any_leaf(fusions, random).fusion)
        assert fused is not None
        assert fused.idle == []


def test_decisions_that_do_not_come_up_are_reported() -> None:
    fusion = loop.FusionAttr.get(apart=[APART, "fuse-epilogue:a>b"])
    fused = fuse(program("nn.RMSNorm(64)(torch.randn(8, 64))"), fusion, TARGET)
    assert fused.idle == ["fuse-epilogue:a>b"]
    assert fused.fuses[APART] is False
    assert len([*launches(fused.nests)]) == 2


def test_the_least_sure_decisions_come_first() -> None:
    fusions = Fusions(program(ATTENTION), TARGET)
    root = fusions.fused(loop.FusionAttr.get())
    assert root is not None
    names = [each.label.partition(" ")[2] for each in fusions.root.children[1:]]
    assert {*names} == {*root.fuses}
    ratios = [max(r, 1 / r) for r in map(root.ratios.__getitem__, names)]
    assert ratios == sorted(ratios)


def test_schedules_of_programs() -> None:
    fusion = loop.FusionAttr.get(fused=["inline-elementwise:a>b+c"], apart=[APART])
    text = f'decide-fusion{{fused="inline-elementwise:a>b+c" apart="{APART}"}},to-loop'
    assert schedule_of(fusion) == text
    assert fusion_of(text) == fusion
    assert fusion_of("to-loop") == loop.FusionAttr.get()
    for other in ("tileify", "tileify,to-loop", "decide-fusion{apart=a},to-loop"):
        with pytest.raises(UsageError):
            fusion_of(other)


def test_digests_of_programs() -> None:
    tensors = program(NORM)
    again = Parser(context(), str(tensors)).parse_module()
    assert digest(fused_by(again, schedule_of(loop.FusionAttr.get(apart=[APART])))) == digest(again)
    assert len({digest(program(expression)) for expression in PROGRAMS}) == len(PROGRAMS)
    renamed = Parser(context(), str(again).replace("%matmul", "%product")).parse_module()
    assert digest(renamed) != digest(again)


def test_the_default_is_kept_if_another_is_as_slow(tmp_path: Path) -> None:
    tensors, path = program(NORM), tmp_path / "tuning.sqlite"
    apart = schedule_of(loop.FusionAttr.get(apart=[APART]))
    with Database.writing(path) as database:
        for schedule in (apart, DEFAULT):
            database.add(key_of(tensors, TARGET, "model"), Measurement(schedule, 5.0))
    fusing = with_known_fusion(tensors, TARGET, path)
    assert fusing.known is not None
    assert (fusing.known.schedule, str(fusing.module)) == (DEFAULT, str(tensors))


def test_the_note_of_a_program() -> None:
    tensors = decided(program(NORM), loop.FusionAttr.get(apart=[APART]))
    note = note_of(tensors, NORM)
    assert note.about == "program(48xf32, 8x48xf32, 48x16xf32) -> 8x16xf32"
    assert (note.name, note.inputs, note.origin) == ("program", (), NORM)
    assert note.ir == str(program(NORM))


CALLS = """\
func.func @main(%x: memref<8xf32>, %a: memref<8xf32>) {
  func.call @layer(%x, %a) : (memref<8xf32>, memref<8xf32>) -> ()
  func.call @layer(%a, %x) : (memref<8xf32>, memref<8xf32>) -> ()
  loop.launch @k(%x) -> (%a) : (memref<8xf32>) -> (memref<8xf32>)
  func.return
}
func.func @layer(%x: memref<8xf32>, %a: memref<8xf32>) {
  loop.launch @k(%x) -> (%a) : (memref<8xf32>) -> (memref<8xf32>)
  loop.launch @k(%a) -> (%x) : (memref<8xf32>) -> (memref<8xf32>)
  func.return
}
loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
    %0 = loop.load %x[%i] : memref<8xf32>
    loop.store %0, %out[%i] : memref<8xf32>
  }
}
"""


def test_each_launch_counts_as_often_as_it_runs() -> None:
    ((kernel, times),) = launches_by_digest(Parser(context(), CALLS).parse_module()).items()
    assert times == 5
    assert program_us(Counter({kernel: 5}), {kernel: 2.5}.get) == 12.5
    assert program_us(Counter({kernel: 5, "other": 1}), {kernel: 2.5}.get) is None
