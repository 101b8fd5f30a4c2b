# SPDX-License-Identifier: Apache-2.0
"""Checks of passes (`--check`): compare the program before and after passes by runs or proofs."""

import sys
from importlib import import_module
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from tilewright.passes.driver import manager as driver
from tilewright.passes.driver.manager import PassManager

MODES = ("each", "end", "none")
"""Modes of `--check`: after each pass, after the last pass, or never."""

EXACT = "exact"
"""Mode of `--check`: runs with exact numbers after each pass, and no tolerance."""

PROVE = "prove"
"""Mode of `opt-tool --check`: proofs after each pass, instead of runs."""


class Checker:
    """Check of a pass by the interpreters, which are imported only when a check runs."""

    def __init__(self, limit: int | None = None) -> None:
        """Create a check; `limit` bounds the scalar operations of one function for one pass."""
        self._runs: Any = None
        self._limit = limit

    def __call__(self, before: ModuleOp, after: ModuleOp, name: str) -> None:
        """
        Interpret the program before and after a pass; raise `PassCheckError` if the results differ.
        Notes on the check go to stderr.
        """
        self._check(before, after, name)

    def _check(
        self, before: ModuleOp, after: ModuleOp, name: str, share: int = 1, **options: Any
    ) -> None:
        """Check a pass with options of `check_pass`; the usual limit is divided by `share`."""
        check = import_module("tilewright.interpreters.check")
        self._runs = self._runs or check.RandomRuns()
        limit = check.MAX_WORK // share if self._limit is None else self._limit
        report = check.check_pass(before, after, name, runs=self._runs, max_work=limit, **options)
        for note in report.notes:
            self._remark(name, note)

    @staticmethod
    def _remark(name: str, note: str) -> None:
        print(f"remark: check of '{name}': {note}", file=sys.stderr)


def checkers(
    mode: str, limit: int | None = None
) -> tuple[driver.Checker | None, driver.Checker | None]:
    """Return the checks of a mode after each pass, and after the last one."""
    if mode == PROVE:
        return import_module("tilewright.tools.proof_check").ProofChecker(), None
    if mode == EXACT:
        return import_module("tilewright.tools.exact_check").ExactChecker(limit), None
    check = Checker(limit)
    return (check if mode == "each" else None), (check if mode == "end" else None)


def checking_manager(ctx: Context, mode: str) -> PassManager:
    """Return a pass manager that checks passes in a mode of `--check`."""
    return PassManager(ctx, *checkers(mode))
