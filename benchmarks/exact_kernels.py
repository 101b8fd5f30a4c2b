# SPDX-License-Identifier: Apache-2.0
"""
Kernels of a suite, at reduced sizes, by exact numbers: how many are equal at Loop, Tile and Kernel
IR, and for which numbers. With `--each`, they are compared after each pass.

    python benchmarks/exact_kernels.py --json benchmarks/results/exact-suite84.json
    python benchmarks/exact_kernels.py --only rmsnorm --bugs 20

With `--bugs N`, N bugs are planted in the values of each kernel at Kernel IR by the rules of
`simcheck`. A bug is found if it changes a result, or stops the interpreter.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import suite84
from measure import environment, figures_table, write_json
from rich.console import Console
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import VerifyException

from tilewright.codegen.mutations import mutations
from tilewright.codegen.nvrtc import DEFAULT_TARGET
from tilewright.interpreters.check import Compare, PassCheckError, check_pass, within_tolerance
from tilewright.interpreters.exact.comparison import ExactComparison
from tilewright.interpreters.random_runs import RandomRuns
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import context, lower
from tilewright.passes.driver.manager import PassManager
from tilewright.tools.planted_bugs.scheduled_kernels import ScheduledKernel, scheduled_kernels

_NO_LIMIT = 1 << 62

_FLOATS, _NEITHER = "floats only", "neither"


@dataclass
class Checked:
    """Comparisons of a kernel by exact numbers, and the bugs that were planted in it."""

    kernel: str
    cases: int
    """Number of kernels of the suite that are equal to this one."""
    compared: Counter[str] = field(default_factory=Counter[str])
    """Number of comparisons, by the numbers for which the kernel is equal."""
    notes: list[str] = field(default_factory=list[str])
    """Notes on comparisons that were not exact."""
    bugs: Counter[str] = field(default_factory=Counter[str])
    """Number of planted bugs, by the numbers that find them."""
    missed: list[str] = field(default_factory=list[str])
    """Bugs that exact numbers do not find, each with its op; many of them change no result."""
    seconds: float = 0.0

    @property
    def is_exact(self) -> bool:
        """True if all comparisons were exact."""
        return not self.notes

    def check(self, before: ModuleOp, after: ModuleOp, name: str) -> None:
        """Compare a kernel before and after a pass; raises `PassCheckError` if they differ."""
        compare = ExactComparison()
        report = check_pass(
            before, after, name, runs=self._runs, max_work=_NO_LIMIT, compare=compare
        )
        self.notes += [*report.notes, *compare.notes]
        self.compared.update(numbers.name for numbers in compare.compared.values())

    _runs: RandomRuns = field(default_factory=RandomRuns)


def checked(kernel: ScheduledKernel, is_each: bool, bugs: int) -> Checked:
    """Return the comparisons of one kernel, after each pass or at each level."""
    found, start = Checked(kernel.name, 1 + len(kernel.others)), time.process_time()
    checks = (found.check, None) if is_each else (None, found.check)
    manager = PassManager(context(), *checks)
    tile = lower(kernel.program, Level.TILE, manager, DEFAULT_TARGET)
    lowered = lower(tile, Level.KERNEL, manager, DEFAULT_TARGET)
    for what, mutant in islice(_mutants(lowered), bugs):
        finder = _found_by(lowered, mutant)
        found.bugs[finder] += 1
        if finder in (_FLOATS, _NEITHER):
            found.missed.append(what)
    found.seconds = time.process_time() - start
    return found


def _mutants(module: ModuleOp) -> Iterator[tuple[str, ModuleOp]]:
    """Yield copies of a module with a bug in its values, and the bugs, in a random order."""
    places = [
        (number, position)
        for number, op in enumerate(module.walk())
        if not isinstance(op, ModuleOp | func.FuncOp)
        for position, mutation in enumerate(mutations(op))
        if mutation.is_of_values
    ]
    Random(0).shuffle(places)
    for number, position in places:
        copy = module.clone()
        op = next(islice(copy.walk(), number, None))
        mutation, line = [*mutations(op)][position], str(op).partition("\n")[0]
        mutation.change(op)
        try:
            copy.verify()
        except VerifyException:
            continue
        yield f"{mutation.what}: {line}", copy


def _found_by(module: ModuleOp, mutant: ModuleOp) -> str:
    """Return the numbers that find a bug: exact ones, floats within a tolerance, both, neither."""
    exact = _finds(ExactComparison(), module, mutant)
    floats = _finds(within_tolerance, module, mutant)
    return {
        (True, True): "both",
        (True, False): "exact numbers only",
        (False, True): _FLOATS,
        (False, False): _NEITHER,
    }[exact, floats]


def _finds(compare: Compare, module: ModuleOp, mutant: ModuleOp) -> bool:
    try:
        check_pass(module, mutant, "bug", max_work=_NO_LIMIT, compare=compare)
    except PassCheckError:
        return True
    return False


def summary(found: Sequence[Checked]) -> dict[str, Any]:
    """Return the sums over all kernels."""
    compared, bugs = Counter[str](), Counter[str]()
    for each in found:
        compared.update(each.compared)
        bugs.update(each.bugs)
    return {
        "distinct kernels": len(found),
        "kernels of the suite": sum(each.cases for each in found),
        "exact in all comparisons": sum(each.cases for each in found if each.is_exact),
        **{f"comparisons {name}": count for name, count in sorted(compared.items())},
        **{f"bugs found by {name}": count for name, count in sorted(bugs.items())},
        "seconds": round(sum(each.seconds for each in found)),
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Compare the kernels, print the sums, and write the file of `--json`."""
    parser = argparse.ArgumentParser(description="Compare the kernels of a suite exactly.")
    parser.add_argument(
        "suite", type=Path, nargs="?", default=suite84.DATA, help="suite84.json if omitted"
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="kernels with TEXT in the name")
    parser.add_argument("--each", action="store_true", help="compare after each pass")
    parser.add_argument("--bugs", type=int, default=0, metavar="N", help="bugs in each kernel")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all counts to FILE")
    args = parser.parse_args(argv)
    kernels = scheduled_kernels([], [str(args.suite)], args.only, DEFAULT_TARGET)
    found = list[Checked]()
    for number, kernel in enumerate(kernels.kernels, start=1):
        print(f"{number} of {len(kernels.kernels)}: {kernel.name}", file=sys.stderr)
        found.append(checked(kernel, args.each, args.bugs))
    sums = {**summary(found), "refused": len(kernels.refused)}
    table = figures_table(f"exact kernels of {args.suite.name}", "", ["count"])
    for name, count in sums.items():
        table.add_row(name, str(count))
    Console(width=100).print(table)
    if args.json is not None:
        rows = [
            {
                "kernel": each.kernel,
                "cases": each.cases,
                "compared": dict(each.compared),
                "notes": each.notes,
                "bugs": dict(each.bugs),
                "missed": each.missed,
                "seconds": round(each.seconds, 1),
            }
            for each in found
        ]
        content = {"environment": environment(), "suite": args.suite.name, "sums": sums}
        write_json(args.json, {**content, "refused": kernels.refused, "kernels": rows})


if __name__ == "__main__":
    main()
