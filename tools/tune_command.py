# SPDX-License-Identifier: Apache-2.0
"""`tilewright tune`: search for the fastest schedule of each kernel, and remember what is found."""

import argparse
import json
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from rich.console import Console

from tilewright.codegen.gpu import target_for
from tilewright.errors import UsageError
from tilewright.tools.bench.results_file import check_path
from tilewright.tools.mlir_source import write_text
from tilewright.tools.terminal import console
from tilewright.tools.toolkit import use_cuda_home
from tilewright.tools.tune.evaluation import Evaluation, evaluation_of
from tilewright.tools.tune.findings import Findings
from tilewright.tools.tune.kernels import Found, Kernel, kernels_of
from tilewright.tools.tune.progress import TuningProgress
from tilewright.tools.tune.searches import SEARCHES
from tilewright.tools.tune.shortlist import Shortlist, shortlist_of
from tilewright.tools.tune.space_table import print_spaces
from tilewright.tools.tune.table import print_findings, print_summary
from tilewright.tuning.database import Database
from tilewright.tuning.kernel_records import KernelRecords
from tilewright.tuning.key import Key
from tilewright.tuning.own_database import own_database
from tilewright.tuning.search.frame import Limits, trials
from tilewright.tuning.space import Space

SCHEMA = 1
"""The version of the JSON's shape."""

_INTERRUPTED = 130


def run(args: argparse.Namespace) -> int:
    """Tune, and show what was found; 1 if there is a kernel that could not be measured."""
    _check(args)
    use_cuda_home()
    out = console(args.color, sys.stderr if args.json == "-" else sys.stdout)
    if args.space:
        return _print_spaces(args, out)
    with evaluation_of(args) as evaluation:
        found = kernels_of(args, evaluation.target)
        with _database(args) as database, shortlist_of(args, evaluation.target) as shortlist:
            findings, is_whole = _tuned(found, evaluation, shortlist, database, args)
    for each in findings:
        print_findings(each, out)
    if len(findings) > 1:
        print_summary(findings, out)
    if args.json is not None:
        write_text(args.json, json.dumps(_as_json(findings, evaluation, args), indent=1) + "\n")
    unmeasured = [each.title for each in findings if each.best is None]
    if unmeasured:
        names = ", ".join(unmeasured)
        print(f"error: no schedule could be measured of: {names}", file=sys.stderr)
    if not is_whole:
        return _INTERRUPTED
    return 1 if unmeasured or found.failures else 0


def _check(args: argparse.Namespace) -> None:
    """Raise where options do not go together, or results could not be written."""
    check_path(args.json)
    if args.resume and not args.uses_db:
        raise UsageError("--resume goes on with what a database knows, and --no-db is to have none")
    if args.evaluator == "model" and args.scheduler is not None:
        raise UsageError("--scheduler is of --evaluator gpu: the model needs no farm")
    if args.evaluator != "model" and args.shortlist is not None:
        raise UsageError("--shortlist is of --evaluator model: a GPU measures all")


def _database(args: argparse.Namespace) -> AbstractContextManager[Database | None]:
    """Where measurements are kept; None for nowhere."""
    if not args.uses_db:
        return nullcontext()
    return Database.writing(own_database() if args.db is None else Path(args.db))


def _print_spaces(args: argparse.Namespace, out: Console) -> int:
    if args.json is not None:
        raise UsageError("--json is of what is measured, and --space measures nothing")
    target = target_for(args.target)
    found = kernels_of(args, target)
    _tell_failures(found)
    print_spaces(found.kernels, target, args.seed, out)
    return 1 if found.failures else 0


def _tell_failures(found: Found) -> None:
    for failure in found.failures:
        print(failure, file=sys.stderr)


def _tuned(
    found: Found,
    evaluation: Evaluation,
    shortlist: Shortlist | None,
    database: Database | None,
    args: argparse.Namespace,
) -> tuple[list[Findings], bool]:
    """What came of each kernel, and whether nobody has interrupted it."""
    _tell_failures(found)
    findings: list[Findings] = []
    rounds = len(found.kernels) * (1 if shortlist is None else 2)
    progress = TuningProgress(args.color, args.verbose, rounds)
    try:
        with progress:
            for kernel in found.kernels:
                findings.append(Findings(kernel))
                _tune(findings[-1], evaluation, database, progress, args)
                if shortlist is not None and findings[-1].default is not None:
                    findings.append(Findings(kernel, "by machine code"))
                    _compile(findings[-2], findings[-1], shortlist, database, progress)
    except KeyboardInterrupt:
        print("interrupted: this was found so far", file=sys.stderr)
        return [each for each in findings if each.measurements], False
    return findings, True


def _tune(
    findings: Findings,
    evaluation: Evaluation,
    database: Database | None,
    progress: TuningProgress,
    args: argparse.Namespace,
) -> None:
    """Search one kernel's schedules; each measurement is kept before the next one begins."""
    kernel = findings.kernel
    progress.begin(findings.title, args.budget)
    records = _records(database, kernel, evaluation.key(kernel))
    kept = records.measurements() if records is not None and args.resume else []
    known = {measurement.schedule: measurement for measurement in kept}
    space = Space(kernel.op, evaluation.target)
    search = SEARCHES[args.search](space, args.seed)
    submit = evaluation.submit(kernel, space)
    for trial in trials(search, submit, _limits(args), slots=evaluation.slots, known=known):
        if records is not None and trial.number:
            records.add(trial.measurement)
        findings.add(trial.measurement, is_new=trial.number > 0)
        progress.show(findings, trial.measurement)


def _compile(
    found: Findings,
    compiled: Findings,
    shortlist: Shortlist,
    database: Database | None,
    progress: TuningProgress,
) -> None:
    """Look at the best of what was found once more."""
    progress.begin(compiled.title, shortlist.count)
    records = _records(database, found.kernel, shortlist.key(found.kernel))
    for measurement in shortlist.measurements(found):
        if records is not None:
            records.add(measurement)
        compiled.add(measurement, is_new=True)
        progress.show(compiled, measurement)


def _records(database: Database | None, kernel: Kernel, key: Key) -> KernelRecords | None:
    """Where measurements of a kernel are kept; None for nowhere."""
    return None if database is None else KernelRecords(database, kernel.op, key, kernel.origin)


def _limits(args: argparse.Namespace) -> Limits:
    if isinstance(args.budget, int):
        return Limits(budget=args.budget, patience=args.patience)
    return Limits(seconds=args.budget, patience=args.patience)


def _as_json(
    findings: list[Findings], evaluation: Evaluation, args: argparse.Namespace
) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "target": evaluation.target,
        "device": evaluation.device,
        "evaluator": args.evaluator,
        "search": args.search,
        "seed": args.seed,
        "kernels": [each.as_json for each in findings],
    }
