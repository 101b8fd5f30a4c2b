# SPDX-License-Identifier: Apache-2.0
"""Comparison of a program before and after a pass: exact where possible, else in float64."""

from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects.structure import structure
from tilewright.interpreters.check import (
    MAX_WORK,
    CheckReport,
    Compare,
    PassCheckError,
    Programs,
    check_pass,
    within_tolerance,
)
from tilewright.interpreters.differences import Difference
from tilewright.interpreters.exact.comparison import ExactComparison
from tilewright.interpreters.random_runs import RandomRuns
from tilewright.tools.checks import EXACT
from tilewright.tools.exact_check import SHARE


@dataclass(frozen=True)
class Wrong:
    """Wrong result of a pass."""

    error: PassCheckError
    check: str
    """Mode of `opt-tool --check` that finds it, `exact` or `each`."""
    function: str = ""
    """Function or kernel whose results differ; empty if they were not compared."""
    difference: Difference | None = None
    """Element that differs most; None for another signature, and for a program that cannot run."""

    @property
    def kind(self) -> str:
        """Kind of failure, which a smaller program must share."""
        if self.difference is not None:
            return "difference"
        return "signature" if "changed the signature" in self.error.message else "undefined"

    @property
    def is_of_the_input(self) -> bool:
        """True if the program is wrong before the pass already."""
        return self.error.message.startswith("before pass")


@dataclass
class Comparison:
    """Comparison of programs before and after passes, with notes on the rest."""

    notes: list[str] = field(default_factory=list[str])
    """Function or kernel, with the pass, that was not compared, and the reason."""
    compared: int = 0
    """Number of passes that changed a program and were compared."""
    _runs: RandomRuns = field(default_factory=RandomRuns)

    def __call__(self, before: ModuleOp, after: ModuleOp, name: str) -> Wrong | None:
        """Return the wrong result of the pass called `name`; None if it is right."""
        if structure(before) == structure(after):
            return None
        exact = _Recorded(ExactComparison())
        report = self._checked(before, after, name, exact, MAX_WORK // SHARE)
        if isinstance(report, CheckReport) and report.notes:
            floats = _Recorded(within_tolerance)
            report = self._checked(before, after, name, floats, MAX_WORK)
            wrong = "each", floats.found
        else:
            wrong = EXACT, exact.found
        if isinstance(report, PassCheckError):
            return Wrong(report, wrong[0], *next(iter(wrong[1].items()), ("", None)))
        self.notes += report.notes
        self.compared += bool(report.compared)
        return None

    def _checked(
        self, before: ModuleOp, after: ModuleOp, name: str, compare: Compare, limit: int
    ) -> CheckReport | PassCheckError:
        try:
            return check_pass(before, after, name, runs=self._runs, max_work=limit, compare=compare)
        except PassCheckError as err:
            return err


class _Recorded:
    """Comparison of functions that remembers the differences, the first one first."""

    def __init__(self, compare: Compare):
        self.found = dict[str, Difference]()
        self._compare = compare

    def __call__(self, programs: Programs, name: str) -> Difference | None:
        found = self._compare(programs, name)
        if found is not None:
            self.found.setdefault(name, found)
        return found
