# SPDX-License-Identifier: Apache-2.0
"""
What finds a planted bug: the simulator, and the interpreter of Kernel IR.

A bug in Kernel IR is for the interpreter to find, and for the simulator unless the machine runs the
same code as without it. A bug in the text is for the simulator. Found is what is reported, and what
makes a result wrong for one of the sets of inputs (`tools/planted_bugs/input_sets.py`).

Some mutants are no bugs: a load that is wider than its mask may read what nothing uses. A mutant
that changes no bit of any result for any set of inputs is without effect, unless it changes what
orders threads and copies: a missing barrier is a bug whatever the results are.
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
"""Kinds of findings; nothing if all is right."""

REPORTED = "reported"
"""Kind of a bug at which the interpreter stops."""

UNWRITTEN = "unwritten"
"""Kind of a bug that leaves outputs, or parts of them, unwritten in the simulator."""

WITHOUT_EFFECT = "without effect"
"""The kind of a mutant that is no bug."""


class Run(NamedTuple):
    """The end of a run with one set of inputs."""

    found: Found
    results: Sequence[NDArray[Any]]


class Runs:
    """The runs of a kernel, each done when it is first asked for."""

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
    """Findings of a bug by finder; None for a finder that need not find it."""

    simulator: Found | None
    interpreter: Found | None

    @property
    def is_found(self) -> bool:
        """True if all that should find it do."""
        return frozenset() not in (self.simulator, self.interpreter)

    @property
    def kind(self) -> str:
        """One word for how it was found: the first of what the simulator reports."""
        found = self.simulator or self.interpreter
        return WITHOUT_EFFECT if found is None else min(found - {WRONG}, default=WRONG)

    @property
    def missed(self) -> str:
        """The finders that did not find it."""
        finders = {"the simulator": self.simulator, "the interpreter": self.interpreter}
        names = [name for name, found in finders.items() if found == frozenset()]
        return f"is not found by {' nor by '.join(names)}"


class Finders:
    """Finds what is wrong with a kernel's mutants, with its own results at hand."""

    def __init__(self, kernel: Kernel):
        self.kernel = kernel
        self._simulated = Runs(_simulations(kernel, kernel.plan))
        self._interpreted = Runs(_interpretations(kernel, kernel.module))

    @cached_property
    def sets(self) -> int:
        """Number of the sets of inputs."""
        return len([*self._simulated])

    @property
    def false_alarms(self) -> Found:
        """Return findings in the kernel itself; the interpreter runs the sets that mutants need."""
        next(iter(self._interpreted), None)
        runs = (*self._simulated, *self._interpreted.known)
        return frozenset(kind for run in runs for kind in run.found)

    def run(self, mutant: Mutant) -> Outcome | None:
        """Return what finds the bug; None for what the verifier or the lowering refuses."""
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
        """Return what finds the bug in the text, and in the module if there is one."""
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
    """Return the first findings; nothing if there are none; None if nothing changes either."""
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
    """Run the simulator with each set of inputs, with all checks."""
    backend = SimulatorBackend(kernel.target, kernel.budget)  # compiles the text once
    for judged in kernel.sets:
        try:
            execution = backend.run(plan, judged.inputs)
        except SimulationTooLarge:
            yield Run(frozenset({ENDLESS}), ())
            continue
        # What is never written has no line, and no kind but its message.
        messages = [problem.message for problem in execution.problems]
        kinds = {m.partition(":")[0] if ":" in m else UNWRITTEN for m in messages}
        is_right = judged.is_right(execution.results)
        yield Run(frozenset(kinds if is_right else {*kinds, WRONG}), execution.results)


def _interpretations(kernel: Kernel, module: ModuleOp) -> Iterator[Run]:
    """Run the interpreter of Kernel IR with each set of inputs."""
    for judged in kernel.sets:
        try:
            results = interpret(module, *judged.inputs)
        except InterpreterError:
            yield Run(frozenset({REPORTED}), ())
            continue
        yield Run(frozenset() if judged.is_right(results) else frozenset({WRONG}), results)


def machine_code(source: str, target: str) -> dict[str, list[str]]:
    """
    Return the instructions of each kernel of a CUDA text, without the lines that they come from.
    """
    cubin = nvrtc.compile_cubin(source, target, name=SOURCE_NAME).cubin
    codes = parse_sass(disassemble(cubin))
    return {
        name: [f"{each.opcode} {each.operands}" for each in code.instructions]
        for name, code in codes.items()
    }
