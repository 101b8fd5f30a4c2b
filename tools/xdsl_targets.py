# SPDX-License-Identifier: Apache-2.0
"""Errors of the targets that come with xDSL: each knows few operations, and some need packages."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from xdsl.utils.exceptions import DiagnosticException
from xdsl.utils.target import Target

from tilewright.errors import TilewrightError, summary_of


def imported(name: str, factory: Callable[[], type[Target]]) -> type[Target]:
    """Return the class of the target `name`; `TilewrightError` if it needs a missing package."""
    try:
        return factory()
    except ModuleNotFoundError as err:
        message = f"the target '{name}' needs the Python package {err.name}, which is not installed"
        raise TilewrightError(message) from err


@contextmanager
def reporting(target: Target) -> Generator[None]:
    """Raise `TilewrightError` for an exception of a target of xDSL; others are not touched."""
    try:
        yield
    except (TilewrightError, DiagnosticException):
        raise
    except Exception as err:
        if not type(target).__module__.startswith("xdsl."):
            raise
        message = f"xDSL's target '{target.name}' cannot print this IR: {summary_of(err)}"
        raise TilewrightError(message) from err
