# SPDX-License-Identifier: Apache-2.0
"""From any level to a lower one, by the named pipelines between them."""

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
from tilewright.passes.driver.pipelines import expanded, for_target, passes_of
from tilewright.passes.driver.verification import InvalidOpError
from tilewright.passes.reporting.trace import listening

REFUSED = (PassFailedException, VerifyException, TilewrightError)
"""What is raised where passes cannot do to a program what is asked for."""


def context() -> Context:
    """Return a context that knows xDSL's dialects and ours, each loaded when it is first met."""
    ctx = Context()
    for name, factory in {**get_xdsl_dialects(), **get_all_dialects()}.items():
        ctx.register_dialect(name, factory)
    return ctx


def level_named(name: str) -> Level:
    """Return the level called `name`; `UsageError` if there is none."""
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
    Return a copy of `module` at `level`, as is best for `target`; `UsageError` if the module is
    below it already. Unless `manager` says otherwise only `module` and the result are verified.
    """
    steps = passes_of(pipeline_between(level_of(module), level))
    passes = expanded(for_target(step, target) for step in steps)
    lowered = module.clone()
    if manager is not None:
        manager.run(lowered, passes)
        return lowered
    try:
        PassManager(context(), verify_each=False).run(lowered, passes)
    except Exception as err:
        raise _first_invalid(module, passes) or err
    return lowered


def _first_invalid(module: ModuleOp, passes: Sequence[ModulePass]) -> InvalidOpError | None:
    """
    Error that names the pass after which `module` is ill-formed; None if there is no such pass.

    A later pass may have stumbled over what that one left behind, and have been blamed for it.
    """
    with suppress(Exception), listening(None):
        try:
            PassManager(context()).run(module.clone(), passes)
        except InvalidOpError as invalid:
            return invalid
    return None
