# SPDX-License-Identifier: Apache-2.0
"""When the planner does not tell times apart: what else is better decides then."""

from math import log


def about_as_long(seconds: float, within: float) -> int:
    """The same number for times that differ by such a share at most, and a larger for longer."""
    return round(log(seconds) / within)
