# SPDX-License-Identifier: Apache-2.0
"""
Check of one program: it is captured, lowered pass by pass, and simulated with schedules of the
planner and with random ones.

Each pass must keep the results of the interpreters in float64. Results of the simulator are
compared with those of PyTorch (`interpreters/comparison.py`).
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import Any, NamedTuple

from xdsl.dialects.builtin import ModuleOp

from tilewright import api
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.simulator import SimulationTooLarge
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.dialects import loop
from tilewright.dialects.schedule import ScheduleAttr
from tilewright.errors import TilewrightError, UnsupportedError, one_line, shortened
from tilewright.interpreters.check import check_pass
from tilewright.interpreters.comparison import compare
from tilewright.interpreters.program import Program
from tilewright.interpreters.random_runs import RandomRuns
from tilewright.passes.driver.levels import Level, level_of, pipeline_between
from tilewright.passes.driver.lowering import context, lower
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.pipelines import expanded, passes_of
from tilewright.passes.targeted_pass import for_target
from tilewright.tools.output.diagnostics import explain
from tilewright.tools.program import captured_program
from tilewright.tuning.fusion_schedule import decided
from tilewright.tuning.fusions import Fusions
from tilewright.tuning.search.tree import random_leaf
from tilewright.tuning.space import Space

BUDGET = 100_000_000
"""Limit of the thread-instructions of a simulated program, which take ten seconds."""

_WALKS = 3
"""Number of random walks through the schedules of a kernel; a walk may be a dead end."""


class Settings(NamedTuple):
    """
    Target of a check, the number and the seed of its random schedules, and the precision of float32
    products by PyTorch's word.
    """

    target: str
    schedules: int
    seed: str
    precision: str = "highest"


@dataclass(frozen=True)
class Failure:
    """
    Check that failed. `kind` names the stage and the error, and is the same for programs that fail
    alike.
    """

    kind: str
    summary: str
    """Error in one line."""
    message: str
    """Error with its place, or with its traceback."""
    ir: str = ""
    """IR that fails by itself, or an empty text."""
    command: str = ""
    """Command that repeats the failure of the IR, whose file is `%s`."""


@dataclass
class Checked:
    """Result of a check: its failure, if any, or the reason why the program was refused."""

    failure: Failure | None = None
    refusal: str = ""
    passes: int = 0
    runs: int = 0
    """Number of simulated programs, with the planner's schedules and with random ones."""


class _Failed(Exception):
    def __init__(self, failure: Failure):
        super().__init__(failure.kind)
        self.failure = failure


def check(program: Callable[..., Any], inputs: Sequence[Any], settings: Settings) -> Checked:
    """Check a function of PyTorch on its inputs, tensors; return the first failure."""
    checked = Checked()
    try:
        _check(program, inputs, settings, checked)
    except _Failed as err:
        checked.failure = err.failure
    except (UnsupportedError, SimulationTooLarge) as err:
        checked.refusal = err.message
    return checked


def _check(
    function: Callable[..., Any], inputs: Sequence[Any], settings: Settings, checked: Checked
) -> None:
    target = settings.target
    with _failing("capture"):
        captured = api.capture(function, *inputs, matmul_precision=settings.precision)
        program = captured_program(captured)
    module = captured.module.clone()
    _lower_checked(module, Level.TENSOR, target, checked)
    fusions = Fusions(module.clone(), target)
    _lower_checked(module, Level.KERNEL, target, checked)
    with _failing("simulation"):
        _simulate(program, module, target, checked)
    random = Random(settings.seed)
    for _ in range(settings.schedules):
        nests = _fused(fusions, random)
        with _failing("schedule"):
            _schedule(nests, target, random)
        with _failing("scheduled simulation", nests, target):
            _simulate(program, lower(nests, Level.KERNEL, target=target), target, checked)


@contextmanager
def _failing(stage: str, ir: ModuleOp | None = None, target: str = "") -> Generator[None]:
    """
    Raise the failure of a stage for an error in this context, except for refusals. `ir` fails by
    itself on the target.
    """
    try:
        yield
    except (UnsupportedError, SimulationTooLarge):
        raise
    except Exception as err:
        kind = err.kind if isinstance(err, _WrongError) else type(err).__name__
        failure = _failure(f"{stage}: {kind}", err)
        if ir is not None:
            command = f"tilewright run %s --device sim --target {target}"
            failure = replace(failure, ir=f"{ir!s}\n", command=command)
        raise _Failed(failure) from err


def _failure(kind: str, err: Exception) -> Failure:
    return Failure(kind, shortened(one_line(err)), explain(err)[0])


def _lower_checked(module: ModuleOp, level: Level, target: str, checked: Checked) -> None:
    """Run the passes to a level on a module, and check each by the interpreters."""
    runs = RandomRuns()

    def check_each(before: ModuleOp, after: ModuleOp, name: str) -> None:
        check_pass(before, after, name, runs=runs)

    manager = PassManager(context(), check_each)
    steps = passes_of(pipeline_between(level_of(module), level))
    for step in expanded(for_target(step, target) for step in steps):
        before = module.clone()
        checked.passes += 1
        try:
            manager.run(module, [step])
        except UnsupportedError:
            raise
        except Exception as err:
            command = f"opt-tool %s -p '{step.pipeline_pass_spec()}' --check=each"
            failure = _failure(f"pass {step.name}: {type(err).__name__}", err)
            raise _Failed(replace(failure, ir=f"{before!s}\n", command=command)) from err


def _fused(fusions: Fusions, random: Random) -> ModuleOp:
    """Return a program at Loop IR with random legal decisions about fusion, after a check."""
    node = random_leaf(fusions.root, random)
    program = decided(fusions.program, node.fusion)
    with _failing("fusion", program, fusions.target):
        nests = fusions.nests(node).clone()
        check_pass(program, nests, "to-loop")
    return nests


def _schedule(nests: ModuleOp, target: str, random: Random) -> None:
    """Give each kernel of a module a random legal schedule, unless all walks end in dead ends."""
    for kernel in nests.ops:
        if not isinstance(kernel, loop.KernelOp):
            continue
        space = Space(kernel, target)
        leaves = (random_leaf(space.root, random).schedule for _ in range(_WALKS))
        if (found := next((leaf for leaf in leaves if leaf is not None), None)) is not None:
            kernel.planned = ScheduleAttr.parse(found)


class _WrongError(TilewrightError):
    """Error for a simulation with findings or wrong results, of one kind."""

    def __init__(self, kind: str, message: str):
        super().__init__(message)
        self.kind = kind


def _simulate(program: Program, lowered: ModuleOp, target: str, checked: Checked) -> None:
    """
    Simulate a program at Kernel IR with all checks, and compare its results with PyTorch's. Raises
    `_WrongError`.
    """
    assert program.inputs is not None
    plan = plan_of(lower(lowered, Level.CUDA, target=target))
    execution = SimulatorBackend(target, BUDGET).run(plan, program.inputs)
    checked.runs += 1
    for problem in execution.problems:
        kind = problem.message.partition(":")[0]
        raise _WrongError(kind, f"kernel '{problem.kernel}': {problem.message}")
    found = compare(program, program.inputs, execution.results, lambda: lowered)
    for number, comparison in enumerate(found):
        if comparison.reason:
            raise _WrongError("wrong results", f"output {number} is wrong: {comparison.reason}")
