# SPDX-License-Identifier: Apache-2.0
"""
Agreement of closed forms with the clock on the order of the kernels of a suite, in results of
`bench --static --json FILE`:

    python benchmarks/static_ranks.py benchmarks/results/static/suite84-sm_90a.json

Closed forms are the planner's model at Tile IR, and the report's estimate from machine code.
Spearman's correlation of the ranks is 1 for equal orders, and 0 for unrelated ones.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from clock_error import Vector, rank_correlation, ranks

Kernel = Mapping[str, Any]

MODELS = ("planner", "estimate")
"""Closed forms, by the names of their columns."""

_SHOWN = 5
"""Number of kernels to print that both orders place farthest apart."""


def timed_by_both(kernels: Iterable[Kernel], model: str) -> list[Kernel]:
    """Return the kernels that have times by a model and by the clock."""
    return [k for k in kernels if None not in (k[f"{model}_us"], k["clock_us"])]


def correlation(kernels: Sequence[Kernel], model: str) -> float:
    """Return the correlation of ranks of kernels by a model and by the clock."""
    return rank_correlation(_times(kernels, model), _times(kernels, "clock"))


def by_op(kernels: Iterable[Kernel]) -> dict[str, list[Kernel]]:
    """Return the kernels by the first word of their cases' names."""
    found: defaultdict[str, list[Kernel]] = defaultdict(list)
    for kernel in kernels:
        found[kernel["case"].split(".")[0]].append(kernel)
    return dict(found)


def farthest(kernels: Sequence[Kernel], model: str) -> list[Kernel]:
    """Return the kernels whose ranks by a model and the clock differ most, the farthest first."""
    apart = np.abs(ranks(_times(kernels, model)) - ranks(_times(kernels, "clock")))
    return [kernels[int(place)] for place in np.argsort(-apart, kind="stable")[:_SHOWN]]


def _times(kernels: Sequence[Kernel], model: str) -> Vector:
    return np.array([kernel[f"{model}_us"] for kernel in kernels], dtype=np.float64)


def _lines(kernels: Sequence[Kernel], model: str) -> Iterable[str]:
    for name, found in {"all": kernels, **by_op(kernels)}.items():
        ratio = _times(found, "clock") / _times(found, model)
        yield (
            f"  {name:<16} {len(found):>3} kernels, rank correlation "
            f"{correlation(found, model):.3f}, ratio {ratio.min():.2f} to {ratio.max():.2f}"
        )
    for kernel in farthest(kernels, model):
        times = f"{kernel[f'{model}_us']:.1f} us, clock {kernel['clock_us']:.1f} us"
        yield f"  {kernel['case']}, {kernel['kernel']}: {times}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the correlation of all kernels and of each op, and the kernels that differ most."""
    parser = argparse.ArgumentParser(description="Compare the order of kernels with the clock's.")
    parser.add_argument("file", type=Path, help="JSON of bench --static")
    kernels = json.loads(parser.parse_args(arguments).file.read_text())["kernels"]
    timed = {model: timed_by_both(kernels, model) for model in MODELS}
    if not all(timed.values()):
        parser.error("no kernel of the file has times by all models")
    for model, found in timed.items():
        print(f"{model}; ratio: clock / {model}")
        for line in _lines(found, model):
            print(line)
    print(f"most CPU of the clock: {max(k['clock_cpu_s'] for k in timed[MODELS[0]]):.2f} s")


if __name__ == "__main__":
    main()
