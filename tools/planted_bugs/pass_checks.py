# SPDX-License-Identifier: Apache-2.0
"""
Checks that have to find the bugs of a pass: proofs (`--check=prove`) and exact numbers
(`--check=exact`).

A bug that neither finds may be none: its kernel is *equal* if all of its obligations and values are
proved, or if its machine code is that of the kernel without it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright.codegen.host_function import plan_of
from tilewright.errors import TilewrightError
from tilewright.interpreters.check import PassCheckError, check_pass
from tilewright.interpreters.exact.comparison import ExactComparison
from tilewright.interpreters.random_runs import RandomRuns
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import REFUSED, context, lower
from tilewright.passes.driver.manager import PassManager
from tilewright.proof.answer import Outcome
from tilewright.proof.kernels import (
    Certificate,
    functions_of,
    kernels_of,
    prove_function,
    prove_kernel,
)
from tilewright.tools.planted_bugs.finders import machine_code
from tilewright.tools.planted_bugs.pass_bugs import PassBug, PassResult

_NO_LIMIT = 1 << 62


@dataclass(frozen=True)
class Verdict:
    """Answers of both checks to a bug."""

    refuted: str = ""
    """Kind of the first refuted obligation, or empty."""
    not_proved: str = ""
    """Kind of the first obligation that is neither proved nor refuted, or empty."""
    is_exact_different: bool = False
    """True if exact numbers find the bug."""
    equal: str = ""
    """Reason why the kernel with the bug is equal to the one without, or empty."""

    @property
    def is_found(self) -> bool:
        """True if a check stops at the pass."""
        return bool(self.refuted) or self.is_exact_different


@dataclass
class PassChecks:
    """Both checks of the passes of one program of Loop IR."""

    program: ModuleOp
    target: str
    _runs: RandomRuns = field(default_factory=RandomRuns)

    def false_alarms(self, results: Sequence[PassResult]) -> Sequence[str]:
        """Return the passes that a check stops at without a bug, and what it finds."""
        found = list[str]()
        for result in results:
            certificates = self._certificates(result.after)
            kinds = _kinds(certificates, Outcome.REFUTED) + _kinds(certificates, Outcome.UNKNOWN)
            if kinds:
                found.append(f"{result.name}: {kinds[0]}")
            if self._differs(result.before, result.after, result.name):
                found.append(f"{result.name}: exact numbers differ")
        return found

    def verdict(self, bug: PassBug) -> Verdict:
        """Return the answers of both checks to a bug."""
        certificates = self._certificates(bug.module)
        refuted, unknown = (
            next(iter(_kinds(certificates, outcome)), "")
            for outcome in (Outcome.REFUTED, Outcome.UNKNOWN)
        )
        if self._differs(bug.result.before, bug.module, bug.result.name):
            return Verdict(refuted, unknown, is_exact_different=True)
        equal = "" if refuted else self._equal(bug, certificates)
        return Verdict(refuted, unknown, equal=equal)

    def _certificates(self, module: ModuleOp) -> Sequence[Certificate]:
        """Return the certificates of all kernels, with values for those of Tile IR."""
        nests = {nest.sym_name.data: nest for nest in kernels_of(self.program)}
        tiles = [
            prove_kernel(each, nest=nests.get(each.sym_name.data)) for each in kernels_of(module)
        ]
        return [*tiles, *map(prove_function, functions_of(module))]

    def _differs(self, before: ModuleOp, after: ModuleOp, name: str) -> bool:
        try:
            check_pass(
                before,
                after,
                name,
                runs=self._runs,
                max_work=_NO_LIMIT,
                compare=ExactComparison(),
            )
        except PassCheckError:
            return True
        return False

    def _equal(self, bug: PassBug, certificates: Sequence[Certificate]) -> str:
        """Reason why a bug that no check finds changes nothing, or empty."""
        if kernels_of(bug.module) and all(each.is_proved for each in certificates):
            return "all values are proved"
        try:
            modules = (bug.module, bug.result.after)
            codes = [self._machine_code(each, bug.result.rest) for each in modules]
        except (*REFUSED, TilewrightError):
            return ""
        return "machine code is the same" if codes[0] == codes[1] else ""

    def _machine_code(self, module: ModuleOp, rest: Sequence[ModulePass]) -> dict[str, list[str]]:
        """Return the machine code of a module after the rest of the passes."""
        lowered = module.clone()
        PassManager(context()).run(lowered, rest)
        plan = plan_of(lower(lowered, Level.CUDA, target=self.target))
        return machine_code(plan.source, self.target)


def _kinds(certificates: Sequence[Certificate], outcome: Outcome) -> list[str]:
    return [
        obligation.kind
        for each in certificates
        for obligation, answer in each.answers
        if answer.outcome is outcome
    ]
