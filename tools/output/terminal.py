# SPDX-License-Identifier: Apache-2.0
"""Text for people: with colour and the terminal's width on a terminal, plain everywhere else."""

import os
from collections.abc import Sequence
from typing import IO

from rich.console import Console
from rich.style import Style
from rich.table import Table

COLORS = ("auto", "always", "never")
"""What `--color` takes; `auto` is colour on a terminal, unless NO_COLOR is set."""

_UNBROKEN = 10_000  # plain output is for other programs: no line is ever broken


def console(color: str, stream: IO[str]) -> Console:
    """Return a console that writes to `stream` in one of `COLORS`."""
    if is_colored(color, stream):
        return _terminal(stream)
    return Console(
        file=stream, force_terminal=False, no_color=True, highlight=False, width=_UNBROKEN
    )


def _terminal(stream: IO[str], width: int | None = None) -> Console:
    return Console(file=stream, force_terminal=True, no_color=False, highlight=False, width=width)


def is_colored(color: str, stream: IO[str]) -> bool:
    """What one of `COLORS` means for `stream`."""
    if color == "auto":
        return stream.isatty() and not os.environ.get("NO_COLOR")
    return color == "always"


_DIFF = {">>>": "bold", "<<<": "bold", "---": "dim", "@@": "cyan", "-": "red", "+": "green"}
"""Styles of lines by how they begin."""


def colored_diff(line: str) -> str:
    """Return a line of what passes do, for a terminal."""
    style = next((style for begin, style in _DIFF.items() if line.startswith(begin)), "")
    return Style.parse(style).render(line) if style else line


def show(out: Console, table: Table) -> None:
    """
    Print a table; where there is no terminal without spaces at the ends of lines.

    A table of numbers is as wide as it is: no terminal is so narrow that they may go.
    """
    if out.is_terminal:
        has_numbers = any(column.justify == "right" for column in table.columns)
        (_terminal(out.file, _UNBROKEN) if has_numbers else out).print(table)
        return
    with out.capture() as printed:
        out.print(table)
    out.file.writelines(f"{line.rstrip()}\n" for line in printed.get().splitlines())


def table(*headers: str, numbers: Sequence[str] = ()) -> Table:
    """Return an empty table without lines; the columns of `numbers` are aligned right."""
    new = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for header in headers:
        is_number = header in numbers
        justify = "right" if is_number else "left"
        new.add_column(header, justify=justify, no_wrap=is_number, overflow="fold")
    return new
