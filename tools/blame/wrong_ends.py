# SPDX-License-Identifier: Apache-2.0
"""
Comparisons at the two ends that no pass is between: PyTorch and the captured Torch IR; Kernel IR
and the kernels that its CUDA text makes, on the simulator.
"""

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tilewright.codegen.host_function import plan_of
from tilewright.codegen.random_inputs import random_inputs
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.dialects.kernel import FuncOp
from tilewright.errors import TilewrightError
from tilewright.interpreters.comparison import compare
from tilewright.interpreters.host import interpret
from tilewright.interpreters.program import Program
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.tools.program import module_program

BUDGET = 100_000_000
"""Limit of the thread-instructions of a simulated program, which take ten seconds."""


def wrong_capture(program: Program, called: list[Any] | None) -> str:
    """
    Return the difference between PyTorch's results for a captured graph and `called`, the results
    of the user's own function, or the results of the Torch IR; empty if there is none.
    """
    assert program.inputs is not None
    if called is not None and (wrong := _wrong(program, program.inputs, called)):
        return f"the exported graph and the function itself differ: {wrong}"
    results = interpret(program.module, *program.inputs)
    wrong = _wrong(program, program.inputs, results)
    return f"Torch IR and the exported graph differ: {wrong}" if wrong else ""


def wrong_kernels(program: Program, lowered: ModuleOp, target: str) -> str:
    """
    Return the first finding of the simulator, or the first wrong result of the kernels of a module
    of Kernel IR; empty if there is none. Raises `SimulationTooLarge` for too much work, and the
    interpreter's error if the Kernel IR is wrong itself.
    """
    plan = plan_of(lower(lowered, Level.CUDA, target=target))
    inputs = random_inputs(plan.inputs, 0) if program.inputs is None else program.inputs
    execution = SimulatorBackend(target, BUDGET).run(plan, inputs)
    for problem in execution.problems:
        interpret(lowered, *inputs)
        return f"kernel '{problem.kernel}': {problem.message}"
    return _wrong(program, inputs, execution.results, lambda: lowered)


def wrong_kernel(lowered: ModuleOp, target: str) -> ModuleOp | None:
    """Return the first kernel of a module of Kernel IR that is wrong by itself; None if none is."""
    for kernel in (op for op in lowered.ops if isinstance(op, FuncOp)):
        alone = ModuleOp([kernel.clone()])
        if is_wrong_kernel(alone, target):
            return alone
    return None


def is_wrong_kernel(module: ModuleOp, target: str) -> bool:
    """True if a module with one kernel at Kernel IR runs, and is wrong in the simulator."""
    try:
        program = module_program(module, None)
        return bool(wrong_kernels(program, program.module, target))
    except TilewrightError:
        return False


def _wrong(
    program: Program,
    inputs: Sequence[Any],
    results: list[Any],
    kernel_ir: Callable[[], ModuleOp | None] = lambda: None,
) -> str:
    found = enumerate(compare(program, inputs, results, kernel_ir))
    reasons = (f"output {at} is wrong: {each.reason}" for at, each in found if each.reason)
    return next(reasons, "")
