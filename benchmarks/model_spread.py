# SPDX-License-Identifier: Apache-2.0
"""
Spread of the errors of models between schedules of one kernel, for `tuning/confidence.py`:

    python benchmarks/model_spread.py
    python benchmarks/model_spread.py --again

The measured times are those of the data set `tilings` (`clock_rows.py`): schedules of two float32
products on an H200. Times of the clock and of the estimate are those that `clock_error.py` stored.
`--again` computes the times of the tuner's model for sm_90a again, and stores them in
`results/clock/tilings-model.json`.

A spread is the standard deviation of the logarithm of modelled over measured times after the mean
of each product is subtracted. `covered` is the share of random sets of ten schedules whose regret
is at most `worst_regret`; it should be 90 % or more.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import log, sqrt
from pathlib import Path
from random import Random
from statistics import fmean

from clock_error import FOLDER, program_of, stored_rows
from clock_rows import MeasuredTime, tilings

from tilewright import api
from tilewright.dialects import loop
from tilewright.dialects.target import target as target_named
from tilewright.tools.output.output_path import write_text
from tilewright.tuning.confidence import worst_regret
from tilewright.tuning.evaluators.model import model

STORED = FOLDER / "tilings-model.json"

TARGET = "sm_90a"

COLUMNS = {"clock": "clock_us", "evidence": "estimate_us"}
"""Columns of the stored rows of `tilings`, by evaluator of the tuner."""

_SETS, _SIZE = 200, 10
"""Number of random sets of schedules of a product, and the number of schedules in each."""

Times = tuple[float, float]
"""Modelled and measured microseconds."""


def modelled_us(measured: MeasuredTime) -> float | None:
    """Return the microseconds of a measured schedule by the tuner's model."""
    module = api.lower(measured.program(target_named(TARGET)), "tile", TARGET)
    (kernel,) = [op for op in module.ops if isinstance(op, loop.KernelOp)]
    return model(TARGET)(kernel).us


def products(evaluator: str) -> dict[str, list[Times]]:
    """Return the stored times of the schedules of each product by an evaluator."""
    rows = stored_rows("tilings")
    us = json.loads(STORED.read_text()) if evaluator == "model" else None
    found: defaultdict[str, list[Times]] = defaultdict(list)
    for row in rows:
        modelled = row[COLUMNS[evaluator]] if us is None else us[row["name"]]
        found[program_of(row["name"])].append((modelled, row["us"]))
    return dict(sorted(found.items()))


def spread(found: Iterable[Sequence[Times]]) -> float:
    """Return the spread of the errors of a model between the schedules of each product."""
    squares, freedom = 0.0, 0
    for times in found:
        errors = [log(modelled / measured) for modelled, measured in times]
        squares += sum((error - fmean(errors)) ** 2 for error in errors)
        freedom += len(errors) - 1
    return sqrt(squares / freedom)


def covered(times: Sequence[Times], by: float) -> float:
    """Return the share of random sets of schedules whose regret is at most the one promised."""
    draw = Random(0)
    sets = [draw.sample(times, _SIZE) for _ in range(_SETS)]
    return fmean(regret(some) <= worst_regret((t for t, _ in some), by) for some in sets)


def regret(times: Sequence[Times]) -> float:
    """Return the share by which the first choice of a model is slower than the fastest schedule."""
    return min(times)[1] / min(measured for _, measured in times) - 1


def line_of(evaluator: str, found: Mapping[str, Sequence[Times]]) -> str:
    """Return a line of text on an evaluator."""
    by = spread(found.values())
    each = "; ".join(
        f"{name} ({len(times)}): {spread([times]):.3f}, covered {100 * covered(times, by):.0f} %"
        for name, times in found.items()
    )
    return f"{evaluator:<9} {by:.3f}  {each}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the spread of each evaluator, and store the model's times if asked to."""
    parser = argparse.ArgumentParser(description="Spread of the errors of models.")
    parser.add_argument("--again", action="store_true", help="compute the model's times again")
    args = parser.parse_args(arguments)
    if args.again:
        us = {row.name: modelled_us(row) for row in tilings(Path())}
        write_text(str(STORED), json.dumps(us, indent=1) + "\n")
    for evaluator in ("model", *COLUMNS):
        print(line_of(evaluator, products(evaluator)))


if __name__ == "__main__":
    main()
