# SPDX-License-Identifier: Apache-2.0
"""Limits of the search for matches of a rule. Help texts need them, without NumPy and xDSL."""

from typing import NamedTuple


class Limits(NamedTuple):
    """Limits of a search."""

    matches: int = 60
    """Number of matches that are judged."""
    programs: int = 3000
    """Number of random programs that are drawn."""
    texts: int = 60
    """Number of texts of the corpus that are read."""
    real: bool = False
    """True to compare functions of real numbers, without adversarial floats."""
    first: bool = False
    """True to stop at the first counterexample."""
