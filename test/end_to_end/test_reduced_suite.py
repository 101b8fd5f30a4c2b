# SPDX-License-Identifier: Apache-2.0
"""
Cases of suite84 and suite-half with the schedules of their full sizes, at sizes that the simulator
can run.
"""

from dataclasses import replace
from typing import Any

import pytest
from half_suite import FILE
from needs import needs_nvrtc
from reduced_suite import SIZES, by_full_schedules, captured, reduced
from suite84 import cases
from xdsl.dialects.builtin import ModuleOp

from tilewright import api
from tilewright.arrays import array_of
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.frontend.capture import Captured
from tilewright.interpreters.comparison import compare
from tilewright.tools.bench.suite import read_cases
from tilewright.tools.program import captured_program

pytestmark = needs_nvrtc

CASES = {case.name: case for case in (*cases(), *read_cases(FILE))}
TARGETS = ("sm_80", "sm_90a", "sm_120")

# One case for each operation; gated matmuls and attention are slow.
SOME = {
    "matmul.tinyllama.q_proj.s32": "sm_90a",
    "matmul_add.tinyllama.o_proj.s32": "sm_120",
    "silu_mul_matmul.tinyllama.s32": "sm_80",
    "rmsnorm.tinyllama.s32": "sm_120",
    "rmsnorm.qwen.s512": "sm_80",
    "softmax.tinyllama.s32": "sm_80",
    "softmax.qwen.s512": "sm_90a",
    "silu_mul.qwen.s128": "sm_120",
    "sdpa.tinyllama.s32": "sm_80",
    "naive_attn.tinyllama.s32": "sm_120",
    "matmul.4096x4096x4096.bf16": "sm_90a",
    "sdpa.qwen.s512.fp16": "sm_80",
}


def assert_runs_right(program: Captured, module: ModuleOp, target: str) -> None:
    """
    Check that a program passes all checks of the simulator, and agrees with PyTorch in float64.
    """
    inputs = [array_of(input.tensor) for input in program.inputs]
    execution = SimulatorBackend(target).run(plan_of(api.lower(module, "cuda", target)), inputs)
    assert execution.problems == []
    results: list[Any] = execution.results
    comparisons = compare(captured_program(program), inputs, results)
    assert comparisons
    assert [comparison.reason for comparison in comparisons if comparison.reason] == []


def check(name: str, target: str) -> None:
    """Check the reduced case with the schedules of the full one."""
    assert_runs_right(*by_full_schedules(CASES[name], target), target)


@pytest.mark.one_in(6)
@pytest.mark.parametrize("name", SOME)
def test_a_case(name: str) -> None:
    check(name, SOME[name])


@pytest.mark.one_in(4)
@pytest.mark.usefixtures("every_case")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_every_case(name: str, target: str) -> None:
    check(name, target)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["matmul_add.tinyllama.o_proj.s32", "sdpa.qwen.s32"])
def test_odd_sizes(name: str) -> None:
    # No size is aligned or divides another, so these programs have schedules of their own.
    case = reduced(CASES[name])
    odd = {size: size - 3 for size in SIZES.values() if size > 1}
    shapes = tuple(tuple(odd.get(size, size) for size in shape) for shape in case.shapes)
    program = captured(replace(case, shapes=shapes), "cpu")
    assert_runs_right(program, api.lower(program, "tile", "sm_90a"), "sm_90a")
