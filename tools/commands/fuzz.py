# SPDX-License-Identifier: Apache-2.0
"""
Command `tilewright fuzz`: check random graphs, or mutated IR, and write those that fail to files
that repeat the failure.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from math import inf
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from tilewright.errors import UsageError, counted
from tilewright.tools.fuzz.mutated_ir import Mutated, mutated_ir
from tilewright.tools.fuzz.random_programs import Fuzzed, random_programs
from tilewright.tools.fuzz.saved import ir_file, python_file
from tilewright.tools.options.fuzz import SCHEDULES
from tilewright.tools.output.output_path import check_path, write_text
from tilewright.tools.output.terminal import console
from tilewright.tools.toolkit import use_cuda_home

SCHEMA = 1
"""Version of the JSON's schema."""

_COUNTS = {"graph": 200, "mutant": 1000}
"""Default numbers of programs, by their kind."""

_LINES = 10
"""Number of lines of progress."""


class _Result(NamedTuple):
    """Result of one program: counts to add, the kind of its failure, and files to write."""

    number: int
    counts: Counter[str]
    failure: str
    message: str
    files: dict[str, str]
    """Texts by the ends of the files' names."""


def run(args: argparse.Namespace) -> int:
    """Check the programs and print a summary; return 1 if one of them failed, else 0."""
    use_cuda_home()
    check_path(args.json)
    folder = Path(args.keep)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"cannot write to '{folder}': it is not a folder")
    out = console(args.color, sys.stderr if args.json == "-" else sys.stdout)
    what = "mutant" if args.mlir else "graph"
    count = args.count or _COUNTS[what]
    numbers = range(count) if args.only is None else range(args.only, args.only + 1)
    end = monotonic() + 60 * (args.minutes or inf)
    totals, failures = Counter[str](), list[dict[str, Any]]()
    for done, result in enumerate(_results(args, numbers), 1):
        totals += result.counts
        if result.failure:
            files = _write(folder, f"fuzz-{args.seed}-{result.number}", result)
            failures.append({"number": result.number, "kind": result.failure, "files": files})
            out.print(f"{what} {result.number}: {result.failure}: {result.message}", markup=False)
            out.print(f"  {', '.join(files)}", markup=False)
        if done % max(1, len(numbers) // _LINES) == 0:
            out.print(f"{done} of {counted(len(numbers), what)}, {_failures(failures)}")
        if monotonic() > end:
            break
    shares = ", ".join(f"{name} {number}" for name, number in totals.items())
    out.print(f"seed {args.seed}: {shares}; {_failures(failures)}")
    if args.json is not None:
        failures.sort(key=lambda failure: failure["number"])
        content = {"schema": SCHEMA, "seed": args.seed, "counts": totals, "failures": failures}
        write_text(args.json, json.dumps(content, indent=1) + "\n")
    return 1 if failures else 0


def _failures(failures: list[dict[str, Any]]) -> str:
    return counted(len(failures), "failure")


def _write(folder: Path, name: str, result: _Result) -> list[str]:
    """Write the files of a failure, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = {str(folder / f"{name}{end}"): text for end, text in result.files.items()}
    for path, text in paths.items():
        write_text(path, text)
    return [*paths]


def _results(args: argparse.Namespace, numbers: range) -> Iterator[_Result]:
    if args.mlir:
        return map(_of_mutant, mutated_ir(args.seed, numbers, args.jobs, args.mlir == "all"))
    found = random_programs(args.seed, numbers, args.jobs, args.schedules)
    return (_of_graph(each, args) for each in found)


def _of_mutant(each: Mutated) -> _Result:
    counts = Counter(
        {"mutants": 1, "reached a pass": int(each.outcome.reached), each.outcome.kind: 1}
    )
    return _Result(each.number, counts, each.failure, "", {".mlir": each.file()})


def _of_graph(each: Fuzzed, args: argparse.Namespace) -> _Result:
    checked = each.checked
    counts = Counter(
        {
            "graphs": 1,
            "refused graphs": int(bool(checked.refusal)),
            "passes": checked.passes,
            "simulations": checked.runs,
        }
    )
    if (failure := checked.failure) is None:
        return _Result(each.number, counts, "", "", {})
    repeat = f"tilewright fuzz --seed {args.seed} --only {each.number}"
    if args.schedules != SCHEDULES:
        repeat += f" --schedules {args.schedules}"
    name = f"fuzz-{args.seed}-{each.number}.py"
    files = {".py": python_file(each.graph, failure, each.settings, name, repeat)}
    if (ir := ir_file(failure)) is not None:
        files[".mlir"] = ir
    return _Result(each.number, counts, failure.kind, failure.summary, files)
