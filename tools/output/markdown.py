# SPDX-License-Identifier: Apache-2.0
"""Parts of the generated Markdown pages: code, tables, and first sentences of docstrings."""

import inspect
from collections.abc import Iterable, Sequence


def escaped(text: str) -> str:
    """Return `text` for a cell of a table, where a bar would end the cell."""
    return text.replace("|", "\\|")


def code(text: str) -> str:
    """Return `text` as code in a cell of a table."""
    return escaped(f"`{text}`")


def row(*cells: str) -> str:
    """Return a row of a table, with its newline."""
    return f"| {' | '.join(cells)} |\n"


def table(head: Sequence[str], rows: Iterable[str]) -> str:
    """Return a table of finished `rows` below a head of plain words."""
    rule = "|".join("-" * (len(cell) + 2) for cell in head)
    return f"{row(*head)}|{rule}|\n{''.join(rows)}"


def first_paragraph(thing: object) -> str:
    """Return the first paragraph of a docstring, with its line breaks."""
    return (inspect.getdoc(thing) or "").partition("\n\n")[0]


def first_sentence(thing: object) -> str:
    """Return the first sentence of a docstring for a cell of a table, without its full stop."""
    text = " ".join(first_paragraph(thing).split())
    return escaped(text.partition(". ")[0].rstrip(":."))
