# SPDX-License-Identifier: Apache-2.0
"""Expressions with smaller sizes: a whole number is replaced everywhere it is written."""

import ast
from collections.abc import Iterator, Mapping, Sequence


def smaller_sizes(text: str) -> Iterator[str]:
    """
    Yield the texts of Python in which one number is 1, 2, half, or one less; large numbers come
    first.
    """
    try:
        places = _places(ast.parse(text))
    except SyntaxError:
        return
    for value in sorted(places, reverse=True):
        for less in dict.fromkeys((1, 2, value // 2, value - 1)):
            if 0 < less < value:
                yield _replaced(text, places[value], less)


def _places(tree: ast.AST) -> Mapping[int, Sequence[ast.Constant]]:
    """Return the whole numbers above 1 in a text, with the places where each is written."""
    found = dict[int, list[ast.Constant]]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value > 1:
            found.setdefault(node.value, []).append(node)
    return found


def _replaced(text: str, places: Sequence[ast.Constant], number: int) -> str:
    """Return the text with `number` in some places; columns of Python's parser count bytes."""
    lines = text.encode().splitlines(keepends=True)
    for node in sorted(places, key=lambda node: (node.lineno, node.col_offset), reverse=True):
        line = lines[node.lineno - 1]
        assert node.end_col_offset is not None
        lines[node.lineno - 1] = (
            line[: node.col_offset] + str(number).encode() + line[node.end_col_offset :]
        )
    return b"".join(lines).decode()
