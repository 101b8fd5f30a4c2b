# SPDX-License-Identifier: Apache-2.0
"""
Growth of the time to lower a program to CUDA with its number of ops, for programs of equal ops.

    python benchmarks/compile_scaling.py
    python benchmarks/compile_scaling.py --only siblings --share 0.1 --json results.json

Seconds are CPU seconds from Torch IR to the text, for a program and for one with half as many ops.
`power` is the exponent of the growth between them: 1 for linear growth. If a kernel has more values
than registers, lowering ends in an error, and the time until then is measured.
"""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import log2
from pathlib import Path

from measure import environment, figures_table, lowered, timed, write_json
from rich.console import Console
from xdsl.utils.exceptions import PassFailedException

import tilewright
from tilewright.frontend.capture import Captured
from tilewright.frontend.expression import parse_expression


def _chain(size: int) -> str:
    return "x = torch.randn(4, 8)\n" + "x = x.sin().add(1)\n" * (size // 2) + "x"


def _siblings(size: int) -> str:
    return f"x = torch.randn(64, 32)\n({', '.join(f'x * {n}.5' for n in range(size))},)"


def _terms(size: int) -> str:
    return "s = torch.randn(4)\n" + "s = s + torch.randn(4)\n" * (size - 1) + "s"


CASES: Mapping[str, tuple[Callable[[int], str], int]] = {
    "pointwise chain": (_chain, 1000),
    "siblings": (_siblings, 300),
    "added tensors": (_terms, 1000),
}
"""
Cases by name: a function that returns the text of a program with a number of ops, and the number of
ops without `--share`.
"""


@dataclass(frozen=True)
class Measured:
    """Times of one program, and of one with half as many ops."""

    name: str
    ops: int
    lower_s: float
    half_s: float

    @property
    def power(self) -> float:
        """Exponent of the growth of the time with the number of ops; 1 if it is linear."""
        return log2(self.lower_s / self.half_s)


def measured(only: str, share: float, repeat: int) -> Iterator[Measured]:
    """Yield the measured cases with `only` in their names; `share` scales their numbers of ops."""
    for name, (text, most) in CASES.items():
        if only in name:
            size = max(int(most * share), 4)
            half, whole = (_seconds(text(ops), repeat) for ops in (size // 2, size))
            yield Measured(name, size, whole, half)


def _seconds(text: str, repeat: int) -> float:
    program = parse_expression(text, fake=True)
    captured = tilewright.capture(program.module, *program.args, kwargs=program.kwargs)
    return min(timed(lambda: _lower(captured))[1] for _ in range(repeat))


def _lower(captured: Captured) -> None:
    try:
        lowered(captured, "cuda")
    except PassFailedException as error:
        Console(stderr=True).print(str(error), markup=False)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure the growth, print it, and write the file of `--json`."""
    parser = argparse.ArgumentParser(description="Measure how lowering grows with a program.")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases with TEXT in the name")
    parser.add_argument("--share", type=float, default=1.0, help="scale of the numbers of ops (1)")
    parser.add_argument(
        "--repeat", type=int, default=2, help="rounds, of which the fastest counts (2)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    args = parser.parse_args(argv)
    _seconds("torch.randn(4) + 1", 1)  # imports modules before the measurements
    rows = [*measured(args.only, args.share, args.repeat)]
    table = figures_table("Torch IR to cuda", "program", ["ops", "lower", "half", "power"])
    for row in rows:
        figures = f"{row.lower_s:.2f}", f"{row.half_s:.2f}", f"{row.power:.1f}"
        table.add_row(row.name, str(row.ops), *figures)
    Console(width=100).print(table)
    if args.json is not None:
        programs = [{**asdict(row), "power": row.power} for row in rows]
        write_json(args.json, {"environment": environment(), "programs": programs})


if __name__ == "__main__":
    main()
