# SPDX-License-Identifier: Apache-2.0
"""
Comparison of searches: the best schedule that each finds after a number of evaluations, by the
model.

    python benchmarks/searches.py                   # all kernels, into benchmarks/results/tuning/
    python benchmarks/searches.py --only matmul --budget 100 --seeds 1 --output here
    python benchmarks/searches.py --only matmul.2048 --search mcts --budget 1000 --output here

The first evaluation is that of the default schedule. For searches that use random numbers, the
median of several seeds counts. Greedy search lets the model rank many schedules before each choice;
each of these evaluations counts. Seconds are CPU seconds of one process, including all passes and
the model.
"""

import argparse
import json
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from tilewright import api
from tilewright.dialects import loop
from tilewright.dialects.target import DEFAULT_TARGET
from tilewright.frontend.expression import parse_expression
from tilewright.tools.output.output_path import write_text
from tilewright.tuning.evaluators.model import model
from tilewright.tuning.measurement import Measurement
from tilewright.tuning.search.evolution import Evolution
from tilewright.tuning.search.frame import Limits, Search, at_once, microseconds, trials
from tilewright.tuning.search.greedy import Greedy
from tilewright.tuning.search.mcts import Mcts
from tilewright.tuning.search.random_search import RandomSearch
from tilewright.tuning.search.tree import Node
from tilewright.tuning.space import Space
from tilewright.tuning.space_sizes import sizes

KERNELS = {
    "matmul.2048": "torch.randn(2048, 2048) @ torch.randn(2048, 2048)",
    "matmul.s32": "torch.randn(32, 2048) @ torch.randn(2048, 2048)",
    "rmsnorm": "F.rms_norm(torch.randn(512, 3584), (3584,))",
    "column sums": "torch.randn(4096, 1000).sum(0)",
}

SEARCHES: dict[str, Callable[["Counted", int], Search]] = {
    "mcts": lambda counted, seed: Mcts(counted.space.root, seed),
    "random": lambda counted, seed: RandomSearch(counted.space.root, seed),
    "greedy": lambda counted, seed: Greedy(counted.space.root, counted.us),
    "evolution": lambda counted, seed: Evolution(counted.space.root, seed),
}
WITHOUT_CHANCE = ("greedy",)

RESULTS = Path(__file__).parent / "results" / "tuning"


class OutOfBudgetError(Exception):
    """Exception for an evaluation beyond the budget."""


class Counted:
    """Space of schedules with a model of time that counts its evaluations."""

    def __init__(self, kernel: loop.KernelOp, budget: int):
        self.space, self.budget = Space(kernel), budget
        self.best: list[float] = []
        """Best time so far after each evaluation, in microseconds."""
        self._model = model(DEFAULT_TARGET)
        self._known: dict[Node, Measurement] = {}

    def evaluate(self, leaf: Node) -> Measurement:
        """Return the model's estimate for a leaf, which is computed once."""
        if leaf not in self._known:
            if len(self.best) == self.budget:
                raise OutOfBudgetError
            found = self._known[leaf] = self._model(self.space.kernel(leaf))
            self.best.append(min([*self.best[-1:], microseconds(found)]))
        return self._known[leaf]

    def us(self, leaf: Node) -> float:
        """Return the estimate for a leaf in microseconds."""
        return microseconds(self.evaluate(leaf))


@dataclass
class Run:
    """Result of one search for a kernel with one seed: CPU time and best times."""

    kernel: str
    search: str
    seed: int
    cpu_seconds: float
    best_us: list[float]
    """Best time after each evaluation, in microseconds; the first one is the default's."""


def run(name: str, search: str, seed: int, budget: int) -> Run:
    """Search for a schedule of a kernel, and return the result."""
    kernel = kernel_of(KERNELS[name])
    start = time.process_time()
    counted = Counted(kernel, budget)
    asked = trials(
        SEARCHES[search](counted, seed), at_once(counted.evaluate), Limits(budget=budget)
    )
    try:
        for _ in asked:
            pass
    except OutOfBudgetError:
        pass
    best = [round(us, 3) for us in counted.best]
    return Run(name, search, seed, round(time.process_time() - start, 1), best)


