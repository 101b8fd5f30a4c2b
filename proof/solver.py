# SPDX-License-Identifier: Apache-2.0
"""The solver z3: the only file that imports it (`pip install tilewright[prove]`)."""

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from tilewright.errors import UsageError
from tilewright.proof.formulas import Formula
from tilewright.proof.smtlib import script

STEPS = 2_000_000
"""
Limit of a question in z3's own steps (`rlimit`). Answers do not depend on the speed of a machine.
"""


class Found(NamedTuple):
    """Answer to a question for a point at which formulas are true."""

    values: Sequence[int] | None = None
    """The point, by variable; None if there is none, or it is unknown whether there is one."""
    reason: str = ""
    """Reason why it is unknown; empty if it is known."""

    @property
    def is_none(self) -> bool:
        """True if there is no point."""
        return self.values is None and not self.reason


class Solver:
    """Solver for the obligations of a kernel; equal questions in equal order get equal answers."""

    def __init__(self, steps: int = STEPS):
        """Create a solver that gives up a question after `steps`."""
        self._z3 = load_z3()
        self._context, self._steps = self._z3.Context(), steps

    def find(self, names: Sequence[str], formulas: Sequence[Formula]) -> Found:
        """Return a point at which all `formulas` are true, if there is one."""
        solver = self._z3.SimpleSolver(ctx=self._context)
        solver.set("rlimit", self._steps)
        solver.from_string(script(names, formulas))
        answer = str(solver.check())
        if answer == "unsat":
            return Found()
        if answer != "sat":
            return Found(reason=f"z3 gave up after {self._steps} steps")
        model = solver.model()
        known = {declared.name(): model[declared].as_long() for declared in model.decls()}
        return Found([known.get(name, 0) for name in names])


@cache
def load_z3() -> Any:
    """Return the module of z3; raises `UsageError` if it is not installed."""
    try:
        return import_module("z3")
    except ImportError as err:
        remedy = "pip install 'tilewright[prove]'"
        raise UsageError("proofs need the solver z3", remedy=remedy) from err
