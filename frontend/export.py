# SPDX-License-Identifier: Apache-2.0
"""`torch.export`, as capture needs it: quiet, in eval mode, functional, in ops of the dialect."""

import logging
import sys
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any

from tilewright.errors import TilewrightError, UnsupportedError, UsageError
from tilewright.frontend.aten import decompositions
from tilewright.frontend.source import error_of, place_of_exception


def export(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The functional graph of the module, in ops that the dialect defines as far as possible."""
    import torch

    module = _as_module(function)
    try:
        with torch.no_grad(), _eval_mode(module), _quiet():
            exported: Any = torch.export.export(module, args, kwargs, strict=False)
            _check_constants(exported)
            return exported.run_decompositions(decompositions())
    except TilewrightError:
        raise
    except (Exception, SystemExit) as error:
        raise _export_error(error) from error


def _as_module(function: Any) -> Any:
    """`function` itself if it is a module; else a module whose forward it is."""
    from inspect import isclass

    from torch import nn

    if isinstance(function, nn.Module):
        return function
    if isclass(function) and issubclass(function, nn.Module):
        raise UsageError(f"{function.__name__} is a class: capture a module, {function.__name__}()")
    if not callable(function):
        raise UsageError(f"a module or a function can be captured, not {type(function).__name__}")
    module = nn.Module()
    for name, used in _modules_used_by(function).items():
        module.add_module(name, used)
    module.forward = _with_signature(function)
    return module


def _with_signature(function: Callable[..., Any]) -> Callable[..., Any]:
    """`function` itself, or a call of it if it is a builtin such as `torch.relu`."""
    from inspect import signature

    try:
        signature(function)
    except ValueError:
        return lambda *args, **kwargs: function(*args, **kwargs)
    return function


def _modules_used_by(function: Callable[..., Any]) -> dict[str, Any]:
    """The modules that a function reaches through its surroundings, so that they keep a name."""
    from inspect import getclosurevars, isfunction, ismethod

    from torch import nn

    around: dict[str, Any] = {}
    if ismethod(function):
        around["self"] = function.__self__
    elif isfunction(function):
        variables = getclosurevars(function)
        around = {**variables.globals, **variables.nonlocals}
    return {name: value for name, value in around.items() if isinstance(value, nn.Module)}


@contextmanager
def _eval_mode(module: Any) -> Generator[None]:
    """Eval mode for the module and all within, each given its own mode back at the end."""
    modes = {child: child.training for child in module.modules()}
    module.eval()
    try:
        yield
    finally:
        for child, training in modes.items():
            child.training = training


@contextmanager
def _quiet() -> Generator[None]:
    """
    Keep PyTorch's own reports off the terminal: what matters in them comes as an exception.

    What the user's code prints while it is traced goes to stderr: stdout is for the compiler.
    """
    level, printed = logging.root.manager.disable, StringIO()
    logging.disable(logging.ERROR)
    try:
        with redirect_stdout(printed), redirect_stderr(printed), warnings.catch_warnings():
            # PyTorch 2.13's export uses what PyTorch 2.13 deprecates.
            warnings.filterwarnings("ignore", ".*treespec", FutureWarning)
            yield
    finally:
        logging.disable(level)
    sys.stderr.write(printed.getvalue())


_UNTRACED = "a tensor is used that PyTorch's tracing does not know the origin of"
_KEEP_TRACK = (
    "write x.detach() for x.data, and hold parameters and modules in modules, as nn.ModuleList does"
)


def _check_constants(exported: Any) -> None:
    """
    Refuse constants that tracing made up from what it lost sight of, as it does of `x.data`.

    PyTorch 2.13 does so only where the inputs are real. Where they are fake it goes on with a
    constant that has no memory, and crashes.
    """
    from torch._subclasses.fake_tensor import FakeTensor

    for name, value in exported.constants.items():
        if "lifted_tensor_" in name and isinstance(value, FakeTensor):
            raise UnsupportedError(_UNTRACED, remedy=_KEEP_TRACK)


_LOST = ("Expected a real tensor, not a FakeTensor", "a fake tensor in the exported program")


def _export_error(error: BaseException) -> TilewrightError:
    if any(words in str(error) for words in _LOST):
        return UnsupportedError(_UNTRACED, remedy=_KEEP_TRACK)
    if "DataDependent" not in type(error).__name__:
        return error_of(error)
    return UnsupportedError(
        "the program depends on the values of a tensor",
        where=str(place_of_exception(error) or ""),
        remedy="shapes and branches must follow from the inputs' shapes alone",
    )