def kernel_of(text: str) -> loop.KernelOp:
    """Return the only kernel of an expression."""
    source = parse_expression(text, fake=True)
    module = api.lower(api.capture(source.module, *source.args), "loop")
    (kernel,) = (op for op in module.ops if isinstance(op, loop.KernelOp))
    return kernel


def all_runs(only: str, chosen: Sequence[str], budget: int, seeds: int) -> Iterator[Run]:
    """Yield the results of the requested searches for each kernel."""
    for name in (name for name in KERNELS if only in name):
        for search in chosen:
            for seed in range(1 if search in WITHOUT_CHANCE else seeds):
                found = run(name, search, seed, budget)
                print(
                    f"{name:12} {search:10} seed {seed}: {found.best_us[0]:8.2f} us ->"
                    f" {found.best_us[-1]:8.2f} us, {len(found.best_us)} evaluations,"
                    f" {found.cpu_seconds} s"
                )
                yield found


def draw(runs: Sequence[Run], path: Path) -> None:
    """
    Draw a panel for each kernel: the speedup over the default against the number of evaluations.
    """
    from matplotlib.figure import Figure

    names = [*dict.fromkeys(run.kernel for run in runs)]
    size = 5 * min(2, len(names)), 3.2 * -(-len(names) // 2)
    figure = Figure(figsize=size, layout="constrained")
    for at, name in enumerate(names, 1):
        axes: Any = figure.add_subplot(-(-len(names) // 2), min(2, len(names)), at)
        for search in dict.fromkeys(run.search for run in runs):
            alike = [run for run in runs if (run.kernel, run.search) == (name, search)]
            axes.step(*_curve(alike), where="post", label=search, linewidth=1.4)
        axes.set_title(name, fontsize=9)
        axes.set_xlabel("evaluations", fontsize=8)
        axes.set_ylabel("times as fast as the default", fontsize=8)
        axes.tick_params(labelsize=7)
        axes.legend(fontsize=7, loc="lower right")
    figure.savefig(str(path), metadata={"Date": None})  # pyright: ignore[reportUnknownMemberType]


def _curve(runs: Sequence[Run]) -> tuple[Sequence[int], Sequence[float]]:
    """Return the numbers of evaluations, and the median speedup of the runs after each."""
    count = max((len(run.best_us) for run in runs), default=0)
    at = range(1, count + 1)
    return at, [median(run.best_us[0] / run.best_us[:n][-1] for run in runs) for n in at]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the searches, print their results, and write them to files."""
    parser = argparse.ArgumentParser(description="Compare searches for schedules.")
    parser.add_argument("--only", default="", help="only kernels with this in their name")
    parser.add_argument("--search", choices=SEARCHES, help="only this search")
    parser.add_argument("--budget", type=int, default=200, help="evaluations of each search")
    parser.add_argument("--seeds", type=int, default=3, help="number of seeds for random searches")
    parser.add_argument("--output", type=Path, default=RESULTS, help="folder of the results")
    args = parser.parse_args(arguments)
    args.output.mkdir(parents=True, exist_ok=True)
    chosen = [args.search] if args.search else [*SEARCHES]
    runs = [*all_runs(args.only, chosen, args.budget, args.seeds)]
    spaces = {
        name: float(f"{sizes(Space(kernel_of(KERNELS[name])).root, args.budget).schedules:.2g}")
        for name in dict.fromkeys(run.kernel for run in runs)
    }
    found = {
        "target": DEFAULT_TARGET,
        "python": platform.python_version(),
        "schedules": spaces,
        "runs": [asdict(run) for run in runs],
    }
    write_text(str(args.output / "searches.json"), json.dumps(found) + "\n")
    draw(runs, args.output / "searches.svg")


if __name__ == "__main__":
    main()
