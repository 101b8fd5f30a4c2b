# SPDX-License-Identifier: Apache-2.0
"""Page `docs/ops.md`: the table of operators as Markdown."""

from collections.abc import Iterator, Sequence

from tilewright.tools.ops_table import Family, Overload, Refused, refusal_text
from tilewright.tools.output.markdown import code, row, table

_HEAD = """\
# Operators

After this page you know whether an operator is compiled, and how it looks in
[Torch IR](torch-ir.md). {operators} operators of ATen in {overloads} overloads are compiled.
PyTorch decomposes most other operators, such as `chunk` or `softmin`, into these; the rest are
[refused by name](#refused).
`tilewright ops --markdown` writes this page, and `tilewright ops NAME` shows one operator.

An overload is written as in PyTorch's schema, except that required arguments come first and `self`
is called `input`. `?` marks arguments that may be `None`; layouts, devices and memory formats are
strings. Below each description is an example in Torch IR.
"""

_REFUSED = """\
## Refused

Each is an error that names the operator, its place and the reason. `*` stands for any characters,
`higher_order` for operators that take functions, and `custom` for operators of other packages.

| operators | reason, and what to do instead |
|-----------|--------------------------------|
"""


def markdown(families: Sequence[Family], refused: Sequence[Refused]) -> str:
    """Return the text of `docs/ops.md`."""
    overloads = [overload for family in families for overload in family.overloads]
    head = _HEAD.format(
        operators=len({overload.operator for overload in overloads}), overloads=len(overloads)
    )
    rows = (row(" ".join(code(n) for n in group.names), _text(group.text)) for group in refused)
    return "\n".join([head, *map(_section, families), _REFUSED + "".join(rows)])


def _section(family: Family) -> str:
    heading = f"## {family.name.capitalize()}\n\n{_text(family.summary)}\n\n"
    rows = (row(*_cells(overload)) for overload in family.overloads)
    return heading + table(("overload", "what it computes"), rows)


def _cells(overload: Overload) -> Iterator[str]:
    yield code(overload.signature)
    lines = [_text(f"{overload.summary} {overload.notes}".strip()), code(overload.example)]
    if overload.refusal is not None:
        lines.append(_text(refusal_text(overload.refusal)))
    yield "<br>".join(lines)


_SPECIAL = str.maketrans({c: f"\\{c}" for c in "|*_<>["})


def _text(text: str) -> str:
    """Return `text` with Markdown's special characters escaped, except between backticks."""
    parts = text.split("`")
    parts[::2] = [part.translate(_SPECIAL) for part in parts[::2]]
    return "`".join(parts)
