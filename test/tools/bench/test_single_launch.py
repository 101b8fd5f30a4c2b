# SPDX-License-Identifier: Apache-2.0
"""Launches run one by one, each as a plan of its own, compute the results of the whole plan."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from needs import needs_nvrtc

from tilewright.codegen.host_function import plan_of
from tilewright.codegen.launch_plan import Plan
from tilewright.codegen.runtime.loaded_plan import LoadedPlan
from tilewright.codegen.runtime.simulated_driver import SimulatedDriver
from tilewright.codegen.runtime.tensors import loaders
from tilewright.codegen.spill_feedback import lower_to_cuda
from tilewright.frontend.capture import capture
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.tools.bench.single_launch import single_launch
from tilewright.tools.input.schedules import with_schedules

TARGET = "sm_90a"


class Layer(torch.nn.Module):
    """Product of 17x65 by 65x9 with a dependent softmax, and a weight that is read permuted."""

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.scale = torch.nn.Parameter(torch.randn(9, 17, generator=generator))

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the results of two launches or more."""
        product = x @ y
        return product, (self.scale.t() * product).softmax(-1)


SPLITS: dict[str, tuple[str, Callable[[Plan], Any]]] = {
    "last block": (
        "chunk-matmul-k{bk=16},split-matmul-k{factor=4 join=last_block}",
        lambda plan: plan.kept,
    ),
    "workspace": (
        "chunk-matmul-k{bk=8},split-matmul-k{factor=5 join=workspace}",
        lambda plan: len(plan.launches) > 2,
    ),
    "atomic": (
        "chunk-matmul-k{bk=32},split-matmul-k{factor=3 join=atomic}",
        lambda plan: plan.launches[0].fills,
    ),
}


@pytest.mark.one_in(3)
@needs_nvrtc
@pytest.mark.parametrize(("split", "has"), SPLITS.values(), ids=SPLITS)
def test_single_launches_compute_the_results_of_the_plan(
    split: str, has: Callable[[Plan], Any]
) -> None:
    generator = torch.Generator().manual_seed(1)
    x, y = (torch.randn(shape, generator=generator) for shape in ((17, 65), (65, 9)))
    captured = capture(Layer(), (x, y))
    loops = lower(captured.module, Level.LOOP, target=TARGET)
    schedule = f"tileify,{split},blockify-launch{{m=16 n=16}}"
    scheduled = with_schedules(loops, [f"matmul={schedule}"], TARGET)
    plan = plan_of(lower_to_cuda(scheduled, TARGET))
    assert plan.permuted
    assert has(plan)
    driver = SimulatedDriver()
    tensors = [input.tensor for input in captured.inputs]
    pairs = zip(loaders(plan, driver.device), tensors, strict=True)
    buffers = {number: loader.load(tensor) for number, (loader, tensor) in enumerate(pairs)}
    whole = LoadedPlan(plan, driver, TARGET)
    for position in range(len(plan.launches)):
        alone = single_launch(plan, position)
        loaded = LoadedPlan(alone.plan, driver, TARGET, functions=whole.functions)
        given = [buffers[number] for number in alone.reads]
        loaded(given)  # the counters are left as the second run needs them
        results = loaded(given)
        buffers.update(zip(alone.writes, results, strict=True))
    together = whole(tensors)
    torch.testing.assert_close([buffers[number] for number in plan.results], together)
