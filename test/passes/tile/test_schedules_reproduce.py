# SPDX-License-Identifier: Apache-2.0
"""The schedule attribute of a kernel, run as a pipeline, makes an identical kernel."""

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from tilewright.dialects.loop import KernelOp
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.pipeline_string import parse_pipeline
from tilewright.passes.driver.pipelines import available_passes, expanded
from tilewright.passes.targeted_pass import for_target

from .generated_kernels import kernel_text

TARGETS = ("sm_80", "sm_90a", "sm_120")


def scheduled(text: str, pipeline: str, target: str) -> KernelOp:
    """Run `pipeline` on the kernel `text` and return the scheduled kernel."""
    ctx = context()
    module: ModuleOp = Parser(ctx, text).parse_module()
    steps = parse_pipeline(pipeline, available_passes())
    PassManager(ctx).run(module, expanded(for_target(step, target) for step in steps))
    (kernel,) = module.ops
    assert isinstance(kernel, KernelOp)
    return kernel


@pytest.mark.one_in(4)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("seed", range(4))
def test_the_schedule_makes_the_kernel(seed: int, target: str):
    kernel = scheduled(kernel_text(seed), "to-tile", target)
    assert kernel.schedule is not None
    assert kernel.planned is None
    again = scheduled(kernel_text(seed), kernel.schedule.data, target)
    assert str(again) == str(kernel)
