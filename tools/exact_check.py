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
from tilewright.tools.checks import Checker

SHARE = 8
"""Number by which the work of a function is limited further than with floats, which are faster."""


class ExactChecker(Checker):
    """Check of a pass by the interpreters with exact numbers."""

    def __call__(self, before: ModuleOp, after: ModuleOp, name: str) -> None:
        """
        Run the program with exact numbers before and after a pass that changed it. Raises
        `PassCheckError` if the results differ.

        A line on stderr names the numbers, and each function that was not compared exactly.
        """
        if structure(before) == structure(after):
            return
        exact: Any = import_module("tilewright.interpreters.exact.comparison")
        compare = exact.ExactComparison()
        self._check(before, after, name, SHARE, compare=compare)
        for note in compare.notes:
            self._remark(name, note)
        rounded = "; roundings to half types count as none" if exact.rounds_to_half(before) else ""
        for function, numbers in compare.compared.items():
            text = f"@{function} is equal {numbers.name}{rounded}"
            print(f"check of '{name}': {text}", file=sys.stderr)
