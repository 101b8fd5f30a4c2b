# SPDX-License-Identifier: Apache-2.0
"""
Errors for functions that cannot be captured as they are called, placed at the function's
definition.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from inspect import (
    isasyncgenfunction,
    iscoroutinefunction,
    isgeneratorfunction,
    unwrap,
)
from typing import Any

from tilewright.errors import UsageError, counted
from tilewright.frontend.source import Place, error_at, is_foreign

_MISFIT = re.compile(r"missing a required|too many positional|unexpected keyword|multiple values")
"""
Parts of the messages with which `inspect.Signature.bind` reports arguments that do not fit; PyTorch
binds arguments with it.
"""

_KINDS: tuple[tuple[Callable[[Any], bool], str], ...] = (
    (isgeneratorfunction, "generator function"),
    (iscoroutinefunction, "coroutine"),
    (isasyncgenfunction, "asynchronous generator"),
)


def check_kind(function: Any) -> None:
    """
    Raise `UsageError` for a generator function, coroutine or asynchronous generator: a call of it
    returns no tensors.
    """
    definition = _definition(function)
    for is_kind, kind in _KINDS:
        if is_kind(definition):
            message = (
                f"'{_name(function)}' is a {kind}: return a tensor, or a tuple or list of them"
            )
            raise _error_at_definition(definition, message)


def argument_error(
    function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], error: BaseException
) -> UsageError | None:
    """
    Return an error at the function's definition if `error` says that arguments do not fit the
    parameters; else None.
    """
    if not isinstance(error, TypeError) or not _MISFIT.search(str(error)):
        return None
    given = len(args) + len(kwargs)
    inputs = f"{counted(given, 'input')}" if given else "no inputs"
    message = f"'{_name(function)}' cannot be called with {inputs}: {error}"
    return _error_at_definition(_definition(function), message)


def _error_at_definition(definition: Any, message: str) -> UsageError:
    code = getattr(definition, "__code__", None)
    if code is None or is_foreign(code.co_filename):
        return UsageError(message)
    return error_at(Place(code.co_filename, code.co_firstlineno), message)


def _definition(function: Any) -> Any:
    """
    Return the Python function that runs when `function` is called: without partials and decorators,
    or a module's `forward`. If there is none, return its `__call__`.
    """
    function = getattr(function, "forward", function)  # of a module, which is called
    while isinstance(function, partial):
        function = function.func
    function = unwrap(getattr(function, "__func__", function))
    return function if hasattr(function, "__code__") else getattr(function, "__call__", function)


def _name(function: Any) -> str:
    """Return the name of a function, or the class name of a module, for messages."""
    while isinstance(function, partial):
        function = function.func
    return getattr(function, "__name__", type(function).__name__)
