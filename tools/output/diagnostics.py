# SPDX-License-Identifier: Apache-2.0
"""
Format of errors: `file:line:col: error: message`, the source line, and a caret below the place.

`PlacedParseError` and `PlacedVerifyError` print xDSL's errors in this format; `explain` formats all
errors.
"""

import sys
import traceback
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import NameLoc
from xdsl.ir import Attribute
from xdsl.utils.exceptions import (
    ArgSpecParseError,
    DiagnosticException,
    ParseError,
    VerifyException,
)
from xdsl.utils.lexer import Span

from tilewright.codegen.whole_file import is_device_error
from tilewright.dialects.origin import file_place
from tilewright.dialects.schedule import malformed
from tilewright.errors import TilewrightError, excerpt, format_error, one_line, printable
from tilewright.passes.driver.verification import InvalidOpError


@dataclass
class PlacedParseError(ParseError):
    """
    Error for text that does not parse, or that contains a type or attribute that does not verify.
    """

    def __str__(self) -> str:
        return render(self.span, self.msg)


class PlacedVerifyError(VerifyException):
    """
    Error for ill-formed IR, with its place in the text. `exit_code` is 2 for input, 1 for the
    output of a pass.
    """

    def __init__(self, text: str, exit_code: int):
        self.exit_code = exit_code
        super().__init__(text)


def render(span: Span[Any], message: str) -> str:
    """Return `message` at `span`, with the source line in which the span starts."""
    place = span.get_location()
    text = str(span.input.content)
    start = span.input.get_start_of_line(span.start)
    line = text[start : span.input.get_end_of_line(span.start)]
    shown = excerpt(line, place.col - 1, len(span))
    return f"{place}: error: {one_line(message)}{shown}"


def location_text(location: Attribute) -> str:
    """Return the place a location names: `file:line:col`, else a name; empty if it names none."""
    return file_place(location) or (location.desc.data if isinstance(location, NameLoc) else "")


def explain(err: BaseException) -> tuple[str, int]:
    """Return the message for the user, and the exit code: 2 for wrong input, 1 for a failure."""
    message, code = _message_and_code(err)
    return printable(message), code


def _message_and_code(err: BaseException) -> tuple[str, int]:
    match err:
        case TilewrightError():
            return format_error(err), err.exit_code
        case PlacedVerifyError():
            return str(err), err.exit_code
        case InvalidOpError():
            where = location_text(err.op.location)
            return f"{where}: error: {err}" if where else f"error: {err}", 1
        case ParseError():
            return str(err), 2
        case ArgSpecParseError():
            return format_error(malformed(err)), 2
        case StopIteration():  # xDSL's parser of options reached the end of the text
            return "error: the target's options end too early", 2
        case DiagnosticException():
            return str(err), 1
        case FileNotFoundError(filename=None):  # `os.getcwd` raises it without a file name
            return "error: the current folder has been deleted", 2
        case OSError():  # without a file name: stdout, for example on a full disk
            what = "write" if err.filename is None else f"open '{err.filename}'"
            code = 1 if err.filename is None or is_device_error(err) else 2
            return f"error: cannot {what}: {err.strerror or one_line(err)}", code
        case MemoryError():
            return f"error: this machine has no memory left: {one_line(err) or 'for Python'}", 1
        case _ if _fills_gpu(err):
            return f"error: {_first_sentences(one_line(err))}", 1
        case _:
            trace = "".join(traceback.format_exception(err))
            return f"{trace}{_BUG}", 1


def _fills_gpu(err: BaseException) -> bool:
    """True if the error is PyTorch's for a GPU without enough free memory."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(err, torch.OutOfMemoryError)


def _first_sentences(text: str) -> str:
    """
    Return the first three sentences: the size of PyTorch's request and the free memory, without
    advice on its allocator.
    """
    return ". ".join(text.split(". ")[:3])


def explain_case(err: BaseException, case: str) -> tuple[str, int]:
    """
    Return the message and exit code for an error in a case of a suite, which the message names.
    """
    message, code = explain(err)
    return message.replace("error: ", f"error: case '{case}': ", 1), code


_BUG = """\
error: internal error. This is a bug in Tilewright or in a pass: please report it with the command,
the input and the traceback above."""
