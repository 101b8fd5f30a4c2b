# SPDX-License-Identifier: Apache-2.0
"""
Obligations of the kernels of a suite: how many are proved, and how long this takes.

    python benchmarks/proofs.py --json benchmarks/results/proofs-suite84.json
    python benchmarks/proofs.py benchmarks/suite-half.json --only rmsnorm

A kernel that occurs in several cases is proved in each. Milliseconds are CPU time, from Tile IR to
the answers: `ms` of a kernel's accesses, `same ms` of its values (`tilewright prove --same`).
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import suite84
from measure import environment, figures_table, timed, write_json
from rich.console import Console

import tilewright
from tilewright.dialects.loop import KernelOp
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.proof.answer import Answer, Outcome
from tilewright.proof.kernels import Certificate, kernels_of, prove_kernel, text_of
from tilewright.proof.same import same_obligations
from tilewright.proof.solver import Solver
from tilewright.tools.bench.suite import read_cases


@dataclass(frozen=True)
class Proved:
    """Certificate of one kernel of a case, and its time."""

    case: str
    certificate: Certificate
    ms: float
    same: Sequence[Answer]
    """Answers for the values of the outputs."""
    same_ms: float

    def count_same(self, outcome: Outcome) -> int:
        """Return the number of outputs with that outcome."""
        return sum(answer.outcome is outcome for answer in self.same)

    def as_json(self) -> dict[str, Any]:
        """Return the counts, and the obligations that are not proved."""
        return {
            **certificate_json(self.case, self.certificate, self.ms),
            "same": {outcome: self.count_same(outcome) for outcome in Outcome},
            "same_unknown": [answer.evidence for answer in self.same if answer.evidence],
            "same_ms": round(self.same_ms, 1),
        }


def proved(suite: Path, only: str) -> Iterator[Proved]:
    """Yield the certificates of all kernels of the cases with `only` in their names."""
    for case in read_cases(suite, only):
        captured = tilewright.capture(case.function, *case.inputs())
        module = lower(captured.module, Level.LOOP)
        nests = {nest.sym_name.data: nest for nest in kernels_of(module)}
        for kernel in kernels_of(lower(module, Level.TILE)):
            certificate, seconds = timed(partial(prove_kernel, kernel))
            same, same_seconds = timed(partial(_same, kernel, nests[kernel.sym_name.data]))
            yield Proved(case.name, certificate, 1e3 * seconds, same, 1e3 * same_seconds)


def _same(kernel: KernelOp, nest: KernelOp) -> Sequence[Answer]:
    solver = Solver()
    return [obligation.decide(solver) for obligation in same_obligations(kernel, nest)]


def summary(found: Sequence[Proved]) -> dict[str, float]:
    """Return the sums over all kernels, by what is counted."""
    return {
        **sums_of([each.certificate for each in found], [each.ms for each in found]),
        **{
            f"same {outcome}": sum(each.count_same(outcome) for each in found)
            for outcome in Outcome
        },
        "same median ms": round(median(each.same_ms for each in found), 1),
        "same most ms": round(max(each.same_ms for each in found), 1),
    }


def sums_of(certificates: Sequence[Certificate], ms: Sequence[float]) -> dict[str, float]:
    """Return the sums over the certificates of all kernels, whose proofs took `ms`."""
    not_covered, kinds = Counter[str](), Counter[str]()
    for each in certificates:
        not_covered.update(each.not_covered)
        kinds.update(obligation.kind for obligation, _ in each.answers)
    counts = {outcome: sum(each.count(outcome) for each in certificates) for outcome in Outcome}
    return {
        "kernels": len(certificates),
        "proved kernels": sum(each.is_proved for each in certificates),
        "obligations": sum(counts.values()),
        **counts,
        **{f"of kind {kind}": count for kind, count in sorted(kinds.items())},
        **{f"not covered: {op}": count for op, count in sorted(not_covered.items())},
        "median ms": round(median(ms), 1),
        "most ms": round(max(ms), 1),
    }


def certificate_json(case: str, found: Certificate, ms: float) -> dict[str, Any]:
    """Return the counts of a certificate, and the obligations that are not proved."""
    return {
        "case": case,
        "kernel": found.kernel,
        "obligations": len(found.answers),
        **{outcome: found.count(outcome) for outcome in Outcome},
        "not_covered": dict(found.not_covered),
        "ms": round(ms, 1),
        "failed": [
            [obligation.kind, obligation.subject, answer.evidence, text_of(obligation.op)]
            for obligation, answer in found.answers
            if answer.outcome is not Outcome.PROVED
        ],
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Prove the kernels, print the sums, and write the file of `--json`."""
    parser = argparse.ArgumentParser(description="Prove the kernels of a suite.")
    parser.add_argument(
        "suite", type=Path, nargs="?", default=suite84.DATA, help="suite84.json if omitted"
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="cases with TEXT in the name")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all counts to FILE")
    args = parser.parse_args(argv)
    found = [*proved(args.suite, args.only)]
    sums = summary(found)
    table = figures_table(f"obligations of {args.suite.name}", "", ["count"])
    for name, count in sums.items():
        table.add_row(name, str(count))
    Console(width=100).print(table)
    if args.json is not None:
        kernels = [each.as_json() for each in found]
        content = {"environment": environment(), "suite": args.suite.name, "sums": sums}
        write_json(args.json, {**content, "kernels": kernels})


if __name__ == "__main__":
    main()
