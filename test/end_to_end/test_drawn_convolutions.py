# SPDX-License-Identifier: Apache-2.0
"""
Random convolutions at three levels of IR and in the simulator, with all its checks. The results are
compared with PyTorch's in float64, by the rules of `tilewright run`.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from needs import needs_nvrtc
from numpy.typing import NDArray

from tilewright import api
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.interpreters.errors import InterpreterError
from tilewright.interpreters.judge import Judge
from tilewright.tools.program import captured_program

from .convolution_cases import drawn_case

Array = NDArray[Any]

SEEDS = (1, 2, 4)
MANY = 300


@needs_nvrtc
@pytest.mark.parametrize("seed", SEEDS)
def test_drawn_convolution(seed: int) -> None:
    assert not [*_problems(seed)]


@needs_nvrtc
@pytest.mark.usefixtures("every_case")
@pytest.mark.parametrize("seed", sorted({*range(MANY)} - {*SEEDS}))
def test_more_convolutions(seed: int) -> None:
    assert not [*_problems(seed)]


def _problems(seed: int) -> Iterator[str]:
    """Yield the reasons why results of a random case are wrong."""
    case = drawn_case(seed)
    print(f"seed {seed}: {case}")
    captured = case.captured(seed)
    program = captured_program(captured)
    assert program.inputs is not None
    arrays = [*program.inputs]
    judge, module = Judge(program, arrays), captured.module
    for level in ("loop", "tile", "kernel"):
        module = api.lower(module, level, case.target, db=False)
        yield from _wrong(judge, level, lambda m=module: api.interpret(m, *arrays))
    plan = plan_of(api.lower(module, "cuda", case.target, db=False))
    execution = SimulatorBackend(case.target).run(plan, arrays)
    yield from map(str, execution.problems)
    yield from _wrong(judge, "simulator", lambda: execution.results)


def _wrong(judge: Judge, where: str, run: Callable[[], list[Array]]) -> Iterator[str]:
    try:
        problem = judge.problem(run())
    except InterpreterError as err:
        problem = str(err)
    if problem:
        yield f"{where}: {problem}"
