# SPDX-License-Identifier: Apache-2.0
"""
Ratios of compile time to that of another checkout, for `compile_time.py --base DIR`.

Each checkout runs its own `compile_time.py`, because modules may have other names there. The
checkouts take turns, because the speed of a machine changes within minutes; the fastest round of
each counts. A process compiles each program once.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from measure import figures_table
from other_checkout import environment_of
from rich.table import Table

Seconds = Mapping[str, Mapping[str, float]]
"""CPU seconds by program and by part (`capture`, `lower`, `both`)."""

HERE = Path(__file__).resolve().parents[1]

_PARTS = ("capture", "lower", "both")


def compare(base: Path, options: Sequence[str], rounds: int) -> dict[str, Any]:
    """Return, by program, the seconds of the checkout `base` and of this one, and their ratios."""
    roots = {"before": base, "after": HERE}
    found = {when: list[Seconds]() for when in roots}
    for _ in range(rounds):
        for when, root in roots.items():
            found[when].append(_measured(root, options))
    before, after = (_fastest(found[when]) for when in roots)
    return {
        name: {
            "before": before[name],
            "after": after[name],
            "ratio": {part: after[name][part] / before[name][part] for part in _PARTS},
        }
        for name in before
    }


def table_of_ratios(rows: Mapping[str, Mapping[str, Mapping[str, float]]]) -> Table:
    """Return a table with a line for each program and part."""
    shown = figures_table("CPU seconds", "program", ("", "base", "here", "ratio"))
    for name, row in rows.items():
        for part in _PARTS:
            figures = [f"{row[when][part]:.2f}" for when in ("before", "after", "ratio")]
            shown.add_row(name, part, *figures)
        shown.add_section()
    return shown


def _measured(root: Path, options: Sequence[str]) -> Seconds:
    """
    Measure the checkout `root` with its own packages; return the seconds of suite84 and of decoder
    layers.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "results.json"
        script = root / "benchmarks" / "compile_time.py"
        command = [sys.executable, str(script), *options, "--repeat", "1", "--json", str(file)]
        subprocess.run(command, check=True, env=environment_of(root), stdout=subprocess.DEVNULL)
        results = json.loads(file.read_text())
    suite, layers = (results[part]["programs"] for part in ("suite84", "layers"))
    programs = {"suite84": suite, **{row["name"]: [row] for row in layers}}
    return {name: _sums(rows) for name, rows in programs.items() if rows}


def _sums(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    capture, lower = (sum(row[f"{part}_s"] for row in rows) for part in ("capture", "lower"))
    return {"capture": capture, "lower": lower, "both": capture + lower}


def _fastest(rounds: Sequence[Seconds]) -> Seconds:
    return {
        name: {part: min(seconds[name][part] for seconds in rounds) for part in _PARTS}
        for name in rounds[0]
    }
