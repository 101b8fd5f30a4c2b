# SPDX-License-Identifier: Apache-2.0
"""
`tilewright bench --static SUITE.json`: what the machine code of every case's kernels tells, and
what keeps them from being as fast as they could be.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

from tilewright.codegen.report import KernelEvidence, report_of
from tilewright.codegen.report.instruction import Category
from tilewright.codegen.report.shortcomings import Tile, shortcomings, wide_share
from tilewright.dialects.target import DEFAULT_TARGET
from tilewright.dialects.target import target as target_named
from tilewright.passes.pipeline_string import parameters_by_pass
from tilewright.tools.diagnostics import explain
from tilewright.tools.mlir_source import write_text
from tilewright.tools.options.database import database_of
from tilewright.tools.suite import Case
from tilewright.tools.terminal import console, show, table
from tilewright.tuning.knowledge import Db
from tilewright.tuning.known_schedules import with_known_schedules

SCHEMA = 1
"""The version of the JSON's shape."""

_NUMBERS = (
    "grid",
    "block",
    "regs",
    "spills",
    "smem",
    "warps",
    "FFMA",
    "wide",
    "banks",
    "estimate",
    "floor",
)


@dataclass(frozen=True)
class Row:
    """One kernel of one case."""

    case: str
    kernel: str
    grid: int
    block: int
    registers: int
    spill_bytes: int
    shared_bytes: int
    warps: int
    """Resident on an SM."""
    ffma_share: float | None
    """Of the main loop's instructions."""
    wide_share: float | None
    """Of the bytes that go to and from global memory, those that go 16 or more at a time."""
    bank_factor: float | None
    sector_factor: float | None
    minimum_bytes: int
    estimate_us: float | None
    case_floor_us: float
    """What an H100 SXM needs for the whole case."""
    schedule: str
    shortcomings: tuple[str, ...]


class Failure(NamedTuple):
    """A case of which no machine code can be told."""

    message: str
    exit_code: int


def run(args: argparse.Namespace, cases: Sequence[Case]) -> int:
    """Print the table of the cases, without the cases that fail; write the JSON."""
    name = args.target or DEFAULT_TARGET
    target_named(name)
    db = database_of(args)
    found = {case.name: _rows_or_failure(case, name, db) for case in cases}
    failures = {case: said for case, said in found.items() if isinstance(said, Failure)}
    rows = [row for said in found.values() if not isinstance(said, Failure) for row in said]
    shown = table("case", "kernel", *_NUMBERS, "falls short", numbers=_NUMBERS)
    for row in rows:
        shown.add_row(*_cells(row))
    out = console(args.color, sys.stderr if args.json == "-" else sys.stdout)
    good = sum(not row.shortcomings for row in rows)
    if len(failures) < len(cases):
        show(out, shown)
        out.print(f"{good} of {len(rows)} kernels fall short of nothing, on {name}")
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


def _rows_or_failure(case: Case, target: str, db: Db) -> list[Row] | Failure:
    """The case's rows, or what is said, at once, of why there are none."""
    try:
        return [*rows_of(case, target, db)]
    except Exception as err:  # of whatever kind: the other cases are to be told of all the same
        said, code = explain(err)
        message = said.replace("error: ", f"error: case '{case.name}': ", 1)
        print(message, file=sys.stderr, flush=True)
        return Failure(message, code)


def rows_of(case: Case, target: str, db: Db) -> Iterator[Row]:
    """A row for each kernel of the case, with the schedules that `db` knows."""
    import tilewright

    module = tilewright.capture(case.function, *case.inputs()).module
    planned = with_known_schedules(module, target, db)
    for kernel in report_of(planned, target_named(target)).kernels:
        yield _row(case, kernel)


def _row(case: Case, kernel: KernelEvidence) -> Row:
    launch, resources = kernel.launch, kernel.resources
    return Row(
        case.name,
        kernel.name,
        launch.grid,
        launch.block,
        resources.registers,
        resources.spill_store_bytes,
        kernel.shared_bytes,
        kernel.occupancy.warps,
        None if kernel.loop is None else kernel.loop.mix.share(Category.FFMA),
        wide_share(kernel),
        kernel.traffic.bank_factor,
        kernel.traffic.sector_factor,
        kernel.traffic.minimum_bytes,
        None if kernel.estimate is None else 1e6 * kernel.estimate.seconds,
        case.floor_us,
        launch.schedule,
        tuple(shortcomings(kernel, _tile(launch.schedule))),
    )


def _tile(schedule: str) -> Tile | None:
    """What a block owns of a contraction; None for what is none."""
    options = parameters_by_pass(schedule)
    match options.get("blockify-launch"):
        case {"m": (int(m),), "n": (int(n),)}:
            return Tile(m, n, "computed" in options.get("stage-inputs", {}))
        case _:
            return None


def _cells(row: Row) -> list[str]:
    return [
        row.case,
        row.kernel,
        f"{row.grid}",
        f"{row.block}",
        f"{row.registers}",
        f"{row.spill_bytes}",
        f"{row.shared_bytes}",
        f"{row.warps}",
        _share(row.ffma_share),
        _share(row.wide_share),
        "-" if row.bank_factor is None else f"{row.bank_factor:.2f}",
        "-" if row.estimate_us is None else f"{row.estimate_us:.1f}",
        f"{row.case_floor_us:.1f}",
        "; ".join(row.shortcomings),
    ]


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.0f} %"
