# SPDX-License-Identifier: Apache-2.0
"""
Profile of `run --profile`: NVIDIA's performance counters, kernel by kernel.

Nsight Compute runs a program and replays its kernels. Therefore it gets the same command again,
without benchmarks, and profiles only our kernels. The GPU's clocks stay unchanged. Reference:
Nsight Compute CLI, "Command Line Options".
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from tilewright.errors import TilewrightError
from tilewright.tools.input.source import Source
from tilewright.tools.options.database import database_argv, database_of
from tilewright.tools.toolkit import find_tool

_SECTIONS = (
    *("SpeedOfLight", "ComputeWorkloadAnalysis", "MemoryWorkloadAnalysis"),
    *("LaunchStats", "Occupancy"),
)
_LIMIT_S = 600
_NO_PROFILER = "note: no profile: Nsight Compute (ncu) is neither on the PATH nor in CUDA_HOME"


def print_profile(
    source: Source, args: argparse.Namespace, kernels: Iterable[str], out: Console
) -> None:
    """
    Profile `run` of the program, and print the counters; print a note if Nsight Compute is missing.

    Raises `TilewrightError` if the profiler fails.
    """
    if (ncu := find_tool("ncu")) is None:
        print(_NO_PROFILER, file=sys.stderr)
        return
    with TemporaryDirectory() as folder:
        log = Path(folder, "ncu.txt")
        done = _done([*_profiler(ncu, kernels, log), *_program(source, args)])
        text = log.read_text() if log.exists() else done.stdout + done.stderr
    if done.returncode:
        errors = re.findall(r"==ERROR== (.*)", text) or text.strip().splitlines()[-1:]
        raise TilewrightError(f"Nsight Compute failed: {' '.join(errors) or done.returncode}")
    out.print(text.rstrip(), markup=False, highlight=False, soft_wrap=True)


def _done(command: list[str]) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S)
    except subprocess.TimeoutExpired:
        raise TilewrightError(f"Nsight Compute was killed after {_LIMIT_S} s") from None


def _profiler(ncu: str, kernels: Iterable[str], log: Path) -> list[str]:
    names = "|".join(map(re.escape, sorted(kernels)))
    sections = [word for name in _SECTIONS for word in ("--section", name)]
    chosen = ["--kernel-name", f"regex:^({names})$", "--clock-control", "none", *sections]
    return [ncu, *chosen, "--log-file", str(log)]


def _program(source: Source, args: argparse.Namespace) -> list[str]:
    """Return the command that runs only the kernels of the program."""
    target = [] if args.target is None else ["--target", args.target]
    command = [sys.executable, "-m", "tilewright.tools.cli", "run", "--device", "gpu"]
    db = database_argv(database_of(args))
    return [*command, "--seed", str(args.seed), *target, *db, *source.words]
