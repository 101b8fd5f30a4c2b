# SPDX-License-Identifier: Apache-2.0
"""The options of `gpu_check.py`."""

import argparse
import os
from pathlib import Path

from gpu_checks.device import DEVICES
from gpu_checks.stage import PARTS, STAGES
from tilewright.tools.options.numbers import positive, seconds

NAMES = tuple(part.name for part in PARTS)
_WHAT = "All that a machine with a GPU can tell of Tilewright, by one command."


def parser() -> argparse.ArgumentParser:
    """Return the options; those that workers are started with are not told."""
    options = argparse.ArgumentParser(description=_WHAT)
    add = options.add_argument
    add("--seconds", type=seconds, default=570.0, help="to take at most; default: 570")
    add("--stages", type=_stages, default=NAMES, help=f"of {', '.join(NAMES)}; default: all")
    add("--only", metavar="TEXT", default="", help="checks with TEXT in their name")
    add("--out", type=Path, help="the folder for what is found")
    add("--resume", type=Path, help="a folder with what an earlier call has found")
    add("--retry", action="store_true", help="do again what was not right")
    add("--device", choices=DEVICES, default="gpu", help="where kernels run; default: gpu")
    add("--backends", default="eager,compile", help="whom the suite is compared with")
    jobs = max(1, (os.cpu_count() or 2) // 2)
    add(
        "--jobs",
        type=positive("number of jobs"),
        default=jobs,
        help=f"checks at a time, at most; default: {jobs}",
    )
    add("--work", choices=[stage.name for stage in STAGES], help=argparse.SUPPRESS)
    add("--launch", nargs="+", metavar="NAME", help=argparse.SUPPRESS)
    return options


def _stages(text: str) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in NAMES]:
        raise argparse.ArgumentTypeError(f"no stage '{unknown[0]}'; there are {', '.join(NAMES)}")
    return names
