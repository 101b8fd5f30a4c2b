# SPDX-License-Identifier: Apache-2.0
"""
Command `tilewright bench --static`: a report on the machine code of each case's kernels, and on
what limits their speed. For decoder blocks it also sums up the launches.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import NamedTuple

from rich.console import Console

from tilewright.dialects.target import DEFAULT_TARGET
from tilewright.dialects.target import target as target_named
from tilewright.stages import stage
from tilewright.tools.bench.environment import static_environment
from tilewright.tools.bench.request import AnyCase
from tilewright.tools.bench.static_rows import Row, rows_of
from tilewright.tools.bench.suite import Case
from tilewright.tools.options.database import database_of
from tilewright.tools.output.diagnostics import explain_case
from tilewright.tools.output.output_path import write_text
from tilewright.tools.output.terminal import console, show, table
from tilewright.tuning.knowledge import Db

SCHEMA = 1
"""Version of the JSON's schema."""

Columns = Mapping[str, Callable[[Row], str]]

_SHAPE: Columns = {
    "grid": lambda row: f"{row.grid}",
    "block": lambda row: f"{row.block}",
    "regs": lambda row: f"{row.registers}",
    "spills": lambda row: f"{row.spill_bytes}",
    "smem": lambda row: f"{row.shared_bytes}",
    "warps": lambda row: f"{row.warps}",
    "FFMA": lambda row: _share(row.ffma_share),
    "wide": lambda row: _share(row.wide_share),
    "banks": lambda row: _number(row.bank_factor, 2),
    "planner": lambda row: _number(row.planner_us, 1),
    "estimate": lambda row: _number(row.estimate_us, 1),
    "clock": lambda row: _number(row.clock_us, 1),
}
_OF_SUITES: Columns = {**_SHAPE, "floor": lambda row: f"{row.case_floor_us:.1f}"}
_OF_BLOCKS: Columns = {
    "x": lambda row: f"{row.launches}",
    **_SHAPE,
    "floor": lambda row: _number(row.floor_us, 1),
}


class Failure(NamedTuple):
    """Error message of a case that could not be compiled, with the exit code."""

    message: str
    exit_code: int


def run(args: argparse.Namespace, cases: Sequence[AnyCase]) -> int:
    """Print the table of all cases except failed ones, and write the JSON; return the exit code."""
    name = args.target or DEFAULT_TARGET
    target_named(name)
    db = database_of(args)
    precision = args.matmul_precision
    found = {case.name: _rows_or_failure(case, name, db, precision) for case in cases}
    failures = {case: result for case, result in found.items() if isinstance(result, Failure)}
    rows = [row for rows in found.values() if not isinstance(rows, Failure) for row in rows]
    out = console(args.color, sys.stderr if args.json == "-" else sys.stdout)
    if len(failures) < len(cases):
        of_suite = isinstance(cases[0], Case)
        _print_rows(rows, _OF_SUITES if of_suite else _OF_BLOCKS, out)
        good = sum(not row.shortcomings for row in rows)
        out.print(f"{good} of {len(rows)} kernels have no shortcomings on {name}")
        if not of_suite:
            _print_totals(rows, out)
    if failures:
        print(f"error: {len(failures)} of {len(cases)} cases failed", file=sys.stderr)
    if args.json is not None:
        content = {
            "schema": SCHEMA,
            "target": name,
            "environment": {"precision": precision, **static_environment(name, db)},
            "kernels": [asdict(row) for row in rows],
            "failures": {case: failure.message for case, failure in failures.items()},
        }
        write_text(args.json, json.dumps(content, indent=1) + "\n")
    return max((failure.exit_code for failure in failures.values()), default=0)


def _rows_or_failure(
    case: AnyCase, target: str, db: Db, precision: str | None
) -> list[Row] | Failure:
    """Return the rows of a case. If it fails, print the error immediately and return it."""
    try:
        with stage(f"case {case.name}"):
            return [*rows_of(case, target, db, precision)]
    except Exception as err:  # any error: the other cases are still reported
        message, code = explain_case(err, case.name)
        print(message, file=sys.stderr, flush=True)
        return Failure(message, code)


def _print_rows(rows: Sequence[Row], columns: Columns, out: Console) -> None:
    shown = table("case", "kernel", *columns, "shortcomings", numbers=[*columns])
    for row in rows:
        cells = (column(row) for column in columns.values())
        shown.add_row(row.case, row.kernel, *cells, "; ".join(row.shortcomings))
    show(out, shown)


def _print_totals(rows: Sequence[Row], out: Console) -> None:
    """Print for each case the sums over its launches, and the minimum time of the case."""
    numbers = ("launches", "kernels", "estimate", "clock", "floor")
    shown = table("case", *numbers, numbers=numbers)
    for case in dict.fromkeys(row.case for row in rows):
        kernels = [row for row in rows if row.case == case]
        times = (
            _number(_total((row.launches, row.estimate_us) for row in kernels), 1),
            _number(_total((row.launches, row.clock_us) for row in kernels), 1),
        )
        counts = (sum(row.launches for row in kernels), len(kernels))
        floor = f"{kernels[0].case_floor_us:.1f}"
        shown.add_row(case, *(f"{count}" for count in counts), *times, floor)
    out.print()
    show(out, shown)


def _total(launched: Iterable[tuple[int, float | None]]) -> float | None:
    """Return the sum of times, each for a number of launches; None if a time is missing."""
    total = 0.0
    for launches, us in launched:
        if us is None:
            return None
        total += launches * us
    return total


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.0f} %"
