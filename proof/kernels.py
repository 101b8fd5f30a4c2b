# SPDX-License-Identifier: Apache-2.0
"""Certificates: the obligations of each kernel of a module, with their answers."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.dialects.cuda import FuncOp
from tilewright.dialects.kernel import FuncOp as FunctionOp
from tilewright.dialects.loop import KernelOp
from tilewright.proof.answer import Answer, Obligation, Outcome
from tilewright.proof.ints import int_obligation
from tilewright.proof.kernel.table import obligations_of as obligations_of_threads
from tilewright.proof.points import NotCoveredError
from tilewright.proof.same import same_obligations
from tilewright.proof.solver import STEPS, Solver
from tilewright.proof.table import obligations_of


@dataclass(frozen=True)
class Certificate:
    """Answers to all obligations of a kernel."""

    kernel: str
    answers: Sequence[tuple[Obligation, Answer]]
    not_covered: Mapping[str, int]
    """Ops with obligations that are not generated: how often each occurs."""

    @property
    def is_proved(self) -> bool:
        """True if each op is covered and each obligation proved."""
        return not self.not_covered and self.count(Outcome.PROVED) == len(self.answers)

    def count(self, outcome: Outcome) -> int:
        """Return the number of obligations with that outcome."""
        return sum(answer.outcome is outcome for _, answer in self.answers)

    def as_json(self) -> dict[str, Any]:
        """Return the certificate as JSON; it has no times, and is the same on every machine."""
        return {
            "kernel": self.kernel,
            "proved": self.is_proved,
            "not_covered": dict(self.not_covered),
            "obligations": [_as_json(*each) for each in self.answers],
        }


def _as_json(obligation: Obligation, answer: Answer) -> dict[str, str]:
    shown = {
        "kind": obligation.kind,
        "subject": obligation.subject,
        "outcome": answer.outcome,
        "op": "" if answer.outcome is Outcome.PROVED else text_of(obligation.op),
        "evidence": answer.evidence,
        "smtlib": answer.script,
    }
    return {name: text for name, text in shown.items() if text}


def text_of(op: Operation) -> str:
    """Return the first line of an op's text."""
    return str(op).partition("\n")[0]


def kernels_of(module: ModuleOp) -> Sequence[KernelOp]:
    """Return the kernels of a module of Tile IR, in order."""
    return [op for op in module.ops if isinstance(op, KernelOp)]


def functions_of(module: ModuleOp) -> Sequence[FunctionOp]:
    """Return the kernels of a module of Kernel IR, in order."""
    return [op for op in module.ops if isinstance(op, FunctionOp)]


def prove_kernel(
    kernel: KernelOp,
    steps: int = STEPS,
    nest: KernelOp | None = None,
    cuda: Sequence[FuncOp] = (),
    functions: Sequence[FunctionOp] = (),
) -> Certificate:
    """
    Return the certificate of a kernel; z3 gives up an obligation after `steps`. With the loop nest
    that the kernel was made of, the kernel also has to store the values of the nest. The kernels of
    Kernel IR that were made of it have obligations of their own. The index arithmetic of the CUDA
    kernels has to fit its types.
    """
    found = _Answers(Solver(steps))
    found.add_all(kernel, obligations_of)
    for function in functions:
        found.add_all(function, obligations_of_threads)
    if nest is not None:
        found.add(same_obligations(kernel, nest))
    found.add(map(int_obligation, cuda))
    return found.certificate(kernel.sym_name.data)


def prove_function(function: FunctionOp, steps: int = STEPS) -> Certificate:
    """Return the certificate of a kernel of Kernel IR."""
    found = _Answers(Solver(steps))
    found.add_all(function, obligations_of_threads)
    return found.certificate(function.sym_name.data)


class _Answers:
    """Answers to the obligations of a kernel, as they are found."""

    def __init__(self, solver: Solver):
        self._solver = solver
        self._answers = list[tuple[Obligation, Answer]]()
        self._not_covered = Counter[str]()

    def add_all(
        self, kernel: Operation, generate: Callable[[Operation], Iterator[Obligation]]
    ) -> None:
        """Decide the obligations of each op of a kernel."""
        for op in kernel.walk():
            try:
                self.add(generate(op))
            except NotCoveredError as err:
                self._not_covered[str(err)] += 1

    def add(self, obligations: Iterable[Obligation]) -> None:
        """Decide some obligations."""
        for obligation in obligations:
            self._answers.append((obligation, obligation.decide(self._solver)))

    def certificate(self, kernel: str) -> Certificate:
        """Return the certificate of the kernel of that name."""
        return Certificate(kernel, self._answers, self._not_covered)
