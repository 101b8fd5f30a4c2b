# SPDX-License-Identifier: Apache-2.0
"""
Command `tilewright bench --published`: estimated times of the cases of a table beside the times
that others published for PyTorch. Nothing is timed, and no GPU is needed.
"""

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Any

from rich.console import Console

from tilewright.dialects.target import DEFAULT_TARGET
from tilewright.dialects.target import target as target_named
from tilewright.stages import stage
from tilewright.tools.bench.environment import static_environment
from tilewright.tools.bench.known_errors import KNOWN_ERRORS
from tilewright.tools.bench.plot import draw, need_matplotlib
from tilewright.tools.bench.published_case import PublishedCase
from tilewright.tools.bench.published_rows import (
    BETTER,
    BETTER_BY_ESTIMATE,
    estimated,
    failed,
    wrong_published_field,
)
from tilewright.tools.bench.results_file import ResultsFile
from tilewright.tools.bench.row import Row
from tilewright.tools.bench.summary import groups, tally
from tilewright.tools.options.database import database_of
from tilewright.tools.output.diagnostics import explain_case
from tilewright.tools.output.output_path import check_path, write_text
from tilewright.tools.output.terminal import console, show, table
from tilewright.tuning.knowledge import Db

_COLUMNS: Mapping[str, Callable[[Row], str]] = {
    "clock": lambda row: _number(row["clock_us"]),
    "estimate": lambda row: _number(row["estimate_us"]),
    "eager": lambda row: _number(row["eager_us"]),
    "compile": lambda row: _number(row["compile_us"]),
    "ratio": lambda row: _ratio(row[BETTER]),
    "by estimate": lambda row: _ratio(row[BETTER_BY_ESTIMATE]),
    "floor": lambda row: _number(row["floor_us"]),
}
_MEANS = {
    "ratio": BETTER,
    "by estimate": BETTER_BY_ESTIMATE,
    "to eager": "vs_eager",
    "to compile": "vs_compile",
}
"""Columns of the table of groups that are geometric means, with their fields of a row."""


def run(args: argparse.Namespace, cases: Sequence[PublishedCase]) -> int:
    """
    Estimate the cases that the file of results does not have yet, and print all results. Return the
    largest exit code of a failed case.
    """
    name = args.target or DEFAULT_TARGET
    product = target_named(name).product
    if args.plot is not None:
        need_matplotlib(args.plot)
        check_path(args.plot)
    db = database_of(args)
    environment = _environment(name, db, args.matmul_precision)
    results = ResultsFile(args.json, environment, wrong_published_field)
    code = _estimate(cases, results, name, db, args)
    rows = [row for case in cases if (row := results.row_of(case.head)) is not None]
    out = console(args.color, sys.stderr if args.json == "-" else sys.stdout)
    _print_all(rows, f"{name}, {product}", out)
    if left := len(cases) - len(rows):
        out.print(f"\n{left} cases are left: repeat the command to continue")
    if args.json == "-":
        write_text("-", results.text(rows))
    if args.plot is not None:
        draw(rows, f"Estimates for {product} against published times; not measured", args.plot)
    return code


def _estimate(
    cases: Sequence[PublishedCase],
    results: ResultsFile,
    target: str,
    db: Db,
    args: argparse.Namespace,
) -> int:
    """Estimate cases until the time is up, and add their rows; return the largest exit code."""
    begin, worst = monotonic(), 0
    for number, case in enumerate(cases, 1):
        known = results.row_of(case.head)
        if known is not None and not (args.retry and known["problem"]):
            worst = max(worst, int(bool(known["problem"])))
            continue
        if args.stop_after is not None and monotonic() - begin > args.stop_after:
            return worst
        row, code = _row_and_code(case, f"{number} of {len(cases)}", target, db, args)
        worst = max(worst, code)
        results.add(row)
        print(f"{number}/{len(cases)} {_progress(row)}", file=sys.stderr, flush=True)
    return worst


