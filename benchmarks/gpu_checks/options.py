# SPDX-License-Identifier: Apache-2.0
"""Options of `gpu_check.py`."""

import argparse
import os
from pathlib import Path

from gpu_checks.device import DEVICES
from gpu_checks.stage import PARTS, STAGES
from tilewright.tools.options.numbers import positive, seconds

NAMES = tuple(part.name for part in PARTS)
_WHAT = "Check and measure Tilewright on a machine with a GPU."


def parser() -> argparse.ArgumentParser:
    """Return the parser of `gpu_check.py`; the options for its workers are hidden."""
    options = argparse.ArgumentParser(description=_WHAT)
    add = options.add_argument
    add("--seconds", type=seconds, default=570.0, help="time limit; default: 570")
    add("--stages", type=_stages, default=NAMES, help=f"from {', '.join(NAMES)}; default: all")
    add("--only", metavar="TEXT", default="", help="only checks with TEXT in their name")
    add("--out", type=Path, help="folder for the results")
    add("--resume", type=Path, help="folder with results of an earlier run")
    add("--retry", action="store_true", help="repeat checks that were not right")
    add("--device", choices=DEVICES, default="gpu", help="device of the kernels; default: gpu")
    add("--backends", default="eager,compile", help="PyTorch backends to compare with")
    jobs = max(1, (os.cpu_count() or 2) // 2)
    add(
        "--jobs",
        type=positive("positive number of jobs"),
        default=jobs,
        help=f"maximum number of concurrent checks; default: {jobs}",
    )
    add("--work", choices=[stage.name for stage in STAGES], help=argparse.SUPPRESS)
    add("--launch", nargs="+", metavar="NAME", help=argparse.SUPPRESS)
    return options


def _stages(text: str) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in NAMES]:
        raise argparse.ArgumentTypeError(f"no stage '{unknown[0]}'; there are {', '.join(NAMES)}")
    return names
