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
from tilewright.errors import UnsupportedError, one_line, shortened
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
from tilewright.tuning.space import Space

BUDGET = 100_000_000
"""Limit of the thread-instructions of a simulated program, which take ten seconds."""

_WALKS = 3
"""Number of random walks through the schedules of a kernel; a walk may be a dead end."""


class Settings(NamedTuple):
    """Target of a check, and the number and the seed of its random schedules."""

    target: str
    schedules: int
    seed: str


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
    schedules: tuple[str, ...] = ()
    """Schedules of the kernels, as `--schedule` takes them."""
    pipeline: str = ""
    """Pass that fails by itself, or an empty text."""
    before: str = ""
    """IR before the pass that fails."""


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
        captured = api.capture(function, *inputs)
        program = captured_program(captured)
    module = captured.module.clone()
    _lower_checked(module, Level.LOOP, target, checked)
    nests = module.clone()
    _lower_checked(module, Level.KERNEL, target, checked)
    _simulate(program, module, target, (), checked)
    random = Random(settings.seed)
    for _ in range(settings.schedules):
        scheduled, texts = nests.clone(), list[str]()
        with _failing("schedule", texts):
            for kernel in scheduled.ops:
                if isinstance(kernel, loop.KernelOp) and (
                    found := _schedule(kernel, target, random)
                ):
                    kernel.planned = ScheduleAttr.parse(found)
                    texts.append(f"{kernel.sym_name.data}={found}")
            lowered = lower(scheduled, Level.KERNEL, target=target)
        _simulate(program, lowered, target, texts, checked)


@contextmanager
def _failing(stage: str, schedules: Sequence[str] = ()) -> Generator[None]:
    """Raise the failure of a stage for an error in this context, except for refusals."""
    try:
        yield
    except (UnsupportedError, SimulationTooLarge, _Failed):
        raise
    except Exception as err:
        kind = f"{stage}: {type(err).__name__}"
        raise _Failed(_failure(kind, err, schedules)) from err


def _failure(kind: str, err: Exception, schedules: Sequence[str] = ()) -> Failure:
    return Failure(kind, shortened(one_line(err)), explain(err)[0], tuple(schedules))


def _lower_checked(module: ModuleOp, level: Level, target: str, checked: Checked) -> None:
    """Run the passes to a level on a module, and check each by the interpreters."""
    runs = RandomRuns()

    def check_each(before: ModuleOp, after: ModuleOp, name: str) -> None:
        check_pass(before, after, name, runs=runs)

    manager = PassManager(context(), check_each)
    steps = (
        for_target(step, target) for step in passes_of(pipeline_between(level_of(module), level))
    )
    for step in expanded(steps):
        before = module.clone()
        checked.passes += 1
        try:
            manager.run(module, [step])
        except UnsupportedError:
            raise
        except Exception as err:
            kind = f"pass {step.name}: {type(err).__name__}"
            text = str(step.pipeline_pass_spec())
            raise _Failed(
                replace(_failure(kind, err), pipeline=text, before=str(before) + "\n")
            ) from err


def _schedule(kernel: loop.KernelOp, target: str, random: Random) -> str | None:
    """Return a random legal schedule of a kernel; None if all walks end in dead ends."""
    space = Space(kernel, target)
    for _ in range(_WALKS):
        node = space.root
        while node.children:
            node = random.choice(node.children)
        if node.schedule is not None:
            return node.schedule
    return None


def _simulate(
    program: Program, lowered: ModuleOp, target: str, schedules: Sequence[str], checked: Checked
) -> None:
    """Simulate a program at Kernel IR with all checks, and compare its results with PyTorch's."""
    assert program.inputs is not None
    with _failing("simulation", schedules):
        plan = plan_of(lower(lowered, Level.CUDA, target=target))
        execution = SimulatorBackend(target, BUDGET).run(plan, program.inputs)
        checked.runs += 1
        found = compare(program, program.inputs, execution.results, lambda: lowered)
    for problem in execution.problems:
        kind = f"simulation: {problem.message.partition(':')[0]}"
        text = f"kernel '{problem.kernel}': {problem.message}"
        raise _Failed(Failure(kind, text, text, (*schedules,)))
    for number, comparison in enumerate(found):
        if comparison.reason:
            message = f"output {number} is wrong: {comparison.reason}"
            raise _Failed(Failure("simulation: wrong results", message, message, (*schedules,)))
