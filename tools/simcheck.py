# SPDX-License-Identifier: Apache-2.0
"""
`tilewright simcheck`: plant bugs in right kernels, and see that they are found.

A folder has kernels of CUDA with the bugs to plant (`NAME.cu` and `NAME.toml`), and kernels of Tile
IR (`NAME.mlir`), in which bugs are planted by rule.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from rich.markup import escape

from tilewright.codegen.simulator.mutation import Case, load_case, run_case
from tilewright.errors import UsageError
from tilewright.tools.equivalent import unmatched
from tilewright.tools.planted import (
    Kernel,
    interpreted,
    load_kernel,
    mutants,
    planted,
    run_mutant,
    simulated,
)
from tilewright.tools.terminal import console, show, table
from tilewright.tools.toolkit import use_cuda_home

QUICK = 20
"""The quick part of what is planted by rule is every so manieth bug."""

_NUMBERS = ("mutants", "found", "seconds")


@dataclass
class Result:
    """What was planted in a kernel, and how it was found."""

    name: str
    planted: int = 0
    found: Counter[str] = field(default_factory=Counter[str])
    problems: list[str] = field(default_factory=list[str])
    """What was said without cause, and what was missed."""
    seconds: float = 0


def run(args: argparse.Namespace) -> int:
    """Run the suite, and report; 0 if all bugs were found, and none where there are none."""
    use_cuda_home()
    paths = [path for folder in args.folders for path in kernels(Path(folder))]
    out = console(args.color, sys.stdout)
    results = list[Result]()
    with out.status("") as status:  # nothing is said where there is no terminal
        for number, path in enumerate(paths, 1):
            status.update(f"{path.name}, kernel {number} of {len(paths)}")
            results.append(timed(path, quick=args.quick))
    rows = table("kernel", "mutants", "found", "seconds", "as", numbers=_NUMBERS)
    for result in results:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(result.found.items()))
        numbers = str(result.planted), str(result.found.total()), f"{result.seconds:.1f}"
        rows.add_row(result.name, *numbers, escape(kinds))
    show(out, rows)
    problems = [problem for result in results for problem in result.problems]
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    out.print(f"\n{_verdict(results, problems)}")
    return 1 if problems else 0


def _verdict(results: Sequence[Result], problems: Sequence[str]) -> str:
    planted = sum(result.planted for result in results)
    if not problems:
        return f"[bold green]{planted} bugs planted, all found; nothing else was[/]"
    found = sum(result.found.total() for result in results)
    return f"[bold red]{planted} bugs planted, {found} found; problems: {len(problems)}[/]"


def kernels(folder: Path) -> list[Path]:
    """The kernels in a folder; raises `UsageError` where there are none."""
    found = sorted([*folder.glob("*.cu"), *folder.glob("*.mlir")])
    if not found:
        raise UsageError(
            f"there are no kernels to check in {folder}",
            remedy="run it in a checkout, or name a folder of NAME.cu and NAME.toml, or NAME.mlir",
        )
    return found


def timed(path: Path, *, quick: bool) -> Result:
    """Check the kernel in a file, by the clock."""
    start = perf_counter()
    if path.suffix == ".cu":
        result = check(load_case(path.with_suffix(".toml")), quick=quick)
    else:
        result = check_by_rule(load_kernel(path), quick=quick)
    result.seconds = perf_counter() - start
    return result


def check(case: Case, *, quick: bool) -> Result:
    """Run a case and its mutants, or those that are marked as quick."""
    result = Result(case.name, problems=[*_false_alarms(case.name, run_case(case).found)])
    for mutant in case.mutants:
        if quick and not mutant.quick:
            continue
        result.planted += 1
        found = run_case(case, mutant).found
        if mutant.finds in found:
            result.found[mutant.finds] += 1
        else:
            result.problems.append(
                f"{case.name}: '{mutant.what}' should be found as {mutant.finds}, not as "
                f"{_words(found)}"
            )
    return result


def check_by_rule(kernel: Kernel, *, quick: bool) -> Result:
    """Run a kernel and what the rules plant in it, or a part of that."""
    clean = simulated(kernel, kernel.plan) | interpreted(kernel, kernel.module)
    stale = unmatched(kernel.equivalent, (mutant.place for mutant in planted(kernel)))
    result = Result(kernel.name, problems=[*_false_alarms(kernel.name, clean)])
    result.problems += [f"{kernel.name}: {entry}" for entry in stale]
    for mutant in mutants(kernel)[:: QUICK if quick else 1]:
        if (outcome := run_mutant(mutant)) is None:
            continue
        result.planted += 1
        if outcome.is_found:
            result.found[outcome.kind] += 1
        else:
            result.problems.append(f"{kernel.name}: {mutant.place} {outcome.missed}")
    return result


def _false_alarms(name: str, found: frozenset[str]) -> Iterator[str]:
    return (f"{name} is right, and yet: {kind}" for kind in sorted(found))


def _words(found: frozenset[str]) -> str:
    return ", ".join(sorted(found)) or "nothing"
