# SPDX-License-Identifier: Apache-2.0
"""
Times of matrix products with many tilings, on a GPU, compared with the planner's model:

    python benchmarks/tilings.py --json benchmarks/results/GPU/tilings.json
    python benchmarks/tilings.py --only matmul.tinyllama.q_proj --seconds 300 --json FILE

The cases are those of suite84 that are one product. For each case the planner's tiling is measured
first, then others in random order until the time is up. Eight cores compile about 300 tilings in a
minute. `test/passes/tile/planner/test_measured_tilings.py` compares the planner's model
(`passes/tile/planner/tiling.py`) with the stored results.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from datetime import date
from itertools import islice
from math import exp, log
from random import Random
from statistics import fmean, pstdev
from time import monotonic
from typing import Any, NamedTuple

from gpu_checks.places import SUITE

from tilewright import api
from tilewright.codegen.gpu import target_for
from tilewright.dialects import loop
from tilewright.dialects.target import Target
from tilewright.dialects.target import target as target_named
from tilewright.errors import TilewrightError
from tilewright.passes.tile.planner.contraction import Contraction
from tilewright.passes.tile.planner.plan_schedules import launched, weighed
from tilewright.passes.tile.planner.tiling import Tiling
from tilewright.tools.bench.suite import Case, read_cases
from tilewright.tools.output.output_path import check_path, write_text
from tilewright.tools.tune.evaluation import ByGpu, evaluation_of
from tilewright.tuning.evaluators.gpu import GpuEvaluator
from tilewright.tuning.measurement import Measurement

Submit = Callable[[str], Future[Measurement]]
Row = dict[str, Any]

_AHEAD = 32
"""Number of schedules that may be submitted for compilation and not measured yet."""


class Product(NamedTuple):
    """Kernel that is a matrix product, with its possible tilings, the planner's choice first."""

    text: str
    """Kernel at Loop IR, as text."""
    lift: str
    """Name of the pass that turns the kernel into a launch, the first step of each schedule."""
    problem: Contraction
    tilings: list[Tiling]


def product_of(case: Case, target: Target, seed: int = 0) -> Product:
    """Return the product of a case of suite84."""
    captured = api.capture(case.function, *case.inputs("meta"))
    module = api.lower(captured, "loop", target.name)
    (kernel,) = [op for op in module.ops if isinstance(op, loop.KernelOp)]
    lift, launch = launched(kernel)
    found = weighed(launch, target)
    assert found is not None
    problem = found.problem
    assert isinstance(problem, Contraction)
    best, *others = [choice for choice in found.choices if isinstance(choice, Tiling)]
    Random(seed).shuffle(others)
    return Product(str(kernel), lift, problem, [best, *others])


def measured(product: Product, target: Target, submit: Submit, until: float) -> Iterator[Row]:
    """
    Measure tilings, and yield a row for each one that is submitted before the clock `monotonic`
    reaches `until`.
    """
    tilings = iter(product.tilings)
    under_way: list[tuple[Tiling, Future[Measurement]]] = []
    while True:
        count = _AHEAD - len(under_way) if monotonic() < until else 0
        for tiling in islice(tilings, count):
            steps = tiling.pipeline(product.problem, target)
            under_way.append((tiling, submit(",".join([product.lift, *steps]))))
        if not under_way:
            return
        tiling, future = under_way.pop(0)
        yield _row(tiling, future.result(), product.problem, target)


def _row(tiling: Tiling, found: Measurement, problem: Contraction, target: Target) -> Row:
    tile = tiling.tile
    return {
        "tile": [tile.m, tile.n, tile.fm, tile.fn],
        "bk": tiling.bk,
        "split": tiling.split,
        "join": tiling.join.value if tiling.split > 1 else None,
        "slots": tiling.depth,
        "us": found.us,
        "model_us": round(1e6 * tiling.seconds(problem, target), 2),
        **({"problem": found.problem} if found.problem else {}),
    }


def summary_line(name: str, rows: Sequence[Row]) -> str:
    """
    Return a line of text on the error of the model, and on the planner's tiling in comparison with
    the best one.
    """
    right = [row for row in rows if row["us"] is not None]
    if len(right) < 2:
        return f"{name}: nothing to compare"
    ratios = [log(row["us"] / row["model_us"]) for row in right]
    best = min(row["us"] for row in right)
    taken = rows[0]["us"]
    times = "" if taken is None else f"{taken:.2f} us, {taken / best:.2f} times the best"
    return (
        f"{name}: {len(right)} tilings, {exp(fmean(ratios)):.2f} times the model's time, "
        f"spread {pstdev(ratios):.3f}; the planner's: {times or 'not possible'}"
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Measure the tilings, and write the results."""
    parser = argparse.ArgumentParser(description="Measure tilings of products on a GPU.")
    parser.add_argument("--only", default="matmul.", help="only cases with this in their names")
    parser.add_argument("--seconds", type=float, default=300.0, help="time limit for all cases")
    parser.add_argument("--json", default="-", help="output file; default: stdout")
    args = parser.parse_args(argv)
    try:
        _measure(args)
    except TilewrightError as err:
        raise SystemExit(f"error: {err}") from None


def _measure(args: argparse.Namespace) -> None:
    check_path(args.json)
    cases = [case for case in read_cases(SUITE) if args.only in case.name]
    asked = argparse.Namespace(evaluator="gpu", scheduler=None, jobs=None, limit=60.0, target=None)
    target, found = target_named(target_for(None)), dict[str, list[Row]]()
    begin = monotonic()
    with evaluation_of(asked) as by:
        assert isinstance(by, ByGpu)
        for number, case in enumerate(cases, 1):
            product = product_of(case, target)
            submit = GpuEvaluator(product.text, target.name, by.executors).submit
            until = begin + args.seconds * number / len(cases)
            found[case.name] = [*measured(product, target, submit, until)]
            print(summary_line(case.name, found[case.name]))
        head = {"gpu": by.device, "date": f"{date.today()}", "target": target.name}
    write_text(args.json, json.dumps({**head, "cases": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
