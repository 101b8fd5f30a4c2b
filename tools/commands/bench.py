# SPDX-License-Identifier: Apache-2.0
"""
Command `tilewright bench SUITE.json`: time every case of a suite against PyTorch on the GPU, or
with `--model` a decoder block of a model. `--static` reports on the kernels' machine code instead,
without a GPU.
"""

import argparse
import sys
from collections.abc import Sequence
from time import monotonic

from tilewright.errors import UsageError
from tilewright.stages import stage
from tilewright.tools.bench import static_bench
from tilewright.tools.bench.block_case import block_cases, check_source
from tilewright.tools.bench.gpu import MACHINE_CODE, need_gpu
from tilewright.tools.bench.plot import draw, need_matplotlib
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

_TIMING_OPTIONS = ("backends", "plot", "limit", "stop_after", "retry")


def run(args: argparse.Namespace) -> int:
    """
    Time the cases, or report on their machine code; return 1 if a case failed or its result is
    wrong.
    """
    cases = _cases(args)
    if args.static:
        _check_static(args)
        return static_bench.run(args, cases)
    if args.target is not None:
        raise UsageError("bench times the GPU that is present", remedy="--target is for --static")
    need_gpu(f"bench --static {MACHINE_CODE}")
    peers = BACKENDS if args.backends is None else args.backends
    command = worker_command(peers, database_of(args), args.matmul_precision)
    return run_measured(args, cases, Supervisor(command, args.limit or LIMIT_S))


def _check_static(args: argparse.Namespace) -> None:
    """
    Raise `UsageError` if an option has no effect with `--static`, or the JSON cannot be written.
    """
    for name in _TIMING_OPTIONS:
        if getattr(args, name) not in (None, False):
            raise UsageError(
                f"--{name.replace('_', '-')} is for timing, and --static times nothing"
            )
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
    cases = [case for case in cases if args.only in case.name]
    if args.filter is not None:
        cases = [case for case in cases if args.filter.search(case.name)]
    if not cases:
        asked = args.only if args.filter is None else args.filter.pattern
        raise UsageError(f"no case of '{args.suite or args.model}' has '{asked}' in its name")
    return cases
