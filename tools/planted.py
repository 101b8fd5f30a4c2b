# SPDX-License-Identifier: Apache-2.0
"""
Bugs that are planted by rule in kernels of Tile IR, in their Kernel IR and in their CUDA text: who
finds them.

A bug in Kernel IR is for the interpreter to find, and for the simulator unless the CUDA text is the
same as without it. A bug in the text is for the simulator. Found is what is reported, and what
makes a result wrong.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException, VerifyException

from tilewright.codegen.host_function import plan_of
from tilewright.codegen.launch_plan import Plan
from tilewright.codegen.mutations import Mutation, mutations, planted_texts
from tilewright.codegen.nvrtc import DEFAULT_TARGET
from tilewright.codegen.random_inputs import random_inputs
from tilewright.codegen.simulator.findings import SimulationTooLarge
from tilewright.codegen.simulator.mutation import ENDLESS, WRONG
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.dialects.kernel import FuncOp
from tilewright.errors import UnsupportedError
from tilewright.interpreters import interpret
from tilewright.interpreters.errors import InterpreterError
from tilewright.passes.launching import with_main
from tilewright.passes.levels import Level
from tilewright.passes.lowering import lower
from tilewright.tools.equivalent import Equivalent, Place, read_equivalent
from tilewright.tools.mlir_source import read_module

Array = NDArray[Any]
Found = frozenset[str]
"""Kinds of findings; nothing if all is right."""

BUDGET = 20_000_000
"""Thread-instructions that a mutant may take."""

TOLERANCE = 1e-5
"""How far results may be from float64, for results around 1."""

REPORTED = "reported"
"""How the interpreter finds what it stops at."""

UNWRITTEN = "unwritten"
"""How the simulator finds outputs, or parts of them, that the kernel leaves out."""


@dataclass(frozen=True)
class Kernel:
    """A kernel of Tile IR, what it is run with, and what it gives."""

    name: str
    module: ModuleOp
    """At Kernel IR."""
    plan: Plan
    inputs: Sequence[Array]
    expected: Sequence[Array]
    equivalent: Sequence[Equivalent]
    """Mutants of it that are right."""


@dataclass(frozen=True)
class Mutant:
    """A kernel with a bug: in Kernel IR, or only in the CUDA text."""

    place: Place
    kernel: Kernel
    make: Callable[[], ModuleOp | str]
    """Makes what has the bug."""


@dataclass(frozen=True)
class Outcome:
    """Who found a bug how; None for those whom it does not concern."""

    simulator: Found | None
    interpreter: Found | None

    @property
    def is_found(self) -> bool:
        """By all whom it concerns."""
        return frozenset() not in (self.simulator, self.interpreter)

    @property
    def kind(self) -> str:
        """One word for how it was found: the first of what the simulator reports."""
        found = self.simulator or self.interpreter or frozenset()
        return min(found - {WRONG}, default=WRONG)

    @property
    def missed(self) -> str:
        """Who did not find it."""
        who = {"the simulator": self.simulator, "the interpreter": self.interpreter}
        names = [name for name, found in who.items() if found == frozenset()]
        return f"is not found by {' nor by '.join(names)}"


def run_mutant(mutant: Mutant) -> Outcome | None:
    """Who finds the bug; None for what the verifier or the lowering refuses."""
    kernel, result = mutant.kernel, mutant.make()
    if isinstance(result, str):
        return Outcome(simulated(kernel, replace(kernel.plan, source=result)), None)
    try:
        result.verify()
        plan = plan_of(lower(result, Level.CUDA))
    except (VerifyException, UnsupportedError, PassFailedException):
        return None
    is_in_text = plan.source != kernel.plan.source
    return Outcome(simulated(kernel, plan) if is_in_text else None, interpreted(kernel, result))


def load_kernel(path: Path) -> Kernel:
    """The kernel in a file of Tile IR, with random inputs; in float64 it gives what is expected."""
    module = with_main(read_module(str(path)))
    lowered = lower(module, Level.KERNEL)
    plan = plan_of(lower(lowered, Level.CUDA))
    inputs = [_ordered(array) for array in random_inputs(plan.inputs, 0)]
    expected = interpret(module, *inputs, dtype=np.float64)
    return Kernel(path.stem, lowered, plan, inputs, expected, read_equivalent(path))


def _ordered(array: Array) -> Array:
    """
    Below zero, and along each row to larger numbers, or to smaller ones in every other row: so that
    the last element is the maximum, and the first is, and a zero too many would be.
    """
    rows = np.sort(array - 4, axis=-1).reshape(-1, array.shape[-1])
    rows[1::2] = rows[1::2, ::-1]
    return rows.reshape(array.shape)


def simulated(kernel: Kernel, plan: Plan) -> Found:
    """What the simulator finds, with all checks."""
    try:
        execution = SimulatorBackend(DEFAULT_TARGET, BUDGET).run(plan, kernel.inputs)
    except SimulationTooLarge:
        return frozenset({ENDLESS})
    # What is never written has no line, and no kind but its message.
    messages = [problem.message for problem in execution.problems]
    kinds = {m.partition(":")[0] if ":" in m else UNWRITTEN for m in messages}
    return frozenset(kinds) | _compared(kernel, execution.results)


def interpreted(kernel: Kernel, module: ModuleOp) -> Found:
    """What the interpreter of Kernel IR finds."""
    try:
        results = interpret(module, *kernel.inputs)
    except InterpreterError:
        return frozenset({REPORTED})
    return _compared(kernel, results)


def _compared(kernel: Kernel, results: Sequence[Array]) -> Found:
    pairs = zip(results, kernel.expected, strict=True)
    is_right = all(np.allclose(result, exact, TOLERANCE, TOLERANCE) for result, exact in pairs)
    return frozenset() if is_right else frozenset({WRONG})


def mutants(kernel: Kernel) -> list[Mutant]:
    """All that the rules plant, but for those that are known to be right."""
    known = {place for equivalent in kernel.equivalent for place in equivalent.places}
    return [mutant for mutant in planted(kernel) if mutant.place not in known]


def planted(kernel: Kernel) -> Iterator[Mutant]:
    """All that the rules plant, in Kernel IR and then in the text."""
    count = Counter[tuple[str, str]]()
    for bug, line, make in (*_in_kernel_ir(kernel), *_in_text(kernel)):
        count[line, bug] += 1
        yield Mutant(Place(line, bug, count[line, bug]), kernel, make)


_Planted = tuple[str, str, Callable[[], ModuleOp | str]]
"""A bug, its line, and what makes it."""


def _in_kernel_ir(kernel: Kernel) -> Iterator[_Planted]:
    for number, op in enumerate(_ops(kernel.module)):
        for mutation in mutations(op):
            yield mutation.what, line_of(op), partial(_changed, kernel.module, number, mutation)


def line_of(op: Operation) -> str:
    """The first line of an op, with the condition of a branch: values are named by their hints."""
    first = str(op).partition("\n")[0]
    if isinstance(op, scf.IfOp) and isinstance(op.cond.owner, Operation):
        return f"{first} // {line_of(op.cond.owner)}"
    return first


def _ops(module: ModuleOp) -> list[Operation]:
    """The ops of the kernel."""
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    return list(function.body.block.walk())


def _changed(module: ModuleOp, number: int, mutation: Mutation) -> ModuleOp:
    copy = module.clone()
    mutation.change(_ops(copy)[number])
    return copy


def _in_text(kernel: Kernel) -> Iterator[_Planted]:
    for bug, line, source in planted_texts(kernel.plan.source):
        yield bug, line, lambda source=source: source
