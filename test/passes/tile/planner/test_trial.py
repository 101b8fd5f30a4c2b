# SPDX-License-Identifier: Apache-2.0
"""Tilings that the planner takes without a trial: their kernels fit into the registers."""

from typing import Any

import pytest

from tilewright.dialects import loop
from tilewright.dialects.schedule import ScheduleAttr
from tilewright.dialects.target import target
from tilewright.frontend.expression import parse_expression
from tilewright.passes.tile.kernel_schedule import with_added_steps
from tilewright.passes.tile.planner.considered import considered_for
from tilewright.passes.tile.planner.plan_schedules import launched
from tilewright.passes.tile.planner.trial import first_possible

from ..scheduled import loops_of

SUMS = {
    "x @ torch.randn(64, 96)": "one",
    " + ".join(["F.silu(x @ torch.randn(64, 96))"] * 3): "three",
    " + ".join(["F.silu(x @ torch.randn(64, 96))"] * 7): "seven",
}


@pytest.mark.parametrize("sums", SUMS, ids=SUMS.values())
def test_a_tiling_taken_at_once_is_also_right_in_a_trial(sums: str):
    module = loops_of(parse_expression(f"x = torch.randn(96, 64)\n{sums}", fake=True))
    kernel = next(op for op in module.ops if isinstance(op, loop.KernelOp))
    launch, sm = launched(kernel)[1], target("sm_90a")
    considered = considered_for(launch, sm)
    assert considered is not None
    assert considered.sides_of is not None

    def steps_of(choice: Any) -> ScheduleAttr:
        steps = choice.pipeline(considered.problem, sm)
        return with_added_steps(ScheduleAttr.parse(",".join(steps)))

    found = 0
    for choice in considered.ranked(considered.problem, sm):
        by_sides = first_possible([choice], launch, steps_of, sm, considered.sides_of)
        assert by_sides == first_possible([choice], launch, steps_of, sm)
        found += by_sides is not None
    assert found
