# SPDX-License-Identifier: Apache-2.0
"""`tilewright simcheck`: plant bugs in right kernels, and see that the simulator finds them."""

import argparse
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from rich.markup import escape

from tilewright.codegen.simulator.mutation import Case, Mutant, Outcome, load_case, run_case
from tilewright.errors import UsageError
from tilewright.tools.terminal import console, show, table
from tilewright.tools.toolkit import use_cuda_home

_NUMBERS = ("mutants", "found", "error", "seconds")


@dataclass
class Result:
    """A case, what its own run found, and each mutant that was run with what it found."""

    case: Case
    clean: Outcome
    seconds: float = 0
    mutants: list[tuple[Mutant, Outcome]] = field(default_factory=list[tuple[Mutant, Outcome]])

    def missed(self) -> list[tuple[Mutant, Outcome]]:
        """The mutants that were not found as they should be."""
        return [(mutant, run) for mutant, run in self.mutants if mutant.finds not in run.found]


def run(args: argparse.Namespace) -> int:
    """Run the suite, and report; 0 if all bugs were found, and none where there are none."""
    use_cuda_home()
    results = [check(load_case(path), quick=args.quick) for path in cases(Path(args.folder))]
    out = console(args.color, sys.stdout)
    rows = table("kernel", "mutants", "found", "error", "seconds", "as", numbers=_NUMBERS)
    for result in results:
        kinds = Counter(mutant.finds for mutant, _ in result.mutants)
        found = len(result.mutants) - len(result.missed())
        rows.add_row(
            result.case.name,
            str(len(result.mutants)),
            str(found),
            f"{result.clean.error:.1e}",
            f"{result.seconds:.1f}",
            escape(", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items()))),
        )
    show(out, rows)
    problems = [problem for result in results for problem in complaints(result)]
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    total = sum(len(result.mutants) for result in results)
    out.print(f"\n{total} bugs planted, {len(problems)} problems")
    return 1 if problems else 0


def cases(folder: Path) -> list[Path]:
    """The cases in a folder; raises `UsageError` where there are none."""
    found = sorted(folder.glob("*.toml"))
    if not found:
        raise UsageError(
            f"there are no kernels to check in {folder}",
            remedy="run it in a checkout, or name a folder of NAME.cu and NAME.toml",
        )
    return found


def check(case: Case, *, quick: bool) -> Result:
    """Run a case and its mutants, or those that are marked as quick."""
    start = perf_counter()
    result = Result(case, run_case(case))
    for mutant in case.mutants:
        if mutant.quick or not quick:
            result.mutants.append((mutant, run_case(case, mutant)))
    result.seconds = perf_counter() - start
    return result


def complaints(result: Result) -> list[str]:
    """What the simulator said without cause, and what it missed."""
    name = result.case.name
    said = [f"{name} is right, and yet: {kind}" for kind in sorted(result.clean.found)]
    missed = [
        f"{name}: '{mutant.what}' should be found as {mutant.finds}, not as "
        f"{', '.join(sorted(run.found)) or 'nothing'}"
        for mutant, run in result.missed()
    ]
    return said + missed
