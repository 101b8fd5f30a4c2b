# SPDX-License-Identifier: Apache-2.0
"""
Error of the clock, of the report's estimate and of a model of waves, against measured times:

    python benchmarks/clock_error.py --measured DIR --data sgemm --limit 20
    python benchmarks/clock_error.py --summary

The first command compares 20 further rows of a data set (`clock_rows.py`) and appends them to
`benchmarks/results/clock/`. The order of the rows, and the half that a row belongs to, depend on
their names only. Constants are fitted on the first half, and errors are those of the second:

* `clock`, `estimate`: as the report prints them, nothing fitted;
* `clock fitted`, `estimate fitted`: a constant plus a factor, for each data set and device;
* `regret`: for programs with several schedules, by how much the first choice of a model is slower
  than the fastest;
* `waves`: for products of cuBLAS, a constant plus waves of blocks times multiply-adds, operands and
  results of a tile, each with a constant. It is fitted on the first half of all rows of the file;
  `waves, all rows` are its errors for the second half of all rows.
"""

import argparse
import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
from clock_rows import DATA, MeasuredTime
from gpu_checks.places import RESULTS
from numpy.typing import NDArray

from tilewright.codegen.report import report_of
from tilewright.codegen.report.clock.launch_clock import clock
from tilewright.codegen.report.clock.machine import device_named
from tilewright.dialects.target import target as target_named
from tilewright.errors import TilewrightError, one_line
from tilewright.tools.output.output_path import write_text

FOLDER = RESULTS / "clock"

SHORT = 0.1e-3
"""Seconds below which a time counts as short."""

_TILE = re.compile(r"\.\d+x\d+\.")
"""Begin of the schedule in the name of a product: `.64x128.` for a tile of 64 by 128 elements."""

Row = dict[str, Any]
Vector = NDArray[np.float64]


def half_of(name: str) -> int:
    """Return the half of a row, 0 for fitting and 1 for testing."""
    return sha256(name.encode()).digest()[0] % 2


def compared(measured: MeasuredTime) -> Row:
    """Return the times of a program by the models, beside the measured time."""
    begin = time.process_time()
    device = device_named(measured.device)
    target = replace(
        target_named(device.target), bandwidth=device.bandwidth, sms=device.sms, gpcs=()
    )
    row: Row = {"name": measured.name, "device": measured.device, "us": 1e6 * measured.seconds}
    estimated, by_clock, clock_cpu = 0.0, 0.0, 0.0
    for kernel in report_of(measured.program(target), target).kernels:
        if kernel.facts is None or kernel.estimate is None:
            return {**row, "problem": "no estimate"}
        started = time.process_time()
        by_clock += kernel.launches * clock(kernel.facts, target, device).seconds
        clock_cpu += time.process_time() - started
        estimated += kernel.launches * kernel.estimate.seconds
    row |= {"estimate_us": round(1e6 * estimated, 3), "clock_us": round(1e6 * by_clock, 3)}
    row |= {"clock_cpu_s": round(clock_cpu, 2), "cpu_s": round(time.process_time() - begin, 2)}
    return row


def slice_of(data: str, folder: Path, known: Sequence[Row], limit: int) -> Iterator[Row]:
    """Yield comparisons of `limit` rows of a data set that are not `known`, of all devices."""
    done = {(row["name"], row["device"]) for row in known}
    found = [row for row in DATA[data](folder) if (row.name, row.device) not in done]
    found.sort(key=lambda row: sha256(f"{row.device} {row.name}".encode()).digest())
    for row in found[:limit]:
        try:
            yield compared(row)
        except TilewrightError as err:
            yield {"name": row.name, "device": row.device, "problem": one_line(err)}


