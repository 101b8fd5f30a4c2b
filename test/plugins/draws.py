# SPDX-License-Identifier: Apache-2.0
"""Number of examples that random tests draw: a twelfth, or all with `--every-case`."""

from typing import cast

from hypothesis import settings

ALL = 100
"""Number of examples of a test that does not set one."""


def use_draws(all_of_them: bool) -> None:
    """
    Set the number of examples that random tests draw, before tests are imported. Each run draws the
    same examples: a failing build fails until it is fixed.
    """
    number = ALL if all_of_them else ALL // 12
    settings.register_profile("repeatable", derandomize=True, deadline=None, max_examples=number)
    settings.load_profile("repeatable")


def drawn(number: int) -> int:
    """Return how many of `number` examples to draw in this run: at least two."""
    profile = cast(settings, settings.default)
    return max(min(number, 2), number * profile.max_examples // ALL)
