# SPDX-License-Identifier: Apache-2.0
"""Needs of passes: where a need is false, the pass changes nothing."""

import pytest

from tilewright import api
from tilewright.frontend.expression import parse_expression
from tilewright.passes.driver.deferred_pass import DeferredPass
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.needs import need_of
from tilewright.passes.driver.pipelines import expanded, passes_of
from tilewright.passes.targeted_pass import for_target

NORM = "torch.nn.functional.rms_norm(torch.randn(8, 64), (64,))"
MASKED_SOFTMAX = """
i = torch.arange(64)
torch.randn(4, 64).masked_fill(i >= torch.tensor([[3], [9], [64], [1]]), -1e9).softmax(-1)
"""
ATTENTION = """
q, k, v = torch.randn(3, 1, 2, 64, 32)
torch.nn.functional.scaled_dot_product_attention(q, k, v)
"""
TWO_RESULTS = """
x = torch.randn(16, 16)
x @ torch.randn(16, 16), x.exp() + 1
"""
SCATTER = "torch.zeros(3, 8).scatter_add(1, torch.arange(12).reshape(3, 4) % 8, torch.randn(3, 4))"
UPDATE = """
at = torch.arange(64)[None, :, None] == 5
torch.where(at, torch.randn(2, 1, 8), torch.randn(2, 64, 8))
"""


@pytest.fixture(scope="module")
def answers() -> dict[str, set[bool]]:
    """Run each program's passes, those without a need, too; return the needs' answers by pass."""
    found: dict[str, set[bool]] = {}
    for text in (NORM, MASKED_SOFTMAX, ATTENTION, TWO_RESULTS, SCATTER, UPDATE):
        program, ctx = parse_expression(text), context()
        module = api.capture(program.module, *program.args, kwargs=program.kwargs).module
        levels = passes_of("to-tensor,to-loop,to-tile,to-kernel")
        for step in expanded(for_target(level, "sm_90a") for level in levels):
            is_needed = not isinstance(step, DeferredPass) or step.need(module)
            before = None if is_needed else module.clone()
            (step.loaded if isinstance(step, DeferredPass) else step).apply(ctx, module)
            assert before is None or module.is_structurally_equivalent(before), step.name
            found.setdefault(step.name, set()).add(is_needed)
    return found


def test_a_pass_without_need_changes_nothing(answers: dict[str, set[bool]]) -> None:
    unneeded = {name for name, each in answers.items() if False in each}
    always = {"register-tile", "mark-unroll"}  # all of the programs' schedules name them
    assert unneeded == {name for name in answers if need_of(name) is not None} - always


def test_most_passes_are_needed_by_some_program(answers: dict[str, set[bool]]) -> None:
    assert len([name for name, each in answers.items() if each == {False, True}]) > 15
