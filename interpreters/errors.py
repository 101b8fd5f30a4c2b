# SPDX-License-Identifier: Apache-2.0
"""Errors of interpreted programs, each with its place in the program."""

from io import StringIO
from typing import TypeVar

from xdsl.ir import Operation
from xdsl.printer import Printer

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
    function = _function_around(op)
    text, symbol = _first_line(op, function), symbol_of(function)
    named = f"@{symbol}: '{text}'" if symbol else f"'{text}'"
    return kind(f"{named}: {message}", where=place_of(op), remedy=remedy)


def _first_line(op: Operation, function: Operation) -> str:
    """Return the first line of `op`, with the names that its values have in the whole function."""
    stream = StringIO()
    printer = _LinePrinter(op, stream)
    printer.print_op(function)
    return stream.getvalue()[printer.start :].partition("\n")[0]


class _LinePrinter(Printer):
    """Printer that remembers where the text of one op starts."""

    def __init__(self, op: Operation, stream: StringIO):
        super().__init__(stream)
        self.start = 0
        self._op, self._text = op, stream

    def print_op(self, op: Operation) -> None:
        """Print `op`; the stream is at the op's indented start."""
        if op is self._op:
            self.start = self._text.tell()
        super().print_op(op)


def _function_around(op: Operation) -> Operation:
    """Return the innermost kernel or function around `op`, or else the outermost op."""
    parent = op.parent_op()
    if parent is None or symbol_of(op) is not None:
        return op
    return _function_around(parent)


def symbol_of(op: Operation) -> str | None:
    """Return the symbol that `op` defines, if it is a kernel or a function."""
    name = op.get_attr_or_prop("sym_name")
    return getattr(name, "data", None)
