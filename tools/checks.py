# SPDX-License-Identifier: Apache-2.0
"""`--check`: run the program in the interpreters before and after passes, and compare."""

import sys
from importlib import import_module

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from tilewright.passes.manager import PassManager

MODES = ("each", "end", "none")
"""After each pass, after the last one, or never."""


def check_pass(before: ModuleOp, after: ModuleOp, name: str) -> None:
    """Interpret both and compare; NumPy and the interpreters are imported only for this."""
    report = import_module("tilewright.interpreters.check").check_pass(before, after, name)
    for note in report.notes:
        print(f"remark: check of '{name}': {note}", file=sys.stderr)


def checking_manager(ctx: Context, mode: str) -> PassManager:
    """A pass manager that checks in one of `MODES`."""
    checkers = {mode: check_pass}
    return PassManager(ctx, checkers.get("each"), checkers.get("end"))
