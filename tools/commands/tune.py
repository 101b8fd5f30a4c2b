# SPDX-License-Identifier: Apache-2.0
"""
Command `tilewright tune`: search for the fastest schedule of each kernel, and store the
measurements.
"""

import argparse
import json
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

from rich.console import Console

from tilewright.codegen.gpu import target_for
from tilewright.errors import UsageError
from tilewright.tools.entry import INTERRUPTED
from tilewright.tools.output.output_path import check_path, write_text
from tilewright.tools.output.terminal import console
from tilewright.tools.toolkit import use_cuda_home
from tilewright.tools.tune.evaluation import Evaluation, evaluation_of
from tilewright.tools.tune.kernels import Found, tunable_of
from tilewright.tools.tune.shortlist import shortlist_of
from tilewright.tools.tune.space_table import print_fusions, print_spaces
from tilewright.tools.tune.table import print_findings, print_fusion, print_summary
from tilewright.tools.tune.tuned import Tuned, tune
from tilewright.tuning.database import Database
from tilewright.tuning.own_database import own_database

SCHEMA = 1
"""Version of the JSON's schema."""


def run(args: argparse.Namespace) -> int:
    """Tune the kernels and print the findings; return 1 if a kernel could not be measured."""
    _check(args)
    use_cuda_home()
    out = console(args.color, sys.stderr if args.json == "-" else sys.stdout)
    if args.space:
        return _print_spaces(args, out)
    tunable = tunable_of(args)  # an error in a file is reported before a missing GPU
    with evaluation_of(args) as evaluation:
        found = tunable.kernels(evaluation.target)
        with _database(args) as database, shortlist_of(args, evaluation.target) as shortlist:
            _print_failures(found)
            tuned = tune(found, evaluation, shortlist, database, args)
    findings = tuned.kernels
    for each in findings:
        print_findings(each, out, is_estimate=args.evaluator == "model")
    for fusion in tuned.fusions:
        print_fusion(fusion, out)
    if len(findings) > 1:
        print_summary(findings, out)
    if args.json is not None:
        write_text(args.json, json.dumps(_as_json(tuned, evaluation, args), indent=1) + "\n")
    unmeasured = [each.title for each in findings if each.best is None]
    if unmeasured:
        names = ", ".join(unmeasured)
        print(f"error: no schedule could be measured for: {names}", file=sys.stderr)
    if not tuned.is_whole:
        return INTERRUPTED
    return 1 if unmeasured or found.failures else 0


def _check(args: argparse.Namespace) -> None:
    """Raise `UsageError` if options conflict, or an output cannot be written."""
    check_path(args.json)
    if args.resume and not args.uses_db:
        raise UsageError("--resume needs a database, and --no-db excludes it")
    if args.evaluator == "model" and args.scheduler is not None:
        raise UsageError("--scheduler goes with --evaluator gpu: the model needs no farm")
    if args.evaluator != "model" and args.shortlist is not None:
        raise UsageError("--shortlist goes with --evaluator model: a GPU measures all")


def _database(args: argparse.Namespace) -> AbstractContextManager[Database | None]:
    """Return a context with the database for measurements, or with None if `--no-db` is given."""
    if not args.uses_db:
        return nullcontext()
    return Database.writing(own_database() if args.db is None else Path(args.db))


def _print_spaces(args: argparse.Namespace, out: Console) -> int:
    if args.json is not None:
        raise UsageError("--json is for measurements, and --space makes none")
    target = target_for(args.target)
    found = tunable_of(args).kernels(target)
    _print_failures(found)
    print_spaces(found.kernels, target, args.seed, out)
    print_fusions(found.programs, target, args.seed, out)
    return 1 if found.failures else 0


def _print_failures(found: Found) -> None:
    for failure in found.failures:
        print(failure, file=sys.stderr)


def _as_json(tuned: Tuned, evaluation: Evaluation, args: argparse.Namespace) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "target": evaluation.target,
        "device": evaluation.device,
        "evaluator": args.evaluator,
        "search": args.search,
        "seed": args.seed,
        "programs": [each.findings.as_json for each in tuned.fusions],
        "kernels": [each.as_json for each in tuned.kernels],
    }
