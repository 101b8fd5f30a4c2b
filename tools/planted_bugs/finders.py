# SPDX-License-Identifier: Apache-2.0
"""
Finders of planted bugs: the simulator, and the interpreter of Kernel IR.

The interpreter must find a bug in Kernel IR. The simulator must find it, too, unless the machine
code is the same as without it. The simulator must find a bug in the CUDA text. A bug is found if it
is reported, or makes a result wrong for one of the sets of inputs
(`tools/planted_bugs/input_sets.py`).

Some mutants are not bugs: a load that is wider than its mask may read unused elements. A mutant
that changes no bit of any result is without effect, unless it changes the order of threads and
copies: a missing barrier is a bug in any case.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException, VerifyException

from tilewright.codegen import nvrtc
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.launch_plan import SOURCE_NAME, Plan
from tilewright.codegen.report.disassemble import disassemble
from tilewright.codegen.report.sass import parse_sass
from tilewright.codegen.simulator.findings import SimulationTooLarge
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.errors import UnsupportedError
from tilewright.interpreters import interpret
from tilewright.interpreters.errors import InterpreterError
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.tools.planted_bugs.hand_written_case import ENDLESS, WRONG
from tilewright.tools.planted_bugs.planted import Kernel, Mutant

Found = frozenset[str]
"""Kinds of findings of one run; empty if nothing is wrong."""

REPORTED = "reported"
"""Kind of a bug that stops the interpreter with an error."""

UNWRITTEN = "unwritten"
"""Kind of a bug that leaves elements of outputs unwritten in the simulator."""

WITHOUT_EFFECT = "without effect"
"""Kind of a mutant that is not a bug."""


class Run(NamedTuple):
    """Findings and results of a run with one set of inputs."""

    found: Found
    results: Sequence[NDArray[Any]]


class Runs:
    """List of a kernel's runs, each of which is executed when an iteration first reaches it."""

    def __init__(self, runs: Iterator[Run]):
        self._rest = runs
        self.known: list[Run] = []

    def __iter__(self) -> Iterator[Run]:
        yield from self.known
        for run in self._rest:
            self.known.append(run)
            yield run


@dataclass(frozen=True)
class Outcome:
    """Findings of a bug, by finder; None for a finder that need not find it."""

    simulator: Found | None
    interpreter: Found | None

    @property
    def is_found(self) -> bool:
        """True if all finders that must find the bug have found it."""
        return frozenset() not in (self.simulator, self.interpreter)

    @property
    def kind(self) -> str:
        """
        Kind of the bug: the alphabetically first finding besides `wrong`, of the simulator or else
        of the interpreter.
        """
        found = self.simulator or self.interpreter
        return WITHOUT_EFFECT if found is None else min(found - {WRONG}, default=WRONG)

    @property
    def missed(self) -> str:
        """Text for an error message that names the finders which did not find the bug."""
        finders = {"the simulator": self.simulator, "the interpreter": self.interpreter}
        names = [name for name, found in finders.items() if found == frozenset()]
        return f"is not found by {' nor by '.join(names)}"


class Finders:
    """Finders for the mutants of a kernel, which cache the runs of the kernel itself."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel
        self._simulated = Runs(_simulations(kernel, kernel.plan))
        self._interpreted = Runs(_interpretations(kernel, kernel.module))

    @cached_property
    def sets(self) -> int:
        """Number of sets of inputs that the kernel is run with."""
        return len([*self._simulated])

    @property
    def false_alarms(self) -> Found:
        """
        Findings in the unchanged kernel; the interpreter runs only the sets that mutants need.
        """
        next(iter(self._interpreted), None)
        runs = (*self._simulated, *self._interpreted.known)
        return frozenset(kind for run in runs for kind in run.found)

    def run(self, mutant: Mutant) -> Outcome | None:
        """Return the findings on a mutant; None if the verifier or the lowering rejects it."""
        kernel, result = self.kernel, mutant.make()
        if isinstance(result, str):
            return self._outcome(mutant, replace(kernel.plan, source=result), None)
        try:
            result.verify()
            plan = plan_of(lower(result, Level.CUDA, target=kernel.target))
        except (VerifyException, UnsupportedError, PassFailedException):
            return None
        return self._outcome(mutant, plan, result)

    def _outcome(self, mutant: Mutant, plan: Plan, module: ModuleOp | None) -> Outcome:
        """
        Return the findings on a mutant: of the simulator in its launch plan, and of the interpreter
        in `module` if there is one.
        """
        kernel, of_values = self.kernel, mutant.is_of_values
        simulator = interpreter = None
        if plan.source != kernel.plan.source:
            simulator = _found(_simulations(kernel, plan), self._simulated, of_values)
        if simulator == frozenset() and self._is_same_code(plan):
            simulator = None
        if module is not None:
            interpreter = _found(_interpretations(kernel, module), self._interpreted, of_values)
        return Outcome(simulator, interpreter)

    def _is_same_code(self, plan: Plan) -> bool:
        kernel = self.kernel
        texts = plan.source, kernel.plan.source
        mutated, original = (machine_code(text, kernel.target) for text in texts)
        return mutated == original


def _found(runs: Iterator[Run], clean: Iterable[Run], of_values: bool) -> Found | None:
    """
    Return the findings of the first run that has any. Without findings, return an empty set.

    Return None if the mutant is without effect: `of_values`, and no result differs from those in
    `clean`.
    """
    is_changed, before = not of_values, iter(clean)
    for run in runs:
        if run.found:
            return run.found
        if not is_changed:
            is_changed = not all(map(_same_bits, run.results, next(before).results))
    return frozenset() if is_changed else None


def _same_bits(one: NDArray[Any], two: NDArray[Any]) -> bool:
    return one.tobytes() == two.tobytes()


def _simulations(kernel: Kernel, plan: Plan) -> Iterator[Run]:
    """Yield a run of the simulator, with all checks, for each set of inputs."""
    backend = SimulatorBackend(kernel.target, kernel.budget)  # compiles the text once
    for judged in kernel.sets:
        try:
            execution = backend.run(plan, judged.inputs)
        except SimulationTooLarge:
            yield Run(frozenset({ENDLESS}), ())
            continue
        # A problem without a kind prefix is that of an element that was never written.
        messages = [problem.message for problem in execution.problems]
        kinds = {m.partition(":")[0] if ":" in m else UNWRITTEN for m in messages}
        is_right = judged.is_right(execution.results)
        yield Run(frozenset(kinds if is_right else {*kinds, WRONG}), execution.results)


def _interpretations(kernel: Kernel, module: ModuleOp) -> Iterator[Run]:
    """Yield a run of the interpreter of Kernel IR for each set of inputs."""
    for judged in kernel.sets:
        try:
            results = interpret(module, *judged.inputs)
        except InterpreterError:
            yield Run(frozenset({REPORTED}), ())
            continue
        yield Run(frozenset() if judged.is_right(results) else frozenset({WRONG}), results)


def machine_code(source: str, target: str) -> dict[str, list[str]]:
    """Return the instructions of each kernel in a CUDA text, without their source lines."""
    cubin = nvrtc.compile_cubin(source, target, name=SOURCE_NAME).cubin
    codes = parse_sass(disassemble(cubin))
    return {
        name: [f"{each.opcode} {each.operands}" for each in code.instructions]
        for name, code in codes.items()
    }
