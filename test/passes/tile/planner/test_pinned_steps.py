# SPDX-License-Identifier: Apache-2.0
"""Planning around pinned steps of a schedule."""

import pytest
from xdsl.utils.arg_spec import ArgSpec

from tilewright import api
from tilewright.dialects import loop
from tilewright.dialects.schedule import ScheduleAttr
from tilewright.dialects.target import target
from tilewright.frontend.expression import parse_expression
from tilewright.passes.tile.planner.pinned_steps import narrowed
from tilewright.passes.tile.planner.plan_schedules import plan

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


@pytest.mark.parametrize("program", PROGRAMS)
def test_pinning_the_planners_choice_changes_nothing(program: str) -> None:
    kernel = kernel_of(program)
    planned = plan(kernel, GPU)
    pins = [
        ArgSpec(step.name, {name: value})
        for step in planned.steps
        for name, value in step.parameters.items()
    ]
    assert pins
    for pin in pins:
        assert plan(kernel, GPU, ScheduleAttr.of([pin])) == planned, pin


def test_options_that_no_choice_has_narrow_nothing() -> None:
    choices = ("a{x=1 y=1}", "a{x=2 y=1}", "a{x=2 y=2}")
    pinned = ScheduleAttr.parse("a{x=2 y=3},b{z=1}")
    assert narrowed(choices, pinned, ScheduleAttr.parse) == ["a{x=2 y=1}", "a{x=2 y=2}"]
