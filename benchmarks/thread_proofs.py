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
from typing import Any

import suite84
from measure import environment, figures_table, timed, write_json
from proofs import certificate_json, sums_of
from rich.console import Console

import tilewright
from tilewright.codegen.nvrtc import DEFAULT_TARGET
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.proof.kernels import Certificate, functions_of, prove_function
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
        return {
            **certificate_json(self.case, self.certificate, self.ms),
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
    bugs = Counter[str]()
    for each in found:
        bugs.update(each.bugs)
    return {
        **sums_of([each.certificate for each in found], [each.ms for each in found]),
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
