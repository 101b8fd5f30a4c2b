# SPDX-License-Identifier: Apache-2.0
"""The space of schedules: each leaf can be built, and gives the kernel that it names."""

from random import Random

import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import loop
from tilewright.dialects.schedule import ScheduleAttr
from tilewright.dialects.target import target as target_named
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import context, lower
from tilewright.passes.tile.apply_schedule import ApplySchedulePass
from tilewright.tuning.evaluators.model import model
from tilewright.tuning.search.frame import Limits, at_once, trials
from tilewright.tuning.search.mcts import Mcts
from tilewright.tuning.search.tree import random_leaf
from tilewright.tuning.space import Node, Space

from .kernels import ELEMENTS, HALVES, MATMUL, ROWS, SPLIT, kernel_of

KERNELS = (MATMUL, HALVES, SPLIT, ROWS, ELEMENTS)


def applied(kernel: loop.KernelOp, schedule: str, target: str) -> loop.KernelOp:
    """Return the kernel after `apply-schedule`."""
    copy = kernel.clone()
    copy.planned = ScheduleAttr.parse(schedule)
    module = ModuleOp([copy])
    ApplySchedulePass(target).apply(context(), module)
    (made,) = module.ops
    assert isinstance(made, loop.KernelOp)
    return made


@pytest.mark.one_in(3)
@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("text", KERNELS)
def test_the_first_leaf_is_the_default(text: str, target: str):
    kernel = kernel_of(text)
    space = Space(kernel, target)
    node = space.root
    while node.children:
        node = node.children[0]
    (planned,) = lower(ModuleOp([kernel.clone()]), Level.TILE, target=target).ops
    assert str(space.kernel(node)) == str(planned)
    assert f'schedule "{node.schedule}"' in str(planned)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("text", KERNELS)
def test_a_schedule_makes_its_kernel(text: str):
    kernel, random = kernel_of(text), Random(1)
    space, found = Space(kernel), set[str]()
    for _ in range(8):
        leaf = random_leaf(space.root, random)
        if leaf.schedule is None:
            continue
        found.add(leaf.schedule)
        made = applied(kernel, leaf.schedule, space.target)
        assert str(made) == str(space.kernel(leaf))
    assert len(found) > 4


def test_blocks_fit():
    space, target = Space(kernel_of(MATMUL), "sm_80"), target_named("sm_80")
    random = Random(2)
    launches = [space.states.after(leaf.steps) for leaf in leaves(space, random, 10)]
    assert all(launch.num_threads <= target.max_threads_per_block for launch in launches)


def leaves(space: Space, random: Random, count: int) -> list[Node]:
    """Return some whole schedules."""
    found = (random_leaf(space.root, random) for _ in range(count))
    return [leaf for leaf in found if leaf.schedule is not None]


def test_evicted_states_are_built_again():
    kernel = kernel_of(MATMUL)
    space, forgetful = Space(kernel), Space(kernel, kept=1)
    nodes = [leaves(each, Random(3), 3) for each in (space, forgetful)]
    for kept, made in zip(*nodes, strict=True):
        assert str(space.kernel(kept)) == str(forgetful.kernel(made))
    assert forgetful.states.carried_out > space.states.carried_out


def first_with(space: Space, answer: str) -> Node:
    """Return the leaf of the best guesses, but with `answer` where a question offers it."""
    node = space.root
    while node.children:
        found = [child for child in node.children if child.label == answer]
        node = found[0] if found else node.children[0]
    return node


@pytest.mark.parametrize("text", [HALVES, SPLIT])
def test_tensor_cores_are_a_decision(text: str):
    space = Space(kernel_of(text))
    default = first_with(space, "")
    without = first_with(space, "tensor-core left out")
    for leaf, used, unused in (
        (default, "tensor-core{", "permute-register-tile"),
        (without, "permute-register-tile", "tensor-core"),
    ):
        assert leaf.schedule is not None
        assert used in leaf.schedule
        assert unused not in leaf.schedule
    assert (
        model(space.target)(space.kernel(default)).us
        != model(space.target)(space.kernel(without)).us
    )


