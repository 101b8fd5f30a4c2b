# SPDX-License-Identifier: Apache-2.0
"""
Bugs planted by rule in the results of passes, and how many of them proofs and exact numbers find.

    python benchmarks/planted_bugs.py --bugs 5 --json benchmarks/results/planted-bugs-suite84.json
    python benchmarks/planted_bugs.py benchmarks/suite-half.json --only rmsnorm

Each distinct kernel of the suite is lowered at reduced sizes to Tile IR and Kernel IR. Bugs are
planted in the results of passes: wrong maps, masks, bounds, orders, and dropped combines. A bug is
found if `--check=prove` or `--check=exact` stops at the pass. No tolerance is involved.

A kernel with a bug that neither check finds may be equal to the right one; the JSON has the reason.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import suite84
from measure import environment, figures_table, write_json
from rich.console import Console

from tilewright.codegen.nvrtc import DEFAULT_TARGET
from tilewright.tools.planted_bugs.pass_bugs import PassBug, pass_bugs, pass_results
from tilewright.tools.planted_bugs.pass_checks import PassChecks, Verdict
from tilewright.tools.planted_bugs.scheduled_kernels import ScheduledKernel, scheduled_kernels


@dataclass(frozen=True)
class Planted:
    """Bugs of one kernel, with the answers of both checks."""

    kernel: str
    bugs: Sequence[tuple[PassBug, Verdict]]
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """Return the counts, and each bug that is not found."""
        return {
            "kernel": self.kernel,
            "planted": len(self.bugs),
            "found": sum(verdict.is_found for _, verdict in self.bugs),
            "equal": [
                f"{bug} ({verdict.equal})"
                for bug, verdict in self.bugs
                if verdict.equal and not verdict.is_found
            ],
            "missed": [str(bug) for bug, verdict in self.bugs if is_missed(verdict)],
            "seconds": round(self.seconds, 1),
        }


def is_missed(verdict: Verdict) -> bool:
    """True if a bug changes the kernel, or may change it, and no check finds it."""
    return not verdict.is_found and not verdict.equal


def planted(kernel: ScheduledKernel, count: int, seed: int, target: str) -> Planted:
    """Plant bugs in a kernel, and return them with the answers of both checks."""
    start = time.process_time()
    checks = PassChecks(kernel.program, target)
    results = pass_results(kernel.program, target)
    bugs = [(bug, checks.verdict(bug)) for bug in pass_bugs(results, count, seed)]
    return Planted(kernel.name, bugs, time.process_time() - start)


def summary(found: Sequence[Planted]) -> dict[str, Any]:
    """Return the sums over all kernels."""
    bugs = [each for kernel in found for each in kernel.bugs]
    finders = Counter(_finder(verdict) for _, verdict in bugs)
    kinds = Counter(f"{bug.kind} bugs" for bug, _ in bugs)
    levels = Counter(f"bugs in {bug.result.level} IR" for bug, _ in bugs)
    wrong = [verdict for _, verdict in bugs if verdict.is_found or is_missed(verdict)]
    hits = sum(verdict.is_found for verdict in wrong)
    return {
        "distinct kernels": len(found),
        "bugs planted": len(bugs),
        **dict(sorted(kinds.items())),
        **dict(sorted(levels.items())),
        "passes": len({bug.result.name for bug, _ in bugs}),
        **{f"bugs found by {finder}": count for finder, count in sorted(finders.items())},
        "equal to the right kernel": len(bugs) - len(wrong),
        "found of those that are not equal, percent": round(100 * hits / max(len(wrong), 1), 1),
        "seconds": round(sum(each.seconds for each in found)),
    }


def _finder(verdict: Verdict) -> str:
    match bool(verdict.refuted), verdict.is_exact_different:
        case True, True:
            return "both"
        case True, False:
            return "proofs only"
        case False, True:
            return "exact numbers only"
        case _:
            return "neither"


def main(argv: Sequence[str] | None = None) -> None:
    """Plant the bugs, print the sums, and write the file of `--json`."""
    parser = argparse.ArgumentParser(description="Plant bugs in passes, and count those found.")
    parser.add_argument(
        "suite", type=Path, nargs="?", default=suite84.DATA, help="suite84.json if omitted"
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="kernels with TEXT in the name")
    parser.add_argument("--bugs", type=int, default=5, metavar="N", help="bugs in each kernel")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the bugs")
    parser.add_argument("--target", default=DEFAULT_TARGET, metavar="ARCH")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all counts to FILE")
    args = parser.parse_args(argv)
    kernels = scheduled_kernels([], [str(args.suite)], args.only, args.target)
    found = list[Planted]()
    for number, kernel in enumerate(kernels.kernels, start=1):
        found.append(planted(kernel, args.bugs, args.seed + number, args.target))
        counts = found[-1].as_json()
        shown = f"{counts['found']} of {counts['planted']} found, {len(counts['equal'])} equal"
        print(f"{number} of {len(kernels.kernels)}: {kernel.name}: {shown}", file=sys.stderr)
        for line in counts["missed"]:
            print(f"  missed: {line}", file=sys.stderr)
    sums = summary(found)
    table = figures_table(f"bugs in passes, {args.suite.name}", "", ["count"])
    for name, count in sums.items():
        table.add_row(name, str(count))
    Console(width=100).print(table)
    if args.json is not None:
        settings = {"suite": args.suite.name, "target": args.target, "seed": args.seed}
        content = {"environment": environment(), **settings, "sums": sums}
        rows = [each.as_json() for each in found]
        write_json(args.json, {**content, "refused": kernels.refused, "kernels": rows})


if __name__ == "__main__":
    main()
