# SPDX-License-Identifier: Apache-2.0
"""Outcomes of opt-tool for a text: accepted, diagnosed, or a failure."""

import re
import traceback
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from tilewright.codegen.whole_file import write_whole
from tilewright.tools.fuzz.forked import TooLongError
from tilewright.tools.opt_tool import main as opt_tool

FAILURES = ("internal error", "hang", "out of memory", "lost")

_EXCEPTION = re.compile(r"(?!error:)[\w.]+(?::|$)")
_FRAME = re.compile(r'File "(?:.*/)?((?:\w+/)?\w+\.pyx?)", line \d+, in (\S+)')
_NOT_OURS = ("xdsl/", "fuzz/")
_PLACED = re.compile(r"^\S[^\n]*?:\d+:\d+: error: ", re.MULTILINE)
_BY_PASS = re.compile(r"error: .*\bpass '[^']*'(?::| the program)")
_MEMORY = "no memory left"


@dataclass(frozen=True)
class Outcome:
    """Outcome of one run of opt-tool."""

    kind: str
    """One of `fine`, `diagnosed`, `diagnosed without place`, and `FAILURES`."""
    reached: bool
    says: str
    """Exception and its place for a failure, else the first line of the error message."""


def run_opt_tool(text: str, options: Sequence[str], folder: Path) -> Outcome:
    """Run opt-tool over `text` in this process, through a file in `folder`; return how it ended."""
    file = folder / "mutant.mlir"
    write_whole(file, text.encode())
    out, err = StringIO(), StringIO()
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = opt_tool([str(file), *options])
    except SystemExit as left:  # argparse has reported a wrong option
        code = left.code if isinstance(left.code, int) else 2
    except BaseException as escaped:
        return escaped_with(escaped)
    return _judged(code, err.getvalue().replace(f"{folder}/", ""))


def escaped_with(error: BaseException) -> Outcome:
    """Return the outcome for an exception that opt-tool did not catch."""
    kind = "hang" if isinstance(error, TooLongError) else "internal error"
    return Outcome(kind, True, _place(_trace(error)))


def _judged(code: int, message: str) -> Outcome:
    """Return the outcome for an exit code and the text on stderr."""
    if "internal error. This is a bug" in message:
        return Outcome("internal error", True, _place(message))
    error = next((line for line in message.splitlines() if "error: " in line), "")
    reached = code != 2 or _BY_PASS.search(error) is not None
    if _MEMORY in error:
        return Outcome("out of memory", True, error)
    if code == 0:
        return Outcome("fine", True, "")
    if _PLACED.search(message):
        return Outcome("diagnosed", reached, error)
    return Outcome("diagnosed without place", reached, error)


def _trace(error: BaseException) -> str:
    return "".join(traceback.format_exception(error))


def _place(trace: str) -> str:
    """
    Return an exception's name, and the functions that raised it: our two innermost ones and the
    innermost of all.
    """
    named = [line for line in trace.splitlines() if _EXCEPTION.match(line)]
    name = named[-1].split(":")[0] if named else ""
    frames = _FRAME.findall(trace)
    ours = [frame for frame in frames if not frame[0].startswith(_NOT_OURS)]
    inner = [f"{file}:{function}" for file, function in (*ours[-2:], *frames[-1:])]
    return f"{name} @ {' <- '.join(dict.fromkeys(reversed(inner)))}"
