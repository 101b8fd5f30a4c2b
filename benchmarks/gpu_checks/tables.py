# SPDX-License-Identifier: Apache-2.0
"""
Tables of the results: all results in the file `check.txt`, and those that are not right on the
terminal. Both end with the disagreements with the simulator or an estimate.
"""

import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from rich.markup import escape
from rich.table import Table

from gpu_checks.disagreements import Disagreement, disagreements
from gpu_checks.options import NAMES
from gpu_checks.outcome import Outcome, Verdict
from gpu_checks.record import Record
from tilewright.tools.output.terminal import console, show, table

PAGE = "check.txt"
_MOST = 20
"""Maximum number of disagreements on the terminal."""
_ORDER = [Verdict.WRONG, Verdict.MISSING, Verdict.RIGHT]
_PRINTED_STAGES = ("environment", "micro", "race")
"""Stages whose results are all printed on the terminal."""


def print_record(record: Record, left: Counter[str], out: Path) -> None:
    """
    Write all results to the file; print those that are not right, and sums, on the terminal; wrong
    ones first.
    """
    found = sorted(record, key=lambda row: _ORDER.index(row[2].verdict))
    notable = (
        row for row in found if row[2].verdict is not Verdict.RIGHT or row[0] in _PRINTED_STAGES
    )
    ranked = disagreements(record)
    with (out / PAGE).open("w") as file:
        page = console("never", file)
        for each in (_checks(found), _sums(record, left), _ranked(ranked)):
            show(page, each)
            page.print()
    terminal = console("auto", sys.stdout)
    for each in (_checks(notable), _sums(record, left), _ranked(ranked[:_MOST])):
        terminal.print()
        show(terminal, each)
    if len(ranked) > _MOST:
        terminal.print(f"and {len(ranked) - _MOST} more: {out / PAGE}")
    if left:
        terminal.print("\nrepeat the command to run the remaining checks")


def _checks(found: Iterable[tuple[str, str, Outcome]]) -> Table:
    rows = table("stage", "check", "verdict", "seconds", "", numbers=["seconds"])
    for stage, item, outcome in found:
        says = escape(" ".join(outcome.says.split()))
        rows.add_row(stage, item, outcome.verdict, f"{outcome.seconds:.1f}", says)
    return rows


def _sums(record: Record, left: Counter[str]) -> Table:
    rows = table("stage", *_ORDER, "left", numbers=[*_ORDER, "left"])
    for stage in NAMES:
        counts = Counter(outcome.verdict for at, _, outcome in record if at == stage)
        if counts or left[stage]:
            rows.add_row(stage, *(str(counts[v]) for v in _ORDER), str(left[stage]))
    return rows


def _ranked(ranked: Iterable[Disagreement]) -> Table:
    rows = table("disagrees", "check", "factor", "", numbers=["factor"])
    for each in ranked:
        factor = "" if each.factor is None else f"{each.factor:.2f}"
        rows.add_row(each.stage, each.check, factor, escape(each.says))
    return rows
