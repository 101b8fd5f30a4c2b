# SPDX-License-Identifier: Apache-2.0
"""What many rows say together: geometric means, wins and losses, by group."""

from collections.abc import Iterable, Sequence
from math import exp, log
from typing import NamedTuple

from tilewright.codegen.timing.verdict import SAME
from tilewright.tools.bench.row import Row

AGAINST = {"vs_eager": "eager", "vs_compile": "torch.compile"}
"""The ratios of a row, and whom they are to."""


class Tally(NamedTuple):
    """Some cases, against one opponent."""

    cases: int
    wins: int
    same: int
    losses: int
    geomean: float | None
    """Of the ratios; one within the noise counts as 1. None if there is not one."""

    @property
    def unknown(self) -> int:
        """Cases of which nothing can be said: they are not in the mean."""
        return self.cases - self.wins - self.same - self.losses


def tally(rows: Iterable[Row], against: str) -> Tally:
    """Of the ratio called `against`."""
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
    """Rows by operation, in the order in which these first come."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["op"], []).append(row)
    return found


def is_same(row: Row, against: str) -> bool:
    """True if the difference is within the noise."""
    return row["why"][against] == SAME


def worst(row: Row) -> float | None:
    """Return the smaller ratio; None if nothing can be said."""
    known = [row[a] if row[a] is not None else 1.0 for a in AGAINST if row[a] or is_same(row, a)]
    return min(known, default=None)


def losses_first(rows: Iterable[Row]) -> list[Row]:
    """First those of which nothing can be said, then the others by their smaller ratio."""
    return sorted(rows, key=lambda row: -1.0 if (ratio := worst(row)) is None else ratio)
