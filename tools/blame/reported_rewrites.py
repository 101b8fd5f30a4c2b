# SPDX-License-Identifier: Apache-2.0
"""
Rewrites that a pass reports to a listener (`passes/reporting/trace.py`), counted and limited, for
passes without patterns.
"""

from collections.abc import Generator
from contextlib import contextmanager
from math import inf
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.dialects.structure import structure
from tilewright.passes.reporting.trace import Listener, Rule, listening
from tilewright.tools.blame.applications import Application, Applications


class _Enough(BaseException):
    """Exception that ends a pass; `except Exception` in passes does not catch it."""


class _Reports(Listener[Any]):
    """Listener that counts the reported rewrites of a module, and ends the pass at the limit."""

    def __init__(self, module: ModuleOp, counted: Applications):
        self._module, self._counted = module, counted

    def look(self, scope: Operation) -> Any:
        """Return the structure of a part of the module; None for IR elsewhere."""
        return structure(scope) if self._module.is_ancestor(scope) else None

    def rewrote(self, rule: Rule, site: str, before: Any, after: Any) -> None:
        """Count a rewrite; raise `_Enough` at the limit."""
        self._counted.count += 1
        if self._counted.count == self._counted.limit:
            self._counted.last = Application(str(rule), f"@{site}")
            raise _Enough


@contextmanager
def rewritten(module: ModuleOp, limit: float = inf) -> Generator[Applications]:
    """
    End the pass that runs over `module` in this block after its rewrite number `limit`. The module
    is then as the pass left it.
    """
    counted = Applications(limit)
    try:
        with listening(_Reports(module, counted)):
            yield counted
    except _Enough:
        pass
