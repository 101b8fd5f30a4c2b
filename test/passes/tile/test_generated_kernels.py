# SPDX-License-Identifier: Apache-2.0
"""
Random kernels are planned, scheduled by the rewrites and lowered to Kernel IR. The interpreters
compare each program before and after every rewrite of the schedule, and again after the lowering to
Kernel IR. No op of a higher IR remains.
"""

from random import Random

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.passes import ModulePass

from tilewright.dialects import kernel
from tilewright.interpreters.check import check_pass
from tilewright.interpreters.random_runs import RandomRuns
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.pipeline_string import parse_pipeline
from tilewright.passes.driver.pipelines import available_passes, expanded
from tilewright.passes.targeted_pass import for_target

from .generated_kernels import kernel_text

TARGETS = ("sm_80", "sm_90a", "sm_120")
KERNELS = 32
"""Random kernels in each run; `--every-case` checks 1,000 for each target."""


def lower_checked(seed: int, target: str) -> None:
    """Lower the kernel with this seed; raise if a pass changes its results."""
    ctx = context()
    module, runs = Parser(ctx, kernel_text(seed)).parse_module(), RandomRuns()

    def check(before: ModuleOp, after: ModuleOp, name: str) -> None:
        assert check_pass(before, after, name, runs=runs).notes == ()

    PassManager(ctx, check_each=check).run(module, passes_of("to-tile", target))
    PassManager(ctx, check_end=check).run(module, passes_of("to-kernel", target))
    assert all(isinstance(op, kernel.FuncOp) for op in module.ops)


def passes_of(pipeline: str, target: str) -> tuple[ModulePass, ...]:
    steps = parse_pipeline(pipeline, available_passes())
    return expanded(for_target(step, target) for step in steps)


@pytest.mark.one_in(4)
@pytest.mark.parametrize("seed", range(KERNELS))
def test_generated(seed: int):
    lower_checked(seed, Random(seed).choice(TARGETS))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("hundred", range(10))
def test_many_generated(every_case: None, hundred: int, target: str):
    for seed in range(100 * hundred, 100 * hundred + 100):
        lower_checked(seed, target)
