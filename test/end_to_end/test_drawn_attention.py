# SPDX-License-Identifier: Apache-2.0
"""
Random attention at three levels of IR and in the simulator, with all its checks. The results are
compared with PyTorch's in float64, by the rules of `tilewright run`.

Each case has the planner's schedule, and random tilings of the planner, with multiply-adds and with
matrix instructions.
"""

from random import Random

import pytest
from needs import needs_nvrtc
from xdsl.dialects.builtin import ModuleOp

from tilewright.api import interpret, lower
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.simulator_backend import SimulatorBackend

from .attention_cases import Case, Judged, drawn_case
from .attention_schedules import tiled

CASES = 12
MANY = 400


@needs_nvrtc
@pytest.mark.parametrize("seed", range(CASES))
def test_drawn_attention(seed: int) -> None:
    check(seed)


@needs_nvrtc
@pytest.mark.usefixtures("every_case")
@pytest.mark.parametrize("seed", range(CASES, MANY))
def test_more_attention(seed: int) -> None:
    check(seed)


def check(seed: int) -> None:
    """Compare the results of a random case with PyTorch's, by several schedules."""
    case = drawn_case(seed)
    print(case.note, case.target, case.matrix_sums)
    captured = case.captured()
    judged = Judged(case, captured)
    nests = lower(captured, "loop", case.target, db=False)
    assert not judged.problem(interpret(nests, *case.arrays()))
    tiles = lower(nests, "tile", case.target, db=False)
    assert not judged.problem(interpret(tiles, *case.arrays()))
    check_below(case, judged, tiles)
    for steps, planned in tiled(nests, case.target, Random(seed)):
        print(steps)
        check_below(case, judged, planned)


def check_below(case: Case, judged: Judged, module: ModuleOp) -> None:
    """Compare the results at Kernel IR and in the simulator with PyTorch's."""
    kernel = lower(module, "kernel", case.target, db=False)
    sums = case.matrix_sums
    assert not judged.problem(interpret(kernel, *case.arrays(), matrix_sums=sums))
    plan = plan_of(lower(kernel, "cuda", case.target, db=False))
    execution = SimulatorBackend(case.target, matrix_sums=sums).run(plan, case.arrays())
    assert not execution.problems
    assert not judged.problem(execution.results)
