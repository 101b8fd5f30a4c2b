# SPDX-License-Identifier: Apache-2.0
"""What was found as tables: all of it in a file, what is not right on the terminal."""

import sys
from collections import Counter
from pathlib import Path

from rich.markup import escape

from gpu_checks.options import NAMES
from gpu_checks.outcome import Verdict
from gpu_checks.record import Record
from tilewright.tools.terminal import console, show, table


def print_record(record: Record, left: Counter[str], out: Path) -> None:
    """All checks to a file, what is not right and the sums to the terminal; the worst first."""
    order = [Verdict.WRONG, Verdict.MISSING, Verdict.RIGHT]
    found = sorted(record, key=lambda row: order.index(row[2].verdict))
    head = ("stage", "check", "verdict", "seconds", "")
    everything, notable = (table(*head, numbers=["seconds"]) for _ in range(2))
    for stage, item, outcome in found:
        row = (
            stage,
            item,
            outcome.verdict,
            f"{outcome.seconds:.1f}",
            escape(" ".join(outcome.says.split())),
        )
        everything.add_row(*row)
        if outcome.verdict is not Verdict.RIGHT or stage == "environment":
            notable.add_row(*row)
    with (out / "check.txt").open("w") as file:
        show(console("never", file), everything)
    terminal = console("auto", sys.stdout)
    terminal.print()
    show(terminal, notable)
    terminal.print()
    sums = table("stage", *order, "left", numbers=[*order, "left"])
    for stage in NAMES:
        counts = Counter(outcome.verdict for at, _, outcome in record if at == stage)
        if counts or left[stage]:
            sums.add_row(stage, *(str(counts[v]) for v in order), str(left[stage]))
    show(terminal, sums)
    if left:
        terminal.print("\nthe same command goes on with what is left")
