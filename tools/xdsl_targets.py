# SPDX-License-Identifier: Apache-2.0
"""Errors of xDSL's own targets, which support few operations and may need missing packages."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from xdsl.utils.exceptions import DiagnosticException
from xdsl.utils.target import Target

from tilewright.errors import TilewrightError, summary_of


def imported(name: str, factory: Callable[[], type[Target]]) -> type[Target]:
    """
    Return the class of the target `name`; raises `TilewrightError` if a Python package is missing.
    """
    try:
        return factory()
    except ModuleNotFoundError as err:
        message = f"the target '{name}' needs the Python package {err.name}, which is not installed"
        raise TilewrightError(message) from err


@contextmanager
def reporting(target: Target) -> Generator[None]:
    """
    Turn any exception of an xDSL target into a `TilewrightError`; exceptions of other targets pass.
    """
    try:
        yield
    except (TilewrightError, DiagnosticException):
        raise
    except Exception as err:
        if not type(target).__module__.startswith("xdsl."):
            raise
        message = f"xDSL's target '{target.name}' cannot print this IR: {summary_of(err)}"
        raise TilewrightError(message) from err
