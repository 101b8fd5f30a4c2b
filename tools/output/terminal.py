# SPDX-License-Identifier: Apache-2.0
"""Text for people: colour and the terminal's width on a terminal, plain text elsewhere."""

import os
from collections.abc import Sequence
from typing import IO

from rich.console import Console
from rich.style import Style
from rich.table import Table

COLORS = ("auto", "always", "never")
"""Values of `--color`; `auto` is colour on a terminal, unless NO_COLOR is set."""

_UNBROKEN = 10_000  # width of plain output, which other programs read: no line is ever broken


def console(color: str, stream: IO[str]) -> Console:
    """Return a console that writes to `stream`, with `color` one of `COLORS`."""
    if is_colored(color, stream):
        return _terminal(stream)
    return Console(
        file=stream, force_terminal=False, no_color=True, highlight=False, width=_UNBROKEN
    )


def _terminal(stream: IO[str], width: int | None = None) -> Console:
    return Console(file=stream, force_terminal=True, no_color=False, highlight=False, width=width)


def is_colored(color: str, stream: IO[str]) -> bool:
    """True if output to `stream` is coloured for this value of `--color`."""
    if color == "auto":
        return stream.isatty() and not os.environ.get("NO_COLOR")
    return color == "always"


_DIFF = {">>>": "bold", "<<<": "bold", "---": "dim", "@@": "cyan", "-": "red", "+": "green"}
"""Styles of the lines of a trace, by their beginnings."""


def colored_diff(line: str) -> str:
    """Return a line of a trace in the colour of its kind, as terminal escape codes."""
    style = next((style for begin, style in _DIFF.items() if line.startswith(begin)), "")
    return Style.parse(style).render(line) if style else line


def show(out: Console, table: Table) -> None:
    """
    Print a table; outside a terminal without trailing spaces.

    A table with numbers is never wrapped or cut to the width of the terminal.
    """
    if out.is_terminal:
        has_numbers = any(column.justify == "right" for column in table.columns)
        (_terminal(out.file, _UNBROKEN) if has_numbers else out).print(table)
        return
    with out.capture() as printed:
        out.print(table)
    out.file.writelines(f"{line.rstrip()}\n" for line in printed.get().splitlines())


def table(*headers: str, numbers: Sequence[str] = ()) -> Table:
    """Return an empty table without lines; the columns in `numbers` are right-aligned."""
    new = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for header in headers:
        is_number = header in numbers
        justify = "right" if is_number else "left"
        new.add_column(header, justify=justify, no_wrap=is_number, overflow="fold")
    return new
