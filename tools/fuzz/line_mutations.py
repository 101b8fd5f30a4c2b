# SPDX-License-Identifier: Apache-2.0
"""Mutations of IR that move, repeat or delete whole lines; a line is usually one operation."""

import re
from collections.abc import Sequence
from random import Random

_DEFINED = re.compile(r"%\w+(?= =|:)")


def delete_line(text: str, random: Random) -> str:
    """Return the text without one line, which is usually one operation."""
    lines = text.splitlines(keepends=True)
    del lines[_plain_line(lines, random)]
    return "".join(lines)


def duplicate_line(text: str, random: Random) -> str:
    """
    Return the text with one line repeated, at its place or another one; values that the repeated
    line defines get new names.
    """
    lines = text.splitlines(keepends=True)
    source = _plain_line(lines, random)
    line = _DEFINED.sub(lambda match: f"{match[0]}_again", lines[source])
    lines.insert(source if random.random() < 0.7 else _plain_line(lines, random), line)
    return "".join(lines)


def swap_lines(text: str, random: Random) -> str:
    """Return the text with two lines swapped, usually neighbours."""
    lines = text.splitlines(keepends=True)
    one, other = _plain_line(lines, random), _plain_line(lines, random)
    if random.random() < 0.7:
        other = max(one - 1, 0)
    lines[one], lines[other] = lines[other], lines[one]
    return "".join(lines)


def splice_lines(text: str, random: Random, source: str) -> str:
    """Return the text with a few lines of `source` inserted."""
    lines, others = text.splitlines(keepends=True), source.splitlines(keepends=True)
    start = random.randrange(len(others))
    count = random.choice((1, 2, 5, len(others)))
    at = random.randrange(len(lines) + 1)
    return "".join((*lines[:at], *others[start : start + count], *lines[at:]))


def empty_region(text: str, random: Random) -> str:
    """Return the text without the lines of one region."""
    lines = text.splitlines(keepends=True)
    opening = [i for i, line in enumerate(lines) if line.rstrip().endswith("{")]
    if not opening:
        return text
    first = random.choice(opening)
    last = first + 1
    while last < len(lines) and _indent(lines[last]) > _indent(lines[first]):
        last += 1
    return "".join((*lines[: first + 1], *lines[last:]))


def _plain_line(lines: Sequence[str], random: Random) -> int:
    """Return the index of a random line, if possible of an operation without regions."""
    plain = [i for i in range(len(lines)) if _is_whole(lines, i)]
    return random.choice(plain or range(len(lines)))


def _is_whole(lines: Sequence[str], index: int) -> bool:
    """
    True if the line neither opens nor closes a region, nor is part of an operation of several
    lines.
    """
    line = lines[index]
    if re.search(r"[{}]\s*$", line):
        return False
    if index + 1 < len(lines) and _indent(lines[index + 1]) > _indent(line):
        return False
    before = lines[index - 1] if index else "{"
    return "{" in before or _indent(before) >= _indent(line)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
