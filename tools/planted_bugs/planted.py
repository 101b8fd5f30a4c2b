# SPDX-License-Identifier: Apache-2.0
"""Bugs that rules plant in scheduled kernels: in Kernel IR, and in the CUDA text."""

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
"""Maximum number of thread-instructions of a mutant."""


@dataclass(frozen=True)
class Kernel:
    """Scheduled kernel, with its inputs and expected results."""

    name: str
    module: ModuleOp
    """Kernel's module at Kernel IR."""
    plan: Plan
    sets: Iterable[Judged]
    """Sets of inputs with their expected results."""
    target: str = DEFAULT_TARGET
    equivalent: Sequence[Equivalent] = ()
    """Mutants of this kernel that are known to be equivalent to it, with reasons."""
    budget: int = BUDGET
    """Maximum number of thread-instructions of a mutant."""


@dataclass(frozen=True)
class Mutant:
    """Kernel with a bug: in Kernel IR, or only in the CUDA text."""

    place: Place
    kernel: Kernel
    make: Callable[[], ModuleOp | str]
    """Function that returns the module or the text with the bug."""
    is_of_values: bool
    """True if the bug changes computed values or accesses, and not the order of threads."""


def load_kernel(path: Path, turns: int = TURNS, target: str = DEFAULT_TARGET) -> Kernel:
    """Return the kernel in a file of Tile IR, whose results are expected from its mutants."""
    module = with_main(read_module(str(path)))
    lowered = lower(module, Level.KERNEL, target=target)
    plan = plan_of(lower(lowered, Level.CUDA, target=target))
    sets = JudgedSets(module, plan.inputs, turns=turns)
    known = read_equivalent(path.parent, path.stem)
    return Kernel(path.stem, lowered, plan, sets, target, known)


def mutants(kernel: Kernel) -> list[Mutant]:
    """Return all mutants that the rules plant, except those known to be equivalent."""
    known = {place for equivalent in kernel.equivalent for place in equivalent.places}
    return [mutant for mutant in planted(kernel) if mutant.place not in known]


def planted(kernel: Kernel) -> Iterator[Mutant]:
    """Yield all mutants that the rules plant, first in Kernel IR and then in the text."""
    count = Counter[tuple[str, str]]()
    for bug, line, make, is_of_values in (*_in_kernel_ir(kernel), *_in_text(kernel)):
        count[line, bug] += 1
        yield Mutant(Place(line, bug, count[line, bug]), kernel, make, is_of_values)


_Planted = tuple[str, str, Callable[[], ModuleOp | str], bool]
"""
Name of a bug, its line, the function that makes the mutant, and True if the bug changes values
rather than the order of threads.
"""


def _in_kernel_ir(kernel: Kernel) -> Iterator[_Planted]:
    for number, op in enumerate(_ops(kernel.module)):
        for mutation in mutations(op):
            make = partial(_changed, kernel.module, number, mutation)
            yield mutation.what, line_of(op), make, mutation.is_of_values


def line_of(op: Operation) -> str:
    """
    Return the first line of an op, with values named by their hints; for a branch also its
    condition.
    """
    first = str(op).partition("\n")[0]
    if isinstance(op, scf.IfOp) and isinstance(op.cond.owner, Operation):
        return f"{first} // {line_of(op.cond.owner)}"
    return first


def _ops(module: ModuleOp) -> list[Operation]:
    """Return all ops in the kernel's function."""
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    return list(function.body.block.walk())


def _changed(module: ModuleOp, number: int, mutation: Mutation) -> ModuleOp:
    copy = module.clone()
    mutation.change(_ops(copy)[number])
    return copy


def _in_text(kernel: Kernel) -> Iterator[_Planted]:
    for bug, line, source, is_of_values in planted_texts(kernel.plan.source):
        yield bug, line, lambda source=source: source, is_of_values
