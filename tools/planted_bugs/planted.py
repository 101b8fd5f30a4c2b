# SPDX-License-Identifier: Apache-2.0
"""Bugs that are planted by rule in scheduled kernels: in Kernel IR, and in the CUDA text."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.codegen.host_function import plan_of
from tilewright.codegen.launch_plan import Plan
from tilewright.codegen.mutations import Mutation, mutations, planted_texts
from tilewright.codegen.nvrtc import DEFAULT_TARGET
from tilewright.dialects.kernel import FuncOp
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.passes.rewriting.launching import with_main
from tilewright.tools.input.mlir_source import read_module
from tilewright.tools.planted_bugs.equivalent import Equivalent, Place, read_equivalent
from tilewright.tools.planted_bugs.input_sets import TURNS
from tilewright.tools.planted_bugs.judging import Judged, JudgedSets

BUDGET = 20_000_000
"""Thread-instructions that a mutant may take."""


@dataclass(frozen=True)
class Kernel:
    """A scheduled kernel, what it is run with, and what it gives."""

    name: str
    module: ModuleOp
    """At Kernel IR."""
    plan: Plan
    sets: Iterable[Judged]
    """Inputs, and the results that they must give."""
    target: str = DEFAULT_TARGET
    equivalent: Sequence[Equivalent] = ()
    """Mutants of it that are right."""
    budget: int = BUDGET
    """Thread-instructions that a mutant may take."""


@dataclass(frozen=True)
class Mutant:
    """A kernel with a bug: in Kernel IR, or only in the CUDA text."""

    place: Place
    kernel: Kernel
    make: Callable[[], ModuleOp | str]
    """Makes what has the bug."""
    is_of_values: bool
    """True if the bug changes what is computed or accessed, and not what orders threads."""


def load_kernel(path: Path, turns: int = TURNS) -> Kernel:
    """Return the kernel in a file of Tile IR, which says what it must give."""
    module = with_main(read_module(str(path)))
    lowered = lower(module, Level.KERNEL)
    plan = plan_of(lower(lowered, Level.CUDA))
    sets = JudgedSets(module, plan.inputs, turns=turns)
    return Kernel(
        path.stem, lowered, plan, sets, equivalent=read_equivalent(path.parent, path.stem)
    )


def mutants(kernel: Kernel) -> list[Mutant]:
    """Return all that the rules plant, but for those that are known to be right."""
    known = {place for equivalent in kernel.equivalent for place in equivalent.places}
    return [mutant for mutant in planted(kernel) if mutant.place not in known]


def planted(kernel: Kernel) -> Iterator[Mutant]:
    """Yield all that the rules plant, in Kernel IR and then in the text."""
    count = Counter[tuple[str, str]]()
    for bug, line, make, is_of_values in (*_in_kernel_ir(kernel), *_in_text(kernel)):
        count[line, bug] += 1
        yield Mutant(Place(line, bug, count[line, bug]), kernel, make, is_of_values)


_Planted = tuple[str, str, Callable[[], ModuleOp | str], bool]
"""A bug, its line, what makes it, and whether it is one of values."""


def _in_kernel_ir(kernel: Kernel) -> Iterator[_Planted]:
    for number, op in enumerate(_ops(kernel.module)):
        for mutation in mutations(op):
            make = partial(_changed, kernel.module, number, mutation)
            yield mutation.what, line_of(op), make, mutation.is_of_values


def line_of(op: Operation) -> str:
    """
    Return the first line of an op, with the condition of a branch: values are named by their hints.
    """
    first = str(op).partition("\n")[0]
    if isinstance(op, scf.IfOp) and isinstance(op.cond.owner, Operation):
        return f"{first} // {line_of(op.cond.owner)}"
    return first


def _ops(module: ModuleOp) -> list[Operation]:
    """Return the ops of the kernel."""
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    return list(function.body.block.walk())


def _changed(module: ModuleOp, number: int, mutation: Mutation) -> ModuleOp:
    copy = module.clone()
    mutation.change(_ops(copy)[number])
    return copy


def _in_text(kernel: Kernel) -> Iterator[_Planted]:
    for bug, line, source, is_of_values in planted_texts(kernel.plan.source):
        yield bug, line, lambda source=source: source, is_of_values
