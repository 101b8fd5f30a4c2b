# SPDX-License-Identifier: Apache-2.0
"""
Runs of a convolution at three levels of IR and in the simulator, with all its checks. The results
are compared with PyTorch's in float64, by the rules of `tilewright run`.
"""

from collections.abc import Callable, Iterator
from typing import Any

from numpy.typing import NDArray

from tilewright import api
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.frontend.capture import Captured
from tilewright.interpreters.errors import InterpreterError
from tilewright.interpreters.judge import Judge
from tilewright.tools.program import captured_program

Array = NDArray[Any]


def problems(captured: Captured, target: str) -> Iterator[str]:
    """Yield the reasons why results of a captured convolution are wrong."""
    program = captured_program(captured)
    assert program.inputs is not None
    arrays = [*program.inputs]
    judge, module = Judge(program, arrays), captured.module
    for level in ("loop", "tile", "kernel"):
        module = api.lower(module, level, target, db=False)
        yield from _wrong(judge, level, lambda m=module: api.interpret(m, *arrays))
    plan = plan_of(api.lower(module, "cuda", target, db=False))
    execution = SimulatorBackend(target).run(plan, arrays)
    yield from map(str, execution.problems)
    yield from _wrong(judge, "simulator", lambda: execution.results)


def _wrong(judge: Judge, where: str, run: Callable[[], list[Array]]) -> Iterator[str]:
    try:
        problem = judge.problem(run())
    except InterpreterError as err:
        problem = str(err)
    if problem:
        yield f"{where}: {problem}"
