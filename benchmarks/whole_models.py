# SPDX-License-Identifier: Apache-2.0
"""
Cost of `tilewright compile MODEL -o DIR`, for TinyLlama and Qwen2.5-7B with 128 tokens:

    python benchmarks/whole_models.py
    python benchmarks/whole_models.py --only tinyllama --layers 2 --json results.json

Each model is compiled in a process of its own; its CPU seconds count from the start and include
imports. Neither weights nor a network are needed.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from typing import Any

from measure import environment, figures_table, write_json
from rich.console import Console
from rich.table import Table

from tilewright.models.config import BUNDLED
from tilewright.tools.cli import parser as command_line

TOKENS = 128
FEW = 2
"""
Number of layers of a second, smaller model; it has the same kernels if equal layers share them.
"""


@dataclass(frozen=True)
class Measured:
    """Cost and size of a compiled model."""

    model: str
    layers: int
    stages: dict[str, float]
    """CPU seconds of each stage, in order; the first one includes everything before it."""
    peak_mib: float
    """Peak memory of the process, in MiB."""
    kernels: int
    launches: int
    slab_bytes: int
    kernels_of_few_layers: int

    @property
    def cuda_s(self) -> float:
        """CPU seconds up to CUDA text, without NVRTC."""
        return self.total_s - self.stages["NVRTC"]

    @property
    def total_s(self) -> float:
        """CPU seconds of all stages."""
        return sum(self.stages.values())


def compile_here(model: str, folder: str, layers: str) -> dict[str, Any]:
    """Compile a model in this process; return the seconds of its stages, and the peak memory."""
    from tilewright.tools.commands.folder import write_model
    from tilewright.tools.input.source import ModelSource, source_of

    begun: dict[str, float] = {}

    def begin(stage: str) -> None:
        begun[stage] = _cpu_seconds() if begun else 0.0

    options = ["--layers", layers] if layers else []
    command = ["compile", model, "--seq-len", str(TOKENS), *options, "-o", folder]
    args = command_line().parse_args([*command, "--no-db"])
    source = source_of(args)
    assert isinstance(source, ModelSource)
    write_model(source, args, "sm_90a", begin)
    spans = (end - start for start, end in pairwise([*begun.values(), _cpu_seconds()]))
    stages = dict(zip(begun, spans, strict=True))
    return {"stages": stages, "peak_mib": getrusage(RUSAGE_SELF).ru_maxrss / 1024}


def _cpu_seconds() -> float:
    used = getrusage(RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def compiled(model: str, layers: str = "") -> tuple[dict[str, Any], dict[str, Any]]:
    """Compile a model in a process of its own; return the cost and the manifest."""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary) / "compiled"
        command = [sys.executable, __file__, "--child", model, str(folder), layers]
        settings = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": temporary}
        ended = subprocess.run(command, stdout=subprocess.PIPE, env=settings, check=True)
        return json.loads(ended.stdout), json.loads((folder / "manifest.json").read_text())


def measure(model: str, layers: str) -> Measured:
    """Compile a model, and the same model with only a few layers; return the measurements."""
    cost, manifest = compiled(model, layers)
    few = compiled(model, str(FEW))[1]
    return Measured(
        model,
        manifest["layers"],
        **cost,
        kernels=len(manifest["kernels"]),
        launches=len(manifest["launches"]),
        slab_bytes=manifest["slab_bytes"],
        kernels_of_few_layers=len(few["kernels"]),
    )


def table(rows: Sequence[Measured]) -> Table:
    """Return a table with a line for each model."""
    columns = ("to CUDA", "with NVRTC", "peak", "launches", "kernels", f"of {FEW} layers")
    shown = figures_table(f"{TOKENS} tokens, CPU seconds and MiB", "model", columns)
    for row in rows:
        figures = (f"{row.cuda_s:.1f}", f"{row.total_s:.1f}", f"{row.peak_mib:.0f}")
        counts = map(str, (row.launches, row.kernels, row.kernels_of_few_layers))
        shown.add_row(row.model, *figures, *counts)
    return shown


def commit() -> str:
    """Return the hash of the current Git commit of this checkout."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def main(argv: Sequence[str] | None = None) -> None:
    """Measure the models, print the costs, and write the file of `--json`."""
    parser = argparse.ArgumentParser(description="Measure what compiling whole models costs.")
    parser.add_argument("--only", default="", metavar="TEXT", help="models with TEXT in the name")
    parser.add_argument("--layers", default="", metavar="N", help="only the first N layers")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures to FILE")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.child:
        print(json.dumps(compile_here(*args.child)))
        return
    names = [name for name in BUNDLED if args.only in name.lower()]
    rows = [measure(name, args.layers) for name in names]
    Console(width=100).print(table(rows))
    if args.json is not None:
        found = {"environment": {**environment(), "commit": commit()}, "tokens": TOKENS}
        write_json(args.json, {**found, "models": [asdict(row) for row in rows]})


if __name__ == "__main__":
    main()