def errors_of(measured: Vector, modelled: Vector) -> dict[str, float]:
    """Return statistics of the relative errors, and the correlation of the ranks of times."""
    relative = [float(each) for each in np.abs(modelled / measured - 1)]
    return {
        "rows": len(measured),
        "mean": round(fmean(relative), 4),
        "median": round(median(relative), 4),
        "p90": round(float(np.quantile(relative, 0.9)), 4),
        "ratio": round(float(np.exp(np.mean(np.log(modelled / measured)))), 4),
        "rank": round(rank_correlation(measured, modelled), 4),
    }


def rank_correlation(one: Vector, other: Vector) -> float:
    """Return Spearman's correlation of two vectors; 1 for fewer than three elements."""
    if len(one) < 3:
        return 1.0
    return float(np.corrcoef(ranks(one), ranks(other))[0, 1])


def ranks(values: Vector) -> Vector:
    """Return the rank of each value; equal values have the mean of their ranks."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts + 1) / 2)[places]


def regrets(rows: Iterable[Row]) -> dict[str, dict[str, float]]:
    """Return the regret of each model for each program with several measured schedules."""
    programs: dict[str, list[Row]] = {}
    for row in rows:
        if _TILE.search(row["name"]) is not None:
            programs.setdefault(program_of(row["name"]), []).append(row)
    return {
        program: {model: round(_regret(found, f"{model}_us"), 4) for model in ("estimate", "clock")}
        for program, found in sorted(programs.items())
        if len(found) > 1
    }


def program_of(name: str) -> str:
    """Return the name of a row without the schedule."""
    return _TILE.split(name, maxsplit=1)[0]


def _regret(rows: Sequence[Row], model: str) -> float:
    return min(rows, key=lambda row: row[model])["us"] / min(row["us"] for row in rows) - 1


def fitted(columns: Vector, measured: Vector) -> Vector:
    """Return the coefficients of columns that make the relative errors of their sum smallest."""
    right = np.ones(len(measured))
    found = np.linalg.lstsq(columns / measured[:, None], right, rcond=None)[0]
    return np.asarray(found, dtype=np.float64)


def summary(rows: Sequence[Row], waves: Mapping[str, float]) -> dict[str, Any]:
    """
    Return the errors of each model for the rows of one data set and device; `waves` are times by
    the model of waves, by name.
    """
    first, second = ([row for row in rows if half_of(row["name"]) == half] for half in (0, 1))
    found: dict[str, Any] = {}
    for model in ("estimate", "clock"):
        found[model] = _by_class(rows, {r["name"]: r[f"{model}_us"] for r in rows})
        if len(first) > 3 and len(second) > 3:
            weights = fitted(_affine(first, model), _column(first, "us"))
            modelled = _affine(second, model) @ weights
            found[f"{model} fitted"] = {
                "constants": [round(float(weight), 4) for weight in weights],
                **_by_class(second, dict(zip([r["name"] for r in second], modelled, strict=True))),
            }
    if waves and second:
        found["waves"] = _by_class(second, {r["name"]: waves[r["name"]] for r in second})
    return found


def _column(rows: Sequence[Row], key: str) -> Vector:
    return np.array([row[key] for row in rows], dtype=np.float64)


def _affine(rows: Sequence[Row], model: str) -> Vector:
    return np.stack([np.ones(len(rows)), _column(rows, f"{model}_us")], axis=1)


def _by_class(rows: Sequence[Row], modelled: Mapping[str, float]) -> dict[str, Any]:
    """Return the errors of all rows, of short ones and of the others."""
    short = [row for row in rows if row["us"] < 1e6 * SHORT]
    others = [row for row in rows if row["us"] >= 1e6 * SHORT]
    return {
        label: errors_of(_column(some, "us"), np.array([modelled[r["name"]] for r in some]))
        for label, some in (("all", rows), ("short", short), ("long", others))
        if some
    }


def by_waves(every: Sequence[MeasuredTime]) -> dict[str, float]:
    """
    Return the microseconds of products of one device by a model of waves, fitted on the first half.
    """
    products = [row for row in every if row.tile]
    if not products:
        return {}
    sms = device_named(products[0].device).sms
    columns = np.array([_wave(row.tile, sms) for row in products])
    is_first = np.array([half_of(row.name) == 0 for row in products])
    us = np.array([1e6 * row.seconds for row in products])
    modelled = columns @ fitted(columns[is_first], us[is_first])
    return {row.name: float(each) for row, each in zip(products, modelled, strict=True)}


def _wave(tile: Mapping[str, float], sms: int) -> list[float]:
    waves = -(-tile["blocks"] // sms)
    m, n, k = tile["m"], tile["n"], tile["k"]
    return [1.0, waves * m * n * k / 1e6, waves * (m + n) * k / 1e6, waves * m * n / 1e6]


def summaries(folder: Path) -> dict[str, Any]:
    """Return the errors of all stored rows, by data set and device."""
    found: dict[str, Any] = {}
    for data in DATA:
        rows = [row for row in stored_rows(data) if "clock_us" in row]
        if data == "tilings":
            found["regret"] = regrets(rows)
        has_tiles = data == "sgemm" and folder.is_dir()
        every = [*DATA[data](folder)] if has_tiles else []
        for device in sorted({row["device"] for row in rows}):
            waves = by_waves([row for row in every if row.device == device])
            of_device = [row for row in rows if row["device"] == device]
            found[f"{data} {device}"] = summary(of_device, waves)
            if waves:
                found[f"{data} {device}"]["waves, all rows"] = _of_waves(every, device, waves)
    return found


def _of_waves(
    every: Sequence[MeasuredTime], device: str, waves: Mapping[str, float]
) -> dict[str, Any]:
    """Return the errors of the model of waves for the second half of all rows of a device."""
    rows = [
        {"name": row.name, "us": 1e6 * row.seconds}
        for row in every
        if row.device == device and half_of(row.name) == 1
    ]
    return _by_class(rows, waves)


def stored_rows(data: str) -> list[Row]:
    """Return the stored rows of a data set."""
    path = FOLDER / f"{data}.json"
    return json.loads(path.read_text())["rows"] if path.is_file() else []


def _keep(data: str, rows: Sequence[Row]) -> None:
    lines = ",\n".join(json.dumps(row) for row in rows)
    write_text(str(FOLDER / f"{data}.json"), f'{{"rows": [\n{lines}\n]}}\n')


def line_of(name: str, model: str, found: Mapping[str, Any]) -> str:
    """Return a line of text with the errors of one model."""
    parts = [
        f"{label} ({e['rows']}): mean {100 * e['mean']:.1f} %, median {100 * e['median']:.1f} %, "
        f"p90 {100 * e['p90']:.0f} %, ratio {e['ratio']:.2f}, rank {e['rank']:.2f}"
        for label, e in found.items()
        if label != "constants"
    ]
    return f"{name:<24} {model:<15} {'; '.join(parts)}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Compare some rows, or print the errors of all stored ones and write them to a file."""
    parser = argparse.ArgumentParser(description="Compare the clock with measured times.")
    parser.add_argument(
        "--measured", type=Path, default=Path("measured"), help="folder of the CSVs"
    )
    parser.add_argument("--data", choices=DATA, help="data set to compare rows of")
    parser.add_argument("--limit", type=int, default=10, help="number of rows to compare")
    parser.add_argument("--summary", action="store_true", help="print and write errors")
    args = parser.parse_args(arguments)
    FOLDER.mkdir(parents=True, exist_ok=True)
    if args.data:
        rows = stored_rows(args.data)
        for row in slice_of(args.data, args.measured, rows, args.limit):
            rows.append(row)
            print(json.dumps(row), flush=True)
            _keep(args.data, rows)
    if args.summary:
        found = summaries(args.measured)
        for name, models in found.items():
            for model, errors in models.items():
                print(line_of(name, model, errors) if name != "regret" else f"{model}: {errors}")
        write_text(str(FOLDER / "errors.json"), json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
