# SPDX-License-Identifier: Apache-2.0
"""
Every case of suite84 at a size that the simulator takes: the same kernels, by the very schedules
that the planner has made for the full size, and right.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr

from tilewright import api
from tilewright.arrays import array_of
from tilewright.codegen import nvrtc
from tilewright.codegen.execution import SimulatorBackend
from tilewright.codegen.host_function import plan_of
from tilewright.dialects.loop import KernelOp
from tilewright.frontend.capture import Captured
from tilewright.tools.comparison import compare
from tilewright.tools.program import captured_program
from tilewright.tools.suite import Case, read_cases

pytestmark = pytest.mark.skipif(not nvrtc.available(), reason="NVRTC is not installed")

SUITE = Path(__file__).parents[2] / "benchmarks" / "suite84.json"
CASES = {case.name: case for case in read_cases(SUITE)}
TARGETS = ("sm_80", "sm_90a", "sm_120")

# What becomes of a size: rows of 16 bytes still, chunks of 32 for every split of the planner and a
# part of one, tiles that overrun.
SIZES = {32: 32, 64: 32, 128: 72, 256: 40, 512: 136, 2048: 520, 3584: 776, 5632: 1032, 18944: 1160}
FEWER_HEADS = (4, 2, 1)
"""By so many; with too few of them it pays to write the scores' softmax to memory, or not to."""

# Of each operation and each family of schedules one.
SOME = {
    "matmul.tinyllama.q_proj.s32": "sm_90a",
    "matmul.tinyllama.gate_proj.s128": "sm_80",
    "matmul_add.tinyllama.o_proj.s32": "sm_120",
    "silu_mul_matmul.tinyllama.s32": "sm_80",
    "silu_mul_matmul.tinyllama.s128": "sm_90a",
    "rmsnorm.tinyllama.s32": "sm_120",
    "rmsnorm.qwen.s512": "sm_80",
    "softmax.tinyllama.s32": "sm_80",
    "softmax.qwen.s512": "sm_90a",
    "silu_mul.qwen.s128": "sm_120",
    "sdpa.tinyllama.s32": "sm_90a",
    "sdpa.qwen.s128": "sm_80",
    "naive_attn.tinyllama.s32": "sm_120",
}


def reduced(case: Case, fewer: int = 4) -> Case:
    """The case with fewer tokens, heads and features."""
    shapes = tuple(tuple(_sizes(shape, fewer)) for shape in case.shapes)
    expression = re.sub(
        r"\((\d{4}),\)", lambda found: f"({SIZES[int(found[1])]},)", case.expression
    )
    return replace(case, shapes=shapes, expression=expression, tokens=SIZES[case.tokens])


def with_product(case: Case) -> Case:
    """The case with what is multiplied as a result too, so that a kernel of its own computes it."""
    found = re.fullmatch(r"torch.matmul\((F.silu.*), t2\)", case.expression)
    assert found is not None
    return replace(case, expression=f"(lambda h: (h, torch.matmul(h, t2)))({found[1]})")


def _sizes(shape: tuple[int, ...], fewer: int) -> list[int]:
    batch, *sizes = shape
    if len(shape) == 4:  # batch, heads, tokens, features
        heads, *sizes = sizes
        return [batch, heads // fewer, *(SIZES[size] for size in sizes)]
    return [SIZES.get(size, size) for size in shape]


def captured(case: Case, device: str) -> Captured:
    return api.capture(case.function, *case.inputs(device))


def kernels(module: ModuleOp) -> list[KernelOp]:
    return [op for op in module.ops if isinstance(op, KernelOp)]


def schedules(case: Case, target: str) -> list[str]:
    """The schedules of the case's kernels at full size."""
    scheduled = kernels(api.lower(captured(case, "meta"), "tile", target))
    return [kernel.schedule.data for kernel in scheduled if kernel.schedule is not None]


def assert_runs_right(program: Captured, module: ModuleOp, target: str) -> None:
    """All checks of the simulator, and PyTorch in float64."""
    inputs = [array_of(input.tensor) for input in program.inputs]
    execution = SimulatorBackend(target).run(plan_of(api.lower(module, "cuda", target)), inputs)
    assert execution.problems == []
    results: list[Any] = execution.results
    comparisons = compare(captured_program(program), inputs, results)
    assert comparisons
    assert [comparison.reason for comparison in comparisons if comparison.reason] == []


def alike(case: Case, number: int, target: str) -> tuple[Captured, ModuleOp]:
    """The reduced case, and its Loop IR with as many kernels as at full size."""
    programs = (captured(reduced(case, fewer), "cpu") for fewer in FEWER_HEADS)
    if case.op == "silu_mul_matmul" and number == 2:
        # Where many tiles share rows it pays to compute them once; here they are asked for.
        programs = iter([captured(with_product(reduced(case)), "cpu")])
    for program in programs:
        nests = api.lower(program, "loop", target)
        if len(kernels(nests)) == number:
            return program, nests
    raise AssertionError(f"no reduced {case.name} has {number} kernels")


def check(name: str, target: str) -> None:
    """The reduced case by the schedules of the full one."""
    full = schedules(CASES[name], target)
    program, nests = alike(CASES[name], len(full), target)
    for kernel, schedule in zip(kernels(nests), full, strict=True):
        kernel.plan = StringAttr(schedule)
    scheduled = api.lower(nests, "tile", target)
    assert [kernel.schedule for kernel in kernels(scheduled)] == [*map(StringAttr, full)]
    assert_runs_right(program, scheduled, target)


@pytest.mark.parametrize("name", SOME)
def test_a_case(name: str) -> None:
    check(name, SOME[name])


@pytest.mark.usefixtures("every_case")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", CASES)
def test_every_case(name: str, target: str) -> None:
    check(name, target)


@pytest.mark.parametrize("name", ["matmul_add.tinyllama.o_proj.s32", "sdpa.qwen.s32"])
def test_odd_sizes(name: str) -> None:
    # Nothing is aligned, and nothing divides: these have schedules of their own.
    case = reduced(CASES[name])
    odd = {size: size - 3 for size in SIZES.values()}
    shapes = tuple(tuple(odd.get(size, size) for size in shape) for shape in case.shapes)
    program = captured(replace(case, shapes=shapes), "cpu")
    assert_runs_right(program, api.lower(program, "tile", "sm_90a"), "sm_90a")
