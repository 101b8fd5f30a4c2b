# SPDX-License-Identifier: Apache-2.0
"""Certificates: the obligations of each kernel of a module, with their answers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.dialects.cuda import FuncOp
from tilewright.dialects.loop import KernelOp
from tilewright.proof.answer import Answer, Obligation, Outcome
from tilewright.proof.ints import int_obligation
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


def prove_kernel(
    kernel: KernelOp,
    steps: int = STEPS,
    nest: KernelOp | None = None,
    cuda: Sequence[FuncOp] = (),
) -> Certificate:
    """
    Return the certificate of a kernel; z3 gives up an obligation after `steps`. With the loop nest
    that the kernel was made of, the kernel also has to store the values of the nest. The index
    arithmetic of the CUDA kernels that were made of it has to fit its types.
    """
    solver, not_covered = Solver(steps), Counter[str]()
    answers = list[tuple[Obligation, Answer]]()
    for op in kernel.walk():
        try:
            for obligation in obligations_of(op):
                answers.append((obligation, obligation.decide(solver)))
        except NotCoveredError as err:
            not_covered[str(err)] += 1
    if nest is not None:
        same = same_obligations(kernel, nest)
        answers += [(obligation, obligation.decide(solver)) for obligation in same]
    answers += [(each, each.decide(solver)) for each in map(int_obligation, cuda)]
    return Certificate(kernel.sym_name.data, answers, not_covered)
