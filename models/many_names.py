# SPDX-License-Identifier: Apache-2.0
"""
Lists of tensor names for error messages. The names of equal layers become one:

    model.layers.{0-27}.mlp.up_proj.weight
"""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

_MOST_LINES = 20


def listed(lines: Sequence[str], indent: str = "  ") -> str:
    """
    Return one text with a line break, `indent` and a line for each of `lines`. Of a long list, it
    has the first lines and the number of further ones.
    """
    shown = [*lines[:_MOST_LINES]]
    if (left := len(lines) - len(shown)) > 0:
        shown.append(f"and {left} more")
    return "".join(f"\n{indent}{line}" for line in shown)


def folded(names: Iterable[str]) -> list[str]:
    """
    Return the names, sorted; names that differ only in the number of a layer become one:
    `layers.{0-27}.weight`.
    """
    numbers: dict[tuple[str, ...], list[int]] = {}
    for name in names:
        before, number, after = _parts(name)
        layers = numbers.setdefault((before, after), [])
        if number:
            layers.append(int(number))
    return sorted(
        f"{before}{_ranges(layers)}{after}" for (before, after), layers in numbers.items()
    )


def _parts(name: str) -> tuple[str, str, str]:
    """
    Return the part of a name before its first number between dots, the number, and the part after
    it.
    """
    match = re.match(r"(.*?\.)(\d+)(\..*)", name)
    return (match[1], match[2], match[3]) if match else (name, "", "")


def _ranges(numbers: Sequence[int]) -> str:
    """
    Return numbers as ranges, such as `{0-3,5}`; one number as it is, and an empty text for none.
    """
    if len(numbers) < 2:
        return "".join(map(str, numbers))
    runs = groupby(enumerate(sorted(numbers)), key=lambda pair: pair[1] - pair[0])
    ends = ([number for _, number in run] for _, run in runs)
    shown = (str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in ends)
    return f"{{{','.join(shown)}}}"
