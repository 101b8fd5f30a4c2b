# SPDX-License-Identifier: Apache-2.0
"""Summary of many rows by group: geometric means, wins and losses."""

from collections.abc import Iterable, Sequence
from math import exp, log
from typing import NamedTuple

from tilewright.codegen.timing.verdict import SAME
from tilewright.tools.bench.row import Row

AGAINST = {"vs_eager": "eager", "vs_compile": "torch.compile"}
"""
Fields of a row with the ratio of a competitor's time to ours, each with the competitor's name.
"""


class Tally(NamedTuple):
    """
    Numbers of wins, losses and ties among some cases against one competitor, with the mean ratio.
    """

    cases: int
    wins: int
    same: int
    losses: int
    geomean: float | None
    """
    Geometric mean of the ratios, in which ratios within the noise count as 1; None without ratios.
    """

    @property
    def unknown(self) -> int:
        """Number of cases without a ratio, which the mean does not contain."""
        return self.cases - self.wins - self.same - self.losses


def tally(rows: Iterable[Row], against: str) -> Tally:
    """Return the tally of the field `against` of rows: `vs_eager` or `vs_compile`."""
    rows = list(rows)
    ratios = [row[against] for row in rows if row[against] is not None]
    same = sum(is_same(row, against) for row in rows)
    logs = [log(ratio) for ratio in ratios] + [0.0] * same
    return Tally(
        len(rows),
        sum(ratio > 1 for ratio in ratios),
        same,
        sum(ratio < 1 for ratio in ratios),
        exp(sum(logs) / len(logs)) if logs else None,
    )


def groups(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Return the rows by operation, in order of first occurrence."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["op"], []).append(row)
    return found


def is_same(row: Row, against: str) -> bool:
    """
    True if the times of a row differ from those of the competitor `against` by no more than the
    noise.
    """
    return row["why"][against] == SAME


def worst(row: Row) -> float | None:
    """
    Return the smaller one of the ratios against eager mode and `torch.compile`; 1 for a difference
    within the noise, None without ratios.
    """
    known = [row[a] if row[a] is not None else 1.0 for a in AGAINST if row[a] or is_same(row, a)]
    return min(known, default=None)


def losses_first(rows: Iterable[Row]) -> list[Row]:
    """Return the rows without a ratio, then the other rows by increasing `worst` ratio."""
    return sorted(rows, key=lambda row: -1.0 if (ratio := worst(row)) is None else ratio)
