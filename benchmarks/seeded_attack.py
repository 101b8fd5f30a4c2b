# SPDX-License-Identifier: Apache-2.0
"""Command line of a script that tries random cases of a seed and counts how they ended."""

import argparse
from collections import Counter
from collections.abc import Sequence
from typing import Protocol


class Run(Protocol):
    """Function that tries the cases of a seed."""

    def __call__(
        self, seed: int, count: int, *, shows: bool = False
    ) -> tuple[Counter[str], list[str]]:
        """Return counts of how `count` cases ended, and the failures."""
        ...


def attack(
    run: Run, description: str, cases: str, count: int, argv: Sequence[str] | None = None
) -> int:
    """Run the cases, by default `count`, and print how they ended; return 1 if any is wrong."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("-v", dest="shows", action="store_true", help="print each")
    args = parser.parse_args(argv)
    ends, wrong = run(args.seed, args.count, shows=args.shows)
    print("\n".join(wrong))
    counts = ", ".join(f"{number} {end}" for end, number in sorted(ends.items()))
    print(f"seed {args.seed}, {args.count} {cases}: {counts}; {len(wrong)} wrong")
    return 1 if wrong else 0