@pytest.mark.one_in(2)
@pytest.mark.parametrize(("text", "keeps"), [(HALVES, True), (MATMUL, False)])
def test_a_search_tries_both_and_keeps_what_is_faster(text: str, keeps: bool):
    space = Space(kernel_of(text))
    measure = model(space.target)
    measured = at_once(lambda leaf: measure(space.kernel(leaf)))
    found = [*trials(Mcts(space.root, 0), measured, Limits(budget=30))]
    tried = {"tensor-core{" in trial.measurement.schedule for trial in found}
    assert tried == {True, False}
    assert ("tensor-core{" in found[-1].best.schedule) == keeps


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "answer", ["chunk-matmul-k bk=8", "register-tile fm=1", "register-tile fk=4"]
)
def test_tiles_that_do_not_suit_tensor_cores_do_without(answer: str):
    space = Space(kernel_of(HALVES))
    leaf = first_with(space, answer)
    assert leaf.schedule is not None
    assert answer.split(" ")[1] in leaf.schedule
    assert "tensor-core" not in leaf.schedule


def test_reasons_are_counted():
    space = Space(kernel_of(ELEMENTS))
    assert random_leaf(space.root, Random(4)).schedule is not None
    assert space.reasons["chunk-matmul-k"].total() == 1


PINS = (
    (SPLIT, "plan-schedules,double-buffer{depth=3}"),
    (MATMUL, "plan-schedules,chunk-matmul-k{bk=40},register-tile{fm=2}"),
    (ROWS, "plan-schedules,cooperative-reduce{threads=64}"),
    (ROWS, "tileify,cooperative-reduce{rows=1},mark-unroll{limit=1}"),
    (MATMUL, "tileify,chunk-matmul-k,blockify-launch{m=8},stage-inputs"),
    (ELEMENTS, "blockify-launch{n=64}"),
)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("text", "pins"), PINS)
def test_the_first_leaf_is_the_default_with_pins(text: str, pins: str):
    kernel = kernel_of(text)
    kernel.planned = ScheduleAttr.parse(pins)
    space = Space(kernel)
    leaf = first_with(space, "")
    (planned,) = lower(ModuleOp([kernel.clone()]), Level.TILE, target=space.target).ops
    assert str(space.kernel(leaf)) == str(planned)


@pytest.mark.one_in(6)
@pytest.mark.parametrize(("text", "pins"), PINS)
def test_each_schedule_has_the_pins(text: str, pins: str):
    kernel, random = kernel_of(text), Random(5)
    kernel.planned = ScheduleAttr.parse(pins)
    asked = [step for step in kernel.planned.steps if step.name != "plan-schedules"]
    space = Space(kernel)
    found = {leaf.schedule for leaf in leaves(space, random, 12)}
    assert len(found) > 1
    for schedule in found:
        assert schedule is not None
        made = {step.name: step for step in ScheduleAttr.parse(schedule).steps}
        for step in asked:
            assert step.parameters.items() <= made[step.name].parameters.items()


def test_steps_that_a_schedule_does_not_name_are_excluded():
    kernel, random = kernel_of(MATMUL), Random(6)
    kernel.planned = ScheduleAttr.parse("tileify,blockify-launch,mark-unroll")
    steps = {
        tuple(step.name for step in ScheduleAttr.parse(leaf.schedule or "").steps)
        for leaf in leaves(Space(kernel), random, 6)
    }
    assert steps == {("tileify", "blockify-launch", "mark-unroll")}


@pytest.mark.parametrize("text", [ROWS, ELEMENTS])
def test_a_whole_schedule_leaves_no_choice(text: str):
    kernel = kernel_of(text)
    whole = first_with(Space(kernel), "").schedule
    assert whole is not None
    kernel.planned = ScheduleAttr.parse(whole)
    assert [*Space(kernel).root.children] == []
    assert Space(kernel).root.schedule == whole


def test_a_pin_without_effect_is_none():
    kernel = kernel_of(ELEMENTS)
    kernel.planned = ScheduleAttr.parse("plan-schedules,chunk-matmul-k{bk=8}")
    assert Space(kernel).pins.options == {}


@pytest.mark.parametrize(
    ("pin", "answer", "reason"),
    [
        (
            "register-tile{fm=16}",
            "blockify-launch m=8",
            "its pinned options are not possible",
        ),
        (
            "double-buffer{depth=3}",
            "chunk-matmul-k left out",
            "no slab is filled in the steps of a loop",
        ),
    ],
)
def test_a_choice_that_excludes_a_pin_is_no_schedule(pin: str, answer: str, reason: str):
    kernel = kernel_of(MATMUL)
    kernel.planned = ScheduleAttr.parse(f"plan-schedules,{pin}")
    space = Space(kernel)
    leaf = first_with(space, answer)
    assert leaf.schedule is None
    assert space.reasons[pin.partition("{")[0]][reason] == 1
