# SPDX-License-Identifier: Apache-2.0
"""
Check of passes with exact numbers (`--check=exact`): the results before and after each pass are
equal, without a tolerance.
"""

import sys
from importlib import import_module
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects.structure import structure

_SHARE = 8
"""Number by which the work of a function is limited further than with floats, which are faster."""


class ExactChecker:
    """Checker of passes by the interpreters, which are imported only when a check runs."""

    def __init__(self, limit: int | None = None) -> None:
        """Create a check; `limit` bounds the scalar operations of one function for one pass."""
        self._runs: Any = None
        self._limit = limit

    def __call__(self, before: ModuleOp, after: ModuleOp, name: str) -> None:
        """
        Run the program with exact numbers before and after a pass that changed it. Raises
        `PassCheckError` if the results differ.

        A line on stderr names the numbers, and each function that was not compared exactly.
        """
        if structure(before) == structure(after):
            return
        check: Any = import_module("tilewright.interpreters.check")
        exact: Any = import_module("tilewright.interpreters.exact.comparison")
        compare = exact.ExactComparison()
        self._runs = self._runs or check.RandomRuns()
        limit = check.MAX_WORK // _SHARE if self._limit is None else self._limit
        report = check.check_pass(
            before, after, name, runs=self._runs, max_work=limit, compare=compare
        )
        for note in (*report.notes, *compare.notes):
            print(f"remark: check of '{name}': {note}", file=sys.stderr)
        rounded = "; roundings to half types count as none" if exact.rounds_to_half(before) else ""
        for function, numbers in compare.compared.items():
            text = f"@{function} is equal {numbers.name}{rounded}"
            print(f"check of '{name}': {text}", file=sys.stderr)
