# SPDX-License-Identifier: Apache-2.0
"""
Cases of a parametrised test, of which only some run without `--every-case`:

- `some` and `all_only` say it of a list of cases,
- the mark `one_in` says it of a test, with any number of lists:

      @pytest.mark.one_in(4)
      @pytest.mark.parametrize("size", SIZES)
      @pytest.mark.parametrize("dtype", DTYPES)
      def test_sums(dtype, size): ...
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any
from zlib import crc32

import pytest


def some(cases: Iterable[Any], one_in: int = 2, *, unpacked: bool = False) -> list[Any]:
    """
    Return parameters for the cases, of which one in `one_in` runs without `--every-case`.

    Cases of tests with several arguments are tuples, which are `unpacked`.
    """
    return [
        case if index % one_in == 0 else all_only(*(case if unpacked else (case,)))
        for index, case in enumerate(cases)
    ]


def all_only(*values: Any) -> Any:
    """Return the parameters of a case that runs only with `--every-case`."""
    return pytest.param(*values, marks=pytest.mark.every_case)


def leave_out(items: Iterable[pytest.Item]) -> None:
    """
    Mark the cases that `one_in` leaves out. Which cases run depends on their names alone, so that
    they are spread over all lists, and at least one runs.
    """
    cases: defaultdict[tuple[str, int], list[pytest.Item]] = defaultdict(list)
    for item in items:
        mark = item.get_closest_marker("one_in")
        if mark is not None and item.get_closest_marker("every_case") is None:
            cases[item.nodeid.split("[")[0], mark.args[0]].append(item)
    for (_, one_in), found in cases.items():
        found.sort(key=lambda item: crc32(item.name.encode()))
        for item in found[-(-len(found) // one_in) :]:
            item.add_marker("every_case")
            require_every_case(item)


def needs_every_case(item: pytest.Item) -> bool:
    """True if a case has the fixture that skips it without `--every-case`."""
    return isinstance(item, pytest.Function) and "every_case" in item.fixturenames


def require_every_case(item: pytest.Item) -> None:
    """Give a case the fixture that skips it without `--every-case`."""
    if isinstance(item, pytest.Function):
        # A new list: other cases of the function share the old one.
        item.fixturenames = ["every_case", *item.fixturenames]
