# SPDX-License-Identifier: Apache-2.0
"""Errors of interpreted programs, each with its place in the program."""

from typing import TypeVar

from xdsl.ir import Operation

from tilewright.dialects.origin import place_of
from tilewright.errors import TilewrightError, UnsupportedError

Error = TypeVar("Error", bound=TilewrightError)


class InterpreterError(TilewrightError):
    """
    The error of a program that does something undefined: an access out of bounds, a read of
    unwritten memory, a race.
    """


class TooLargeError(TilewrightError):
    """The error of a program that needs too much work or memory to interpret; it may be right."""


def fail(op: Operation, message: str, *, remedy: str = "") -> InterpreterError:
    """Return an `InterpreterError` with `message` at `op`."""
    return error_at(InterpreterError, op, message, remedy)


def unknown(op: Operation, message: str) -> UnsupportedError:
    """
    Return an `UnsupportedError` for an op that may be right, but which the interpreters cannot run.
    """
    return error_at(UnsupportedError, op, message)


def error_at(kind: type[Error], op: Operation, message: str, remedy: str = "") -> Error:
    """
    Return an error with `message` at `op`, which names the op's symbol and its first line.

    The place is the line of the file that the op comes from, if it is known.
    """
    text = str(op).partition("\n")[0]
    symbol = _enclosing_symbol(op)
    named = f"@{symbol}: '{text}'" if symbol else f"'{text}'"
    return kind(f"{named}: {message}", where=place_of(op), remedy=remedy)


def _enclosing_symbol(op: Operation) -> str | None:
    parent: Operation | None = op
    while parent is not None:
        if (name := symbol_of(parent)) is not None:
            return name
        parent = parent.parent_op()
    return None


def symbol_of(op: Operation) -> str | None:
    """Return the symbol that `op` defines, if it is a kernel or a function."""
    name = op.get_attr_or_prop("sym_name")
    return getattr(name, "data", None)
