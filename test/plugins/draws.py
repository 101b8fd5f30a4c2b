# SPDX-License-Identifier: Apache-2.0
"""How many examples random tests draw: a quarter, and all with `--every-case`."""

from typing import cast

from hypothesis import settings

ALL = 100
"""Of a test that does not say how many."""


def use_draws(all_of_them: bool) -> None:
    """
    The number of draws, before tests are imported. The same examples are drawn each time: a red
    build stays red until it is fixed.
    """
    number = ALL if all_of_them else ALL // 4
    settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=number)
    settings.load_profile("repeatable")


def drawn(number: int) -> int:
    """How many examples to draw where `number` are all: three at least."""
    profile = cast(settings, settings.default)
    return max(min(number, 3), number * profile.max_examples // ALL)
