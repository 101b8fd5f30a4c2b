# SPDX-License-Identifier: Apache-2.0
"""
Command `tilewright bench SUITE.json`: time every case of a suite against PyTorch on the GPU, or
with `--model` a decoder block of a model. `--static` reports on the kernels' machine code instead,
without a GPU. `--published` estimates times and compares them with the published ones of a table.
"""

import argparse
import sys
from collections.abc import Sequence
from time import monotonic
from typing import TypeVar

from tilewright.errors import UsageError
from tilewright.stages import stage
from tilewright.tools.bench import published_bench, static_bench
from tilewright.tools.bench.block_case import block_cases, check_source
from tilewright.tools.bench.gpu import MACHINE_CODE, need_gpu
from tilewright.tools.bench.plot import draw, need_matplotlib
from tilewright.tools.bench.published_case import PublishedCase, read_published
from tilewright.tools.bench.request import AnyCase
from tilewright.tools.bench.results_file import ResultsFile
from tilewright.tools.bench.row import Row
from tilewright.tools.bench.suite import read_cases
from tilewright.tools.bench.supervisor import Supervisor, worker_command
from tilewright.tools.bench.table import print_launches, print_rows, print_summary
from tilewright.tools.options.backends import BACKENDS
from tilewright.tools.options.database import database_of
from tilewright.tools.output.output_path import check_path, write_text
from tilewright.tools.output.terminal import console

LIMIT_S = 180.0
"""Time in seconds after which the compilation or run of a case is killed."""

_REFUSED = {
    "static": ("backends", "plot", "limit", "stop_after", "retry"),
    "published": ("backends", "limit"),
}
"""Options without effect, by the option that selects the kind of `bench`."""


_Case = TypeVar("_Case", AnyCase, PublishedCase)


def run(args: argparse.Namespace) -> int:
    """
    Time the cases, or report on their machine code; return 1 if a case failed or its result is
    wrong.
    """
    if args.published:
        _check_untimed(args, "published")
        check_source(args)
        if args.suite is None:
            raise UsageError("--published goes with SUITE, a table of published times")
        return published_bench.run(args, _selected(args, read_published(args.suite)))
    cases = _cases(args)
    if args.static:
        _check_untimed(args, "static")
        return static_bench.run(args, cases)
    if args.target is not None:
        remedy = "--target is for --static and --published"
        raise UsageError("bench times the GPU that is present", remedy=remedy)
    need_gpu(f"bench --static {MACHINE_CODE}")
    peers = BACKENDS if args.backends is None else args.backends
    command = worker_command(peers, database_of(args), args.matmul_precision)
    return run_measured(args, cases, Supervisor(command, args.limit or LIMIT_S))


def _check_untimed(args: argparse.Namespace, kind: str) -> None:
    """
    Raise `UsageError` if an option has no effect with `--static` or `--published`, the `kind`, or
    the JSON cannot be written.
    """
    for name in _REFUSED[kind]:
        if getattr(args, name) not in (None, False):
            option = name.replace("_", "-")
            raise UsageError(f"--{option} is for timing, and --{kind} times nothing")
    check_path(args.json)


def run_measured(args: argparse.Namespace, cases: Sequence[AnyCase], supervisor: Supervisor) -> int:
    """
    Measure the cases that the file of results does not have yet, and print all results. Return 1 if
    a case failed or its result is wrong, else 0.
    """
    check_path(args.json)
    if args.plot is not None:
        need_matplotlib(args.plot)
        check_path(args.plot)
    out = console(args.color, sys.stderr if args.json == "-" else sys.stdout)
    with stage("start a worker"):
        supervisor.start()
    results = ResultsFile(args.json, supervisor.environment)
    try:
        _measure(cases, results, supervisor, args)
    finally:
        supervisor.stop()
    rows = [row for case in cases if (row := results.row(case)) is not None]
    print_rows(rows, out)
    for row in rows:
        if row.get("launches"):
            print_launches(row, out)
    print_summary(rows, out)
    if left := len(cases) - len(rows):
        out.print(f"\n{left} cases are left: repeat the command to continue")
    if args.json == "-":
        write_text("-", results.text(rows))
    gpu = supervisor.environment["gpu"]
    if args.plot is not None:
        draw(rows, f"Tilewright {supervisor.environment['tilewright']} on {gpu}", args.plot)
    return 1 if any(row["problem"] for row in rows) else 0


def _measure(
    cases: Sequence[AnyCase], results: ResultsFile, supervisor: Supervisor, args: argparse.Namespace
) -> None:
    begin = monotonic()
    for number, case in enumerate(cases, 1):
        known = results.row(case)
        if known is not None and not (args.retry and known["problem"]):
            continue
        if args.stop_after is not None and monotonic() - begin > args.stop_after:
            return
        with stage(f"measure {case.name}, case {number} of {len(cases)}"):
            row = supervisor.row(case)
        results.add(row)
        print(f"{number}/{len(cases)} {_line(row)}", file=sys.stderr, flush=True)


def _line(row: Row) -> str:
    """Return the line of progress after a case is done."""
    if row["problem"]:
        return f"{row['name']}: {row['problem']}"
    return f"{row['name']}: {row['us']:.2f} us"


def _cases(args: argparse.Namespace) -> list[AnyCase]:
    """Return the selected cases; raises `UsageError` if there are none."""
    check_source(args)
    cases: list[AnyCase] = (
        [*read_cases(args.suite)] if args.suite is not None else [*block_cases(args)]
    )
    return _selected(args, cases)


def _selected(args: argparse.Namespace, cases: Sequence[_Case]) -> list[_Case]:
    """Return the cases with matching names; raises `UsageError` if there are none."""
    found = [case for case in cases if args.only in case.name]
    if args.filter is not None:
        found = [case for case in found if args.filter.search(case.name)]
    if not found:
        asked = args.only if args.filter is None else args.filter.pattern
        raise UsageError(f"no case of '{args.suite or args.model}' has '{asked}' in its name")
    return found
