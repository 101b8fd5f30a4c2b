# SPDX-License-Identifier: Apache-2.0
"""
Time that the compiler takes, and memory that its plans need:

    python benchmarks/compile_time.py                       # suite84 and decoder layers, to Loop IR
    python benchmarks/compile_time.py --to cuda --json results.json
    python benchmarks/compile_time.py --only rmsnorm
    python benchmarks/compile_time.py --to cuda --profile profile.txt    # passes and functions
    python benchmarks/compile_time.py --to cuda --base ../before    # ratios to another checkout

Times are CPU seconds of one process, without NVRTC; at CUDA level they include writing the text.
Modules are imported before. Nothing is allocated, because tensors are fake.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from compile_profile import profile
from compile_ratios import compare, table_of_ratios
from measure import Measured, environment, figures_table, lowered, measure, write_json
from rich.console import Console
from rich.table import Table
from suite84 import DATA
from torch import empty
from torch.nn import Softmax

import tilewright
from tilewright.models.block import decoder_block
from tilewright.models.config import find_model
from tilewright.passes.driver.lowering import level_named
from tilewright.tools.bench.block_case import SHORT
from tilewright.tools.bench.suite import read_cases
from tilewright.tools.output.output_path import write_text

MODELS = {"tinyllama": SHORT["tinyllama"], "qwen": SHORT["qwen2.5-7b"]}
TOKENS = 512
LAYERS = {"tinyllama": 22, "qwen": 28}
"""Number of decoder layers of each model."""


def suite(only: str, level: str, repeat: int) -> Iterator[Measured]:
    """Yield the measured cases of suite84."""
    for case in read_cases(DATA, only):
        yield measure(case.name, case.program(fake=True), level, repeat)


def layers(only: str, level: str, repeat: int) -> Iterator[Measured]:
    """Yield the measured programs of one decoder layer, and of all layers, for each model."""
    for model, number in ((model, n) for model in MODELS for n in (1, LAYERS[model])):
        name = f"decoder.{model}.x{number}.s{TOKENS}"
        if only in name:
            config = find_model(MODELS[model]).config
            block = decoder_block(config, TOKENS, dtype="float32", layers=number)
            yield measure(name, block, level, repeat)


def table(title: str, rows: Sequence[Measured]) -> Table:
    """Return a table with a line for each program, and the sum of their seconds."""
    columns = ("capture", "lower", "kernels", "launches", "peak KiB", "sum KiB")
    shown = figures_table(title, "program", columns)
    for row in rows:
        shown.add_row(
            row.name,
            f"{row.capture_s:.2f}",
            f"{row.lower_s:.3f}",
            str(row.kernels),
            str(row.launches),
            f"{row.peak_bytes / 1024:.0f}",
            f"{row.sum_bytes / 1024:.0f}",
        )
    shown.add_section()
    seconds = (sum(row.capture_s for row in rows), sum(row.lower_s for row in rows))
    shown.add_row(f"{len(rows)} programs", f"{seconds[0]:.2f}", f"{seconds[1]:.3f}")
    return shown


def ratios(rows: Sequence[Measured]) -> dict[str, float]:
    """Return the ratio of the lowering times of all layers and of one layer, by model."""
    seconds = {row.name: row.lower_s for row in rows}
    found: dict[str, float] = {}
    for model in MODELS:
        one, many = (f"decoder.{model}.x{number}.s{TOKENS}" for number in (1, LAYERS[model]))
        if one in seconds and many in seconds:
            found[model] = seconds[many] / seconds[one]
    return found


def report(rows: dict[str, list[Measured]], level: str) -> dict[str, object]:
    """Return all measurements as the content of a JSON file."""
    return {
        "environment": environment(),
        "level": level,
        "ratio_of_layers": ratios(rows["layers"]),
        **{
            part: {
                "capture_s": sum(row.capture_s for row in measured),
                "lower_s": sum(row.lower_s for row in measured),
                "programs": [asdict(row) for row in measured],
            }
            for part, measured in rows.items()
        },
    }


def main(argv: Sequence[str] | None = None) -> None:
    """Measure the times, print them, and write the files that the options name."""
    parser = argparse.ArgumentParser(description="Measure how long the compiler takes.")
    parser.add_argument("--to", default="loop", metavar="LEVEL", help="loop (default) ... cuda")
    parser.add_argument("--only", default="", metavar="TEXT", help="programs with TEXT in the name")
    parser.add_argument(
        "--repeat", type=int, default=3, help="rounds, of which the fastest counts (3)"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    parser.add_argument(
        "--profile",
        type=Path,
        metavar="FILE",
        help="only write a profile of suite84 to FILE, by passes and functions",
    )
    parser.add_argument(
        "--base",
        type=Path,
        metavar="DIR",
        help="only print the times of the checkout DIR and the ratios to them",
    )
    args = parser.parse_args(argv)
    if args.base is not None:
        given = ["--to", args.to, "--only", args.only]
        rows = compare(args.base.resolve(), given, args.repeat)
        Console(width=100).print(table_of_ratios(rows))
        if args.json is not None:
            content = {"environment": environment(), "level": args.to, "programs": rows}
            write_json(args.json, content)
        return

    lowered(tilewright.capture(Softmax(-1), empty(4, 8)), "cuda")  # imports modules first
    if args.profile is not None:
        captured = [
            tilewright.capture(c.function, *c.inputs()) for c in read_cases(DATA, args.only)
        ]
        write_text(str(args.profile), profile(captured, level_named(args.to)))
        return
    given = args.only, args.to, args.repeat
    rows = {"suite84": [*suite(*given)], "layers": [*layers(*given)]}
    console = Console(width=100)
    for part, measured in rows.items():
        if measured:
            console.print(table(f"{part}: Torch IR to {args.to}", measured))
    for model, ratio in ratios(rows["layers"]).items():
        console.print(f"{LAYERS[model]} layers of {model} take {ratio:.2f}x the time of one")
    if args.json is not None:
        write_json(args.json, report(rows, args.to))


if __name__ == "__main__":
    main()
