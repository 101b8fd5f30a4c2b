# SPDX-License-Identifier: Apache-2.0
"""Cases of a parametrised test, of which only some run without `--every-case`."""

from collections.abc import Iterable
from typing import Any

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
