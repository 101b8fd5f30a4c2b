# SPDX-License-Identifier: Apache-2.0
"""
The pass manager: it runs passes one after the other, names the pass in each error, and verifies
each result. On request, it runs the program before and after each pass and compares the results.

The whole module is verified before the first pass and after the last one. In between, only the
functions and kernels that a pass changed are verified, and only if requested. Every entry point
(`opt-tool`, `tilewright`, the Python API, a named pipeline) runs passes through this manager.
"""

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException

from tilewright.dialects.origin import place_of
from tilewright.errors import TilewrightError, one_line, shortened, summary_of
from tilewright.passes.driver.changes import Changes
from tilewright.passes.driver.verification import InvalidOpError, verify_changes, verify_module
from tilewright.passes.reporting.refusal import PlacedPassError
from tilewright.stages import stage
from tilewright.uncollected import uncollected

Checker = Callable[[ModuleOp, ModuleOp, str], None]
"""Function that raises unless the modules before and after the named pass compute the same."""


@dataclass
class PassManager:
    """A runner of passes over modules; tools override `verify` and `finished` to report more."""

    ctx: Context
    check_each: Checker | None = None
    """Checker called after each pass, or None."""
    check_end: Checker | None = None
    """Checker called once, with the module before the first and after the last pass, or None."""
    verify_each: bool = True
    """Verify after each pass, so that an error names the pass; else only at the end."""
    _changes: Changes | None = field(default=None, init=False)
    """Record of the verified module; None to verify the whole module."""

    def run(self, module: ModuleOp, passes: Sequence[ModulePass]) -> None:
        """
        Run `passes` over `module`.

        `InvalidOpError` names the pass after which the module was found to be ill-formed.
        """
        with uncollected():
            self._verify_all(module, made_by="")
            original = None if self.check_end is None else module.clone()
            self._run_all(module, passes)
            if self.check_end is not None and original is not None:
                self.check_end(original, module, ",".join(step.name for step in passes))

    def _run_all(self, module: ModuleOp, passes: Sequence[ModulePass]) -> None:
        for position, step in enumerate(passes, start=1):
            before = None if self.check_each is None else module.clone()
            start = time.perf_counter()
            with blamed_on(step), stage(f"pass {step.name}"):
                step.apply(self.ctx, module)
            seconds = time.perf_counter() - start
            if position == len(passes):
                self._verify_all(module, made_by=step.name)
            elif self.verify_each:
                self.verify(module, made_by=step.name)
            if self.check_each is not None and before is not None:
                self.check_each(before, module, step.name)
            self.finished(step, module, seconds)

    def _verify_all(self, module: ModuleOp, made_by: str) -> None:
        self._changes = Changes() if self.verify_each else None
        self.verify(module, made_by)

    def verify(self, module: ModuleOp, made_by: str) -> None:
        """
        Raise `InvalidOpError`, which names the pass `made_by`, unless the module is valid. If each
        pass is verified, only changes since the previous call are checked.
        """
        try:
            if self._changes is None:
                verify_module(module)
            else:
                verify_changes(module, self._changes)
        except InvalidOpError as err:
            raise InvalidOpError(err.op, err.reason, made_by) from err

    def finished(self, step: ModulePass, module: ModuleOp, seconds: float) -> None:
        """Do nothing; called after each pass whose result is valid."""


@contextmanager
def blamed_on(step: ModulePass) -> Generator[None]:
    """Add the name of the pass to errors raised in this context."""
    label = f"pass '{step.name}'"
    try:
        yield
    except TilewrightError as err:
        err.message = f"{label}: {err.message}"
        raise
    except DiagnosticException as err:
        reason, where = _reason(err)
        if type(step).__module__.startswith("xdsl."):
            reason = shortened(reason)  # it may contain the whole module
        raise PlacedPassError(f"{label}: {reason}", where) from err
    except Exception as err:
        if type(step).__module__.startswith("xdsl."):
            raise TilewrightError(f"{label} of xDSL: {summary_of(err)}") from err
        err.add_note(f"in {label}")
        raise


def _reason(err: DiagnosticException) -> tuple[str, str]:
    """
    Return the reason of an error, and its place `FILE:LINE:COL`; the place is empty if it is
    unknown.
    """
    if isinstance(err, PlacedPassError):
        return one_line(err.reason), err.where
    return one_line(err), place_of(err.op) if isinstance(err, InvalidOpError) else ""
