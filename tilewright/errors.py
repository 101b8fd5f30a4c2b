# SPDX-License-Identifier: Apache-2.0
"""Errors for users: each is one sentence that names the problem and its place."""

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches
from unicodedata import category


class TilewrightError(Exception):
    """
    A user-facing failure: printed as `error: MESSAGE`, never as a traceback.

    `where` names the place if there is one (`file:line:col` or an FX node); `remedy` proposes a
    solution. `exit_code` is 1 for a failure and 2 for wrong usage.
    """

    exit_code = 1

    def __init__(self, message: str, *, where: str = "", remedy: str = ""):
        self.message = message
        self.where = where
        self.remedy = remedy
        super().__init__(str(self))

    def __str__(self) -> str:
        text = f"{self.where}: {self.message}" if self.where else self.message
        return f"{text} ({self.remedy})" if self.remedy else text


class UsageError(TilewrightError):
    """Wrong usage: an option, an expression or a file that cannot be understood."""

    exit_code = 2


class UnsupportedError(TilewrightError):
    """Valid input outside the supported subset: an op, an argument or a dtype."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a remedy with the close matches of `name`, or an empty text if there are none."""
    names = list(known)
    near = get_close_matches(name, names) or _near_ignoring_case(name, names)
    nearness = [SequenceMatcher(None, name, each).ratio() for each in near]
    best = [each for each, ratio in zip(near, nearness, strict=True) if ratio > nearness[0] - 0.1]
    return f"did you mean {' or '.join(best)}?" if best else ""


def _near_ignoring_case(name: str, known: Iterable[str]) -> list[str]:
    folded = {each.casefold(): each for each in known}
    return [folded[each] for each in get_close_matches(name.casefold(), folded)]


def format_error(err: TilewrightError) -> str:
    """Return an error as the text that is printed, with its place and remedy."""
    remedy = f" ({err.remedy})" if err.remedy else ""
    where = f"{err.where}: " if err.where else ""
    return printable(f"{where}error: {err.message}{remedy}")


def printable(text: str) -> str:
    """
    Return `text` with control characters except newlines and tabs escaped, because a terminal would
    obey them.
    """
    return "".join(
        char.encode("unicode_escape").decode()
        if category(char) == "Cc" and char not in "\n\t"
        else char
        for char in text
    )


def one_line(message: object) -> str:
    """Return `message` with line breaks and runs of blanks replaced by single blanks."""
    return " ".join(str(message).split())


def shortened(text: str, most: int = 160) -> str:
    """Return `text`, with its middle replaced by dots if it has more than `most` characters."""
    if len(text) <= most:
        return text
    return f"{text[: most // 3].rstrip()} ... {text[-most + most // 3 :].lstrip()}"


def counted(count: int, what: str) -> str:
    """Return a count with its noun in singular or plural: `1 kernel`, `2 kernels`, `0 launches`."""
    plural = "es" if what.endswith("ch") else "s"
    return f"{count} {what}{'' if count == 1 else plural}"


def summary_of(error: BaseException) -> str:
    """Return the error's class and the first line of its message: `ValueError: no such axis`."""
    kind, first = type(error).__name__, str(error).strip().partition("\n")[0]
    return f"{kind}: {first}" if first else kind


_WIDTH = 120  # longer source lines are cut to a window around the column


def excerpt(line: str, column: int, carets: int = 1, indent: str = "") -> str:
    """
    Return a source line with carets below `column`, which counts from 0; empty for a blank line.

    Only the part around the column of a long line is shown.
    """
    if not line.strip():
        return ""
    start = max(0, min(column - _WIDTH // 2, len(line) - _WIDTH))
    line, column = line[start : start + _WIDTH], column - start
    before = "".join("\t" if c == "\t" else " " for c in line[:column])
    marks = "^" * max(1, min(carets, len(line) - column))
    return f"\n{indent}{line}\n{indent}{before}{marks}"
