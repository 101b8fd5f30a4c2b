# SPDX-License-Identifier: Apache-2.0
"""
Smallest unified diff between two texts of IR.

Unnamed values are numbered from the top of each function, so one new op changes the numbers in all
lines below it. Here values keep the numbers that they had before. A new value gets the first number
that is free, starting from its own number.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher, unified_diff
from itertools import count

_NUMBERED = re.compile(r"%(\d+)\b")
_FUNCTION = re.compile(r"@[\w.$-]+\(.*\{$")  # line at which the numbering restarts

_Value = tuple[int, str]
"""
Position of a function in its text, counted from 0, and the number of an unnamed value in the
function.
"""


def minimal_diff(before: str, after: str, context: int = 2) -> list[str]:
    """
    Return the lines of the unified diff between two texts of IR, without the lines that name the
    files.
    """
    old = before.splitlines()
    new = _with_old_numbers(old, after.splitlines())
    return list(unified_diff(old, new, n=context, lineterm=""))[2:]


def _with_old_numbers(old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Return the lines of `new`, with values numbered as in the lines of `old` that they match."""
    old_values, new_values = list(_values(old)), list(_values(new))
    numbers: dict[_Value, str] = {}
    taken: set[_Value] = set()
    for i, j in _matches(old, new):
        for (_, number), value in zip(old_values[i], new_values[j], strict=True):
            if value not in numbers and (value[0], number) not in taken:
                numbers[value] = number
                taken.add((value[0], number))
    for value in (value for line in new_values for value in line):
        if value not in numbers:
            numbers[value] = _first_free(value, taken)
            taken.add((value[0], numbers[value]))
    return [_renumbered(*line, numbers) for line in zip(new, new_values, strict=True)]


def _first_free(value: _Value, taken: set[_Value]) -> str:
    function, number = value
    numbers = map(str, count(int(number)))
    return next(number for number in numbers if (function, number) not in taken)


def _values(lines: Sequence[str]) -> Iterator[list[_Value]]:
    """Yield, for each line, the numbered values in it."""
    function = 0
    for line in lines:
        function += _FUNCTION.search(line) is not None
        yield [(function, number) for number in _NUMBERED.findall(line)]


def _matches(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """
    Yield the line numbers, in `old` and in `new`, of lines that are equal except for the numbers of
    values.
    """
    unnumbered = [[_NUMBERED.sub("%", line) for line in lines] for lines in (old, new)]
    matcher = SequenceMatcher(None, *unnumbered, autojunk=False)
    for i, j, size in matcher.get_matching_blocks():
        yield from zip(range(i, i + size), range(j, j + size), strict=True)


def _renumbered(line: str, values: Sequence[_Value], numbers: dict[_Value, str]) -> str:
    names = iter(values)
    return _NUMBERED.sub(lambda _: f"%{numbers[next(names)]}", line)
