# SPDX-License-Identifier: Apache-2.0
"""What goes wrong while a program is interpreted, each with the place in the program."""

from xdsl.dialects.builtin import UnknownLoc
from xdsl.ir import Operation

from tilewright.errors import TilewrightError, UnsupportedError


class InterpreterError(TilewrightError):
    """The program did something that has no meaning: out of bounds, unwritten memory, a race."""


class TooLargeError(TilewrightError):
    """The program is right as far as known, but too much work or memory to interpret."""


def fail(op: Operation, message: str, *, remedy: str = "") -> InterpreterError:
    """The error `message` at `op`, to be raised."""
    return InterpreterError(message, where=place_of(op), remedy=remedy)


def unknown(op: Operation, message: str) -> UnsupportedError:
    """The error for what is no mistake, but what the interpreters cannot run."""
    return UnsupportedError(message, where=place_of(op))


def place_of(op: Operation) -> str:
    """The enclosing symbol, the text of the op's first line and its source location, if known."""
    text = str(op).partition("\n")[0]
    location = "" if isinstance(op.location, UnknownLoc) else f" {op.location}"
    symbol = _enclosing_symbol(op)
    return f"@{symbol}: '{text}'{location}" if symbol else f"'{text}'{location}"


def _enclosing_symbol(op: Operation) -> str | None:
    parent: Operation | None = op
    while parent is not None:
        if (name := symbol_of(parent)) is not None:
            return name
        parent = parent.parent_op()
    return None


def symbol_of(op: Operation) -> str | None:
    """The symbol that `op` defines, if it is a kernel or a function."""
    name = op.get_attr_or_prop("sym_name")
    return getattr(name, "data", None)
