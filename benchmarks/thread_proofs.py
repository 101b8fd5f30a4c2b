# SPDX-License-Identifier: Apache-2.0
"""
Obligations of the kernels of a suite at Kernel IR: how many are proved, how long this takes, and
how many planted bugs they find.

    python benchmarks/thread_proofs.py --json benchmarks/results/thread-proofs-suite84.json
    python benchmarks/thread_proofs.py benchmarks/suite-half.json --only rmsnorm --bugs 20

A kernel that occurs in several cases is proved in each; bugs are planted in it once. Milliseconds
are CPU time from Kernel IR to the answers. With `--bugs N`, N random bugs are planted in each
kernel (`tools/planted_bugs/thread_bugs.py`). A bug is found if an obligation is refuted.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import suite84
from measure import environment, figures_table, timed, write_json
from rich.console import Console

import tilewright
from tilewright.codegen.nvrtc import DEFAULT_TARGET
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.proof.answer import Outcome
from tilewright.proof.kernels import Certificate, functions_of, prove_function, text_of
from tilewright.tools.bench.suite import read_cases
from tilewright.tools.planted_bugs.thread_bugs import found_by_proof, thread_bugs

_MISSED = "nothing"


@dataclass
class Proved:
    """Certificate of one kernel of a case, its time, and the bugs that were planted in it."""

    case: str
    certificate: Certificate
    ms: float
    bugs: Counter[str] = field(default_factory=Counter[str])
    """Number of planted bugs, by the kind of the obligation that finds them."""
    missed: list[str] = field(default_factory=list[str])
    """Bugs that no obligation finds, each with its op."""

    def as_json(self) -> dict[str, Any]:
        """Return the counts, and the obligations that are not proved."""
        found = self.certificate
        return {
            "case": self.case,
            "kernel": found.kernel,
            "obligations": len(found.answers),
            **{outcome: found.count(outcome) for outcome in Outcome},
            "not_covered": dict(found.not_covered),
            "ms": round(self.ms, 1),
            "failed": [
                [obligation.kind, obligation.subject, answer.evidence, text_of(obligation.op)]
                for obligation, answer in found.answers
                if answer.outcome is not Outcome.PROVED
            ],
            "bugs": dict(self.bugs),
            "missed": self.missed,
        }


def proved(suite: Path, only: str, target: str, bugs: int, seed: int) -> Iterator[Proved]:
    """Yield the certificates of all kernels of the cases with `only` in their names."""
    seen = set[str]()
    for case in read_cases(suite, only):
        captured = tilewright.capture(case.function, *case.inputs())
        for function in functions_of(lower(captured.module, Level.KERNEL, target=target)):
            certificate, seconds = timed(partial(prove_function, function))
            found = Proved(case.name, certificate, 1e3 * seconds)
            is_new = (text := str(function)) not in seen
            seen.add(text)
            for bug in thread_bugs(function, bugs if is_new else 0, seed):
                kind = found_by_proof(bug) or _MISSED
                found.bugs[kind] += 1
                if kind == _MISSED:
                    found.missed.append(f"{bug.what}: {bug.line}")
            yield found


def summary(found: Sequence[Proved]) -> dict[str, float]:
    """Return the sums over all kernels, by what is counted."""
    not_covered, kinds, bugs = Counter[str](), Counter[str](), Counter[str]()
    for each in found:
        not_covered.update(each.certificate.not_covered)
        kinds.update(obligation.kind for obligation, _ in each.certificate.answers)
        bugs.update(each.bugs)
    counts = {
        outcome: sum(each.certificate.count(outcome) for each in found) for outcome in Outcome
    }
    return {
        "kernels": len(found),
        "proved kernels": sum(each.certificate.is_proved for each in found),
        "obligations": sum(counts.values()),
        **counts,
        **{f"of kind {kind}": count for kind, count in sorted(kinds.items())},
        **{f"not covered: {op}": count for op, count in sorted(not_covered.items())},
        "median ms": round(median(each.ms for each in found), 1),
        "most ms": round(max(each.ms for each in found), 1),
        **({"bugs": bugs.total()} if bugs else {}),
        **{f"bugs found by {kind}": count for kind, count in sorted(bugs.items())},
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Prove the kernels, print the sums, and write the file of `--json`."""
    parser = argparse.ArgumentParser(description="Prove the kernels of a suite at Kernel IR.")
    parser.add_argument(
        "suite", type=Path, nargs="?", default=suite84.DATA, help="suite84.json if omitted"
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="cases with TEXT in the name")
    parser.add_argument("--target", default=DEFAULT_TARGET, metavar="ARCH")
    parser.add_argument("--bugs", type=int, default=0, metavar="N", help="bugs in each kernel")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the bugs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all counts to FILE")
    args = parser.parse_args(argv)
    found = [*proved(args.suite, args.only, args.target, args.bugs, args.seed)]
    sums = summary(found)
    table = figures_table(f"obligations of {args.suite.name} at Kernel IR", "", ["count"])
    for name, count in sums.items():
        table.add_row(name, str(count))
    Console(width=100).print(table)
    if args.json is not None:
        kernels = [each.as_json() for each in found]
        settings = {"suite": args.suite.name, "target": args.target, "seed": args.seed}
        content = {"environment": environment(), **settings, "sums": sums}
        write_json(args.json, {**content, "kernels": kernels})


if __name__ == "__main__":
    main()