def _row_and_code(
    case: PublishedCase, number: str, target: str, db: Db, args: argparse.Namespace
) -> tuple[Row, int]:
    """Return the row of a case, with the error message and exit code if it fails."""
    try:
        with stage(f"estimate {case.name}, case {number}"):
            return estimated(case, target, db, args.matmul_precision), 0
    except Exception as err:  # any error: the other cases are still estimated
        message, code = explain_case(err, case.name)
        return failed(case, message), code


def _environment(target: str, db: Db, precision: str | None) -> dict[str, Any]:
    """Return what estimates depend on besides the case."""
    return {
        "kind": "estimates beside published times; nothing was timed",
        "precision": precision or "as the table says",
        **static_environment(target, db),
    }


def _print_all(rows: Sequence[Row], machine: str, out: Console) -> None:
    done = [row for row in rows if not row["problem"]]
    out.print(f"ESTIMATES for {machine}, beside published times; nothing was timed", markup=False)
    out.print("us; ratio: better published time / estimated time; worst first\n", markup=False)
    _print_cases(rows, out)
    counted = [row for row in done if not row["left_out"]]
    if counted:
        out.print(
            "\nESTIMATED ratios of groups, geometric means; error: of the clock for our measured "
            "kernels",
            markup=False,
        )
        _print_groups(counted, out)
        _print_errors(counted, out)
    for note in dict.fromkeys(note for row in done for note in row["notes"]):
        out.print(f"note: {note}", markup=False)


def _print_cases(rows: Sequence[Row], out: Console) -> None:
    """Print a line for each case: failed ones, then by increasing ratio."""
    shown = table("case", *_COLUMNS, "bound", "waits", "why not", numbers=[*_COLUMNS])
    for row in sorted(rows, key=_order):
        cells = (column(row) for column in _COLUMNS.values())
        shown.add_row(row["name"], *cells, row["bound"], row["waits"], _reason(row))
    show(out, shown)


def _print_groups(rows: Sequence[Row], out: Console) -> None:
    numbers = ("cases", *_MEANS, "worst", "below 1")
    shown = table("group", *numbers, "error", numbers=numbers)
    for group, members in {**groups(rows), "all": rows}.items():
        means = (_ratio(tally(members, field).geomean) for field in _MEANS.values())
        found = [row[BETTER] for row in members]
        losses = sum(ratio < 1 for ratio in found)
        cells = (f"{len(members)}", *means, _ratio(min(found)), f"{losses}")
        shown.add_row(group, *cells, "" if group == "all" else _error(group))
    show(out, shown)


def _print_errors(rows: Sequence[Row], out: Console) -> None:
    """Print for each known error which kernels it was measured for."""
    found = [error for group, error in KNOWN_ERRORS.items() if group in groups(rows)]
    for error in dict.fromkeys(found):
        out.print(
            f"error {100 * error.mean:.0f} %: mean of {error.rows} times, {error.kernels}; the "
            f"clock is {error.ratio:.2f} times the measured time (docs/clock.md)",
            markup=False,
        )


def _error(group: str) -> str:
    if group not in KNOWN_ERRORS:
        return "unknown"
    return f"{100 * KNOWN_ERRORS[group].mean:.0f} %"


def _order(row: Row) -> tuple[int, float]:
    if row["problem"]:
        return 0, 0.0
    return (2, 0.0) if row["left_out"] else (1, row[BETTER])


def _reason(row: Row) -> str:
    """Return the reason why a case has no ratio; of an error the line after its traceback."""
    lines: list[str] = row["problem"].splitlines()
    return next((line for line in lines if line.startswith("error: ")), row["why"][BETTER])


def _progress(row: Row) -> str:
    """Return the line of progress after a case is done."""
    if row["problem"]:
        return row["problem"]
    return f"{row['name']}: {row['us']:.2f} us, estimate by {row['model']}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"


def _ratio(value: float | None) -> str:
    if value is None:
        return "-"
    return f"[red]{value:.2f}x[/]" if value < 1 else f"{value:.2f}x"
