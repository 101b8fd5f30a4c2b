# SPDX-License-Identifier: Apache-2.0
"""Lowering from any level to a lower one, by the named pipelines between them."""

from collections.abc import Sequence
from contextlib import suppress

from xdsl.context import Context
from xdsl.dialects import get_all_dialects as get_xdsl_dialects
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException, VerifyException

from tilewright.dialects import get_all_dialects
from tilewright.dialects.target import DEFAULT_TARGET
from tilewright.errors import TilewrightError, UsageError, did_you_mean
from tilewright.passes.driver.levels import LEVELS, Level, level_of, pipeline_between
from tilewright.passes.driver.manager import PassManager
from tilewright.passes.driver.pipelines import expanded, passes_of
from tilewright.passes.driver.verification import InvalidOpError
from tilewright.passes.reporting.trace import listening
from tilewright.passes.targeted_pass import for_target

REFUSED = (PassFailedException, VerifyException, TilewrightError)
"""Exceptions by which passes reject a program or a request."""


def context() -> Context:
    """Return a context with xDSL's dialects and Tilewright's, each loaded at its first use."""
    ctx = Context()
    for name, factory in {**get_xdsl_dialects(), **get_all_dialects()}.items():
        ctx.register_dialect(name, factory)
    return ctx


def level_named(name: str) -> Level:
    """Return the level called `name`; raises `UsageError` if there is none."""
    if name not in LEVELS:
        remedy = did_you_mean(str(name).lower(), LEVELS) or f"levels: {', '.join(LEVELS)}"
        raise UsageError(f"unknown level '{name}'", remedy=remedy)
    return Level(name)


def lower(
    module: ModuleOp,
    level: Level,
    manager: PassManager | None = None,
    target: str = DEFAULT_TARGET,
) -> ModuleOp:
    """
    Return a copy of `module` at `level`, optimised for `target`. Only `module` and the result are
    verified, unless a `manager` that verifies after each pass runs the passes.

    Raises `UsageError` if the module is below `level` already.
    """
    passes = passes_between(level_of(module), level, target)
    manager = manager or PassManager(context(), verify_each=False)
    lowered = module.clone()
    try:
        manager.run(lowered, passes)
    except Exception as err:
        if manager.verify_each:
            raise
        raise _first_invalid(module, passes) or err
    return lowered


def passes_between(start: Level | None, end: Level, target: str) -> tuple[ModulePass, ...]:
    """Return the passes from one level to a lower one. Raises `UsageError` if it is not lower."""
    steps = passes_of(pipeline_between(start, end))
    return expanded(for_target(step, target) for step in steps)


def _first_invalid(module: ModuleOp, passes: Sequence[ModulePass]) -> InvalidOpError | None:
    """
    Return an error that names the first pass after which `module` is ill-formed, or None.

    A later pass may fail because of the ill-formed module, and be blamed for it.
    """
    with suppress(Exception), listening(None):
        try:
            PassManager(context()).run(module.clone(), passes)
        except InvalidOpError as invalid:
            return invalid
    return None
