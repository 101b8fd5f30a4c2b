# SPDX-License-Identifier: Apache-2.0
"""
Fuzzing of opt-tool with mutated IR: each mutant must end well or in a diagnostic, within limits.

    python benchmarks/mutated_ir.py --seed 1 --count 1000
    python benchmarks/mutated_ir.py --seed 1 --count 20000 --json counts.json --keep found
    python benchmarks/mutated_ir.py --seed 1 --only 4711       # print a mutant and its outcome

A mutant counts as reached if it gets to a pass or to the printer.
"""

import argparse
import gc
import os
import shlex
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib import import_module
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from forked_runs import Lost, forked
from measure import write_json
from mutants import Mutant, mutant, vocabulary
from tool_outcome import FAILURES, Outcome, escaped_with, run_opt_tool
from xdsl.universe import Universe

from tilewright.passes.driver.lowering import context
from tilewright.tools.output.output_path import write_text
from tilewright.universe import UNIVERSE


@dataclass
class Counts:
    """Counts of mutants by outcome."""

    seed: int
    count: int
    reached: int = 0
    outcomes: dict[str, int] = field(default_factory=dict[str, int])
    failures: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    """Numbers of the mutants that failed, by kind and place."""

    def add(self, number: int, outcome: Outcome) -> None:
        """Add the outcome of one mutant to the counts."""
        self.reached += outcome.reached
        self.outcomes[outcome.kind] = self.outcomes.get(outcome.kind, 0) + 1
        if outcome.kind in FAILURES:
            self.failures.setdefault(f"{outcome.kind}: {outcome.says}", []).append(number)


_NO_TEXT = Mutant("", "", ())


def run(numbers: Sequence[int], args: argparse.Namespace) -> Counts:
    """
    Run the mutants with these numbers, write failing ones if `--keep` is given, and return the
    counts.
    """
    counts, end = Counts(args.seed, len(numbers)), monotonic() + 60 * args.minutes
    with TemporaryDirectory() as temporary:

        def call(number: int) -> tuple[Mutant, Outcome]:
            folder = Path(temporary) / str(os.getpid())
            folder.mkdir(exist_ok=True)
            try:
                each = mutant(args.seed, number, args.expressions)
            except BaseException as escaped:  # raised by the verifier
                return _NO_TEXT, escaped_with(escaped)
            return each, run_opt_tool(each.text, each.options, folder)

        limits = {"seconds": args.seconds, "bytes": args.gigabytes << 30}
        for number, answer in forked(call, numbers, jobs=args.jobs, **limits):
            each, found = _answered(answer)
            counts.add(number, found)
            if args.verbose or found.kind in FAILURES:
                print(f"{number}: {found.kind}: {found.says}", flush=True)
            if args.keep is not None and found.kind in FAILURES:
                _keep(args, number, each, found)
            if monotonic() > end:
                break
    return counts


def _answered(answer: Lost | tuple[Mutant, Outcome]) -> tuple[Mutant, Outcome]:
    if isinstance(answer, Lost):
        return _NO_TEXT, Outcome("lost", True, answer.reason)
    return answer


def _keep(args: argparse.Namespace, number: int, each: Mutant, found: Outcome) -> None:
    """Write a failing mutant with its command line."""
    args.keep.mkdir(parents=True, exist_ok=True)
    head = f"// {found.says}\n// opt-tool %s {shlex.join(each.options)}\n"
    write_text(str(args.keep / f"{args.seed}-{number}.mlir"), head + each.text)


def prepare(expressions: bool) -> None:
    """Import and build everything that all mutants need, before processes are forked."""
    Universe.get_multiverse = staticmethod(cache(Universe.get_multiverse))
    vocabulary(expressions)
    ctx = context()
    for name in sorted(ctx.registered_dialect_names):
        ctx.get_optional_dialect(name)
    for load in UNIVERSE.all_passes.values():
        load()
    import_module("tilewright.interpreters.check")
    gc.collect()
    gc.freeze()  # excludes imported objects from later collections


def _report(counts: Counts) -> Iterable[str]:
    """Yield the lines of the summary: counts by outcome, and the failures."""
    shares = ", ".join(f"{kind} {n}" for kind, n in sorted(counts.outcomes.items()))
    done = sum(counts.outcomes.values())
    yield f"seed {counts.seed}: {done} of {counts.count} mutants, {counts.reached} reached a pass"
    yield shares
    for failure, numbers in sorted(counts.failures.items(), key=lambda item: -len(item[1])):
        yield f"{len(numbers):5} {failure} (first: {numbers[0]})"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the mutants, print the counts, and return 1 if any mutant fails."""
    parser = argparse.ArgumentParser(description="Run opt-tool over mutated IR.")
    parser.add_argument("--seed", type=int, default=0, help="default: 0")
    parser.add_argument("--count", type=int, default=1000, help="number of mutants (1000)")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="print this mutant and run it")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes (1)")
    parser.add_argument("--seconds", type=float, default=20.0, help="CPU limit of a mutant (20)")
    parser.add_argument(
        "--minutes", type=float, default=inf, help="stop after this time, and report (no limit)"
    )
    parser.add_argument("--gigabytes", type=int, default=4, help="memory limit of a process (4)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="write mutants that fail to DIR")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the counts to FILE")
    parser.add_argument("--verbose", action="store_true", help="print each mutant's outcome")
    parser.add_argument(
        "--no-expressions",
        dest="expressions",
        action="store_false",
        help="mutate the tests' files only; torch is not imported",
    )
    args = parser.parse_args(argv)
    prepare(args.expressions)
    if args.only is not None:
        each = mutant(args.seed, args.only, args.expressions)
        print(f"// opt-tool %s {shlex.join(each.options)}\n{each.text}")
    numbers = range(args.count) if args.only is None else [args.only]
    counts = run(numbers, args)
    print("\n".join(_report(counts)))
    if args.json is not None:
        write_json(args.json, asdict(counts))
    return 1 if counts.failures else 0


if __name__ == "__main__":
    sys.exit(main())
