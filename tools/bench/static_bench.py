# SPDX-License-Identifier: Apache-2.0
"""
`tilewright bench --static`: what the machine code of every case's kernels tells, and what keeps
them from being as fast as they could be. Of decoder blocks also what the launches come to together.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import NamedTuple

from rich.console import Console

from tilewright.dialects.target import DEFAULT_TARGET
from tilewright.dialects.target import target as target_named
from tilewright.stages import stage
from tilewright.tools.bench.request import AnyCase
from tilewright.tools.bench.static_rows import Row, rows_of
from tilewright.tools.bench.suite import Case
from tilewright.tools.options.database import database_of
from tilewright.tools.output.diagnostics import explain_case
from tilewright.tools.output.output_path import write_text
from tilewright.tools.output.terminal import console, show, table
from tilewright.tuning.knowledge import Db

SCHEMA = 1
"""The version of the JSON's shape."""

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
    "estimate": lambda row: _number(row.estimate_us, 1),
}
_OF_SUITES: Columns = {**_SHAPE, "floor": lambda row: f"{row.case_floor_us:.1f}"}
_OF_BLOCKS: Columns = {
    "x": lambda row: f"{row.launches}",
    **_SHAPE,
    "floor": lambda row: _number(row.floor_us, 1),
}


class Failure(NamedTuple):
    """A case of which no machine code can be told."""

    message: str
    exit_code: int


def run(args: argparse.Namespace, cases: Sequence[AnyCase]) -> int:
    """Print the table of the cases, without the cases that fail; write the JSON."""
    name = args.target or DEFAULT_TARGET
    target_named(name)
    db = database_of(args)
    found = {case.name: _rows_or_failure(case, name, db) for case in cases}
    failures = {case: said for case, said in found.items() if isinstance(said, Failure)}
    rows = [row for said in found.values() if not isinstance(said, Failure) for row in said]
    out = console(args.color, sys.stderr if args.json == "-" else sys.stdout)
    if len(failures) < len(cases):
        of_suite = isinstance(cases[0], Case)
        _print_rows(rows, _OF_SUITES if of_suite else _OF_BLOCKS, out)
        good = sum(not row.shortcomings for row in rows)
        out.print(f"{good} of {len(rows)} kernels fall short of nothing, on {name}")
        if not of_suite:
            _print_totals(rows, out)
    if failures:
        print(f"error: {len(failures)} of {len(cases)} cases failed", file=sys.stderr)
    if args.json is not None:
        content = {
            "schema": SCHEMA,
            "target": name,
            "kernels": [asdict(row) for row in rows],
            "failures": {case: failure.message for case, failure in failures.items()},
        }
        write_text(args.json, json.dumps(content, indent=1) + "\n")
    return max((failure.exit_code for failure in failures.values()), default=0)


def _rows_or_failure(case: AnyCase, target: str, db: Db) -> list[Row] | Failure:
    """Return the case's rows, or what is said, at once, of why there are none."""
    try:
        with stage(f"case {case.name}"):
            return [*rows_of(case, target, db)]
    except Exception as err:  # of whatever kind: the other cases are to be told of all the same
        message, code = explain_case(err, case.name)
        print(message, file=sys.stderr, flush=True)
        return Failure(message, code)


def _print_rows(rows: Sequence[Row], columns: Columns, out: Console) -> None:
    shown = table("case", "kernel", *columns, "falls short", numbers=[*columns])
    for row in rows:
        cells = (column(row) for column in columns.values())
        shown.add_row(row.case, row.kernel, *cells, "; ".join(row.shortcomings))
    show(out, shown)


def _print_totals(rows: Sequence[Row], out: Console) -> None:
    """What the launches of each case come to together, and what they need at least."""
    numbers = ("launches", "kernels", "estimate", "floor")
    shown = table("case", *numbers, numbers=numbers)
    for case in dict.fromkeys(row.case for row in rows):
        kernels = [row for row in rows if row.case == case]
        estimate = sum(row.launches * (row.estimate_us or 0.0) for row in kernels)
        counts = (sum(row.launches for row in kernels), len(kernels))
        floor = f"{kernels[0].case_floor_us:.1f}"
        shown.add_row(case, *(f"{count}" for count in counts), f"{estimate:.1f}", floor)
    out.print()
    show(out, shown)


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.0f} %"
