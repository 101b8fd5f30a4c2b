# SPDX-License-Identifier: Apache-2.0
"""Planning around pinned steps of a schedule."""

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.arg_spec import ArgSpec
from xdsl.utils.exceptions import PassFailedException

from tilewright import api
from tilewright.dialects import loop
from tilewright.dialects.schedule import ScheduleAttr
from tilewright.dialects.target import target
from tilewright.errors import TilewrightError
from tilewright.frontend.expression import parse_expression
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.passes.tile.planner.pinned_steps import narrowed, with_pins
from tilewright.passes.tile.planner.plan_schedules import launched, planned_steps, weighed
from tilewright.passes.tile.planner.tiling import Tiling

PROGRAMS = (
    "torch.randn(96, 1000) @ torch.randn(1000, 64)",
    "torch.softmax(torch.randn(64, 1000), -1)",
    "torch.exp(torch.randn(1000))",
)
GPU = target("sm_90a")


def kernel_of(text: str) -> loop.KernelOp:
    """Return the only kernel of an expression, in Loop IR."""
    source = parse_expression(text, fake=True)
    module = api.lower(api.capture(source.module, *source.args), "loop")
    (kernel,) = (op for op in module.ops if isinstance(op, loop.KernelOp))
    return kernel


@pytest.mark.one_in(3)
@pytest.mark.parametrize("program", PROGRAMS)
def test_pinning_the_planners_choice_changes_nothing(program: str) -> None:
    kernel = kernel_of(program)
    planned = planned_steps(kernel, GPU)
    pins = [
        ArgSpec(step.name, {name: value})
        for step in planned.steps
        for name, value in step.parameters.items()
    ]
    assert pins
    for pin in pins:
        assert planned_steps(kernel, GPU, ScheduleAttr.of([pin])) == planned, pin


def test_options_that_no_choice_has_narrow_nothing() -> None:
    choices = ("a{x=1 y=1},c", "a{x=2 y=1},c", "a{x=2 y=2},c")
    pinned = ScheduleAttr.parse("a{x=2 y=3},b{z=1},c{v=1}")
    found, replaced = narrowed(choices, pinned, lambda choice: choice.split(","))
    assert found == ["a{x=2 y=1},c", "a{x=2 y=2},c"]
    assert replaced == {"a"}


def test_pins_of_steps_that_no_choice_decides_keep_the_rest() -> None:
    kernel = kernel_of(PROGRAMS[0])
    planned = planned_steps(kernel, GPU).data
    assert ",pad-smem," in planned
    pinned = planned_steps(kernel, GPU, ScheduleAttr.parse("plan-schedules,pad-smem{pad=2}")).data
    assert pinned == planned.replace("pad-smem", "pad-smem{pad=2}")


def test_from_a_replaced_step_on_only_pinned_options_are_kept() -> None:
    planned = ScheduleAttr.parse(
        "tileify,chunk-matmul-k{bk=16},blockify-launch{m=64 n=64},mark-unroll"
    )
    pinned = ScheduleAttr.parse("plan-schedules,blockify-launch{m=256},mark-unroll{limit=8},cse")
    found = with_pins(planned, pinned, {"blockify-launch"})
    assert found.data == (
        "tileify,chunk-matmul-k{bk=16},blockify-launch{m=256},mark-unroll{limit=8},cse"
    )


PINS = (
    ("torch.randn(256, 64) @ torch.randn(64, 256)", "blockify-launch{m=128 n=128}"),
    ("torch.randn(512, 512) @ torch.randn(512, 512)", "chunk-matmul-k{bk=512}"),
    ("torch.randn(100, 64) @ torch.randn(64, 30)", "register-tile{fm=4}"),
    ("torch.softmax(torch.randn(64, 1000), -1)", "cooperative-reduce{threads=64}"),
    ("torch.exp(torch.randn(1000))", "register-tile{items=8}"),
    ("torch.randn(1000, 70).sum(0)", "chunk-reduce{chunk=4}"),
)


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("program", "pin"), PINS)
def test_a_pin_is_kept_and_the_rest_fits(program: str, pin: str) -> None:
    kernel = kernel_of(program)
    kernel.planned = ScheduleAttr.parse(f"{pin},plan-schedules")
    module = lower(ModuleOp([kernel.clone()]), Level.TILE, target=GPU.name)
    (scheduled,) = (op for op in module.ops if isinstance(op, loop.KernelOp))
    assert scheduled.schedule is not None
    (asked,) = ScheduleAttr.parse(pin).steps
    (done,) = (step for step in scheduled.schedule.steps if step.name == asked.name)
    assert asked.parameters.items() <= done.parameters.items()


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ("plan-schedules,pad-smem{pad=4},pad-smem{pad=8}", "'pad-smem' is pinned twice"),
        ("plan-schedules,plan-schedules", "'plan-schedules' is pinned twice"),
        ("plan-schedules,pad-smem{planned_only=true}", "'planned_only' is for pipelines"),
        ("plan-schedules,to-tile", "'to-tile' lowers a program .* schedules no kernel .leave it"),
        ("to-kernel", "'to-kernel' lowers a program from level to level"),
        ("plan-schedules,pad-smam{pad=4}", "unknown pass 'pad-smam'"),
        ("plan-schedules,double-buffer{depth=9}", "a ring has 2 to 5 slots, not 9"),
    ],
)
def test_impossible_pins_are_errors(steps: str, message: str) -> None:
    kernel = kernel_of(PROGRAMS[0])
    kernel.planned = ScheduleAttr.parse(steps)
    with pytest.raises((TilewrightError, PassFailedException), match=message):
        lower(ModuleOp([kernel.clone()]), Level.TILE, target=GPU.name)


@pytest.mark.parametrize(
    ("pin", "replaced", "bk"),
    [
        ("chunk-matmul-k{bk=32}", [], 32),
        ("chunk-matmul-k{bk=128}", ["chunk-matmul-k"], None),
        ("pad-smem{pad=4}", [], None),
    ],
)
def test_times_are_given_for_pins_that_choices_have(
    pin: str, replaced: list[str], bk: int | None
) -> None:
    launch = launched(kernel_of(PROGRAMS[0]))[1]
    found = weighed(launch, GPU, ScheduleAttr.parse(f"plan-schedules,{pin}"))
    assert found is not None
    assert [*found.replaced] == replaced
    if bk is not None:
        assert {bk_of(choice) for choice in found.choices} == {bk}


def bk_of(choice: object) -> int | None:
    """Return the chunk of a tiling."""
    return choice.bk if isinstance(choice, Tiling) else None
