# SPDX-License-Identifier: Apache-2.0
"""
Command `gpu_check.py`, which runs the stages; it is also the command of their workers and launches.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from gpu_checks import suite, worker
from gpu_checks.device import Device
from gpu_checks.launched import launch
from gpu_checks.options import parser
from gpu_checks.outcome import Verdict, missing
from gpu_checks.places import RESULTS
from gpu_checks.record import Record, state
from gpu_checks.run import Runner
from gpu_checks.stage import PARTS, STAGES, stage_named
from gpu_checks.suite import Suite
from gpu_checks.tables import print_record
from tilewright.codegen.gpu import present_gpu
from tilewright.errors import TilewrightError, UsageError
from tilewright.tools.toolkit import use_cuda_home

FILE = "check.json"


def main(argv: Sequence[str] | None = None) -> int:
    """
    Run the command with the arguments `argv`, by default those of the process; return the exit
    code.
    """
    args = parser().parse_args(argv)
    use_cuda_home()
    device = Device(args.device)
    try:
        if args.work is not None:
            return worker.main(stage_named(args.work), device)
        if args.launch is not None:
            return launch(device, args.launch)
        return _check(device, args)
    except TilewrightError as err:
        print(f"error: {err}", file=sys.stderr)
        return 2 if args.work is None and args.launch is None else 1
    except KeyboardInterrupt:
        print("interrupted: repeat the command to continue", file=sys.stderr)
        return 130


def _check(device: Device, args: argparse.Namespace) -> int:
    deadline = monotonic() + args.seconds
    gpu = present_gpu() if device.is_gpu else None
    name = gpu.name if gpu else device.name
    if args.only and not _has_checks(device, args.stages, args.only):
        raise UsageError(f"no check of these stages has '{args.only}' in its name")
    out = _folder(args.out or RESULTS / _file_name(name))
    record = Record(out / FILE, {"device": device.name, "gpu": name, "sources": state()})
    before = (args.resume or out) / FILE
    if args.resume is not None and not before.exists():
        print(f"note: there is no '{before}' to resume", file=sys.stderr)
    record.take(before)
    runner = Runner(device, record, deadline, args.jobs, _print_line, args.only, args.retry)
    left = Counter[str]()
    for part in (part for part in PARTS if part.name in args.stages):
        if isinstance(part, Suite):
            if gpu is not None:
                left[part.name] = _race(part, record, out, args, runner.left_s)
        elif device.is_gpu and gpu is None and part.needs_gpu:
            record.add(part.name, "*", missing("there is no GPU"))
        else:
            left[part.name] = runner.run(part)
    print_record(record, +left, out)
    if any(outcome.verdict is Verdict.WRONG for _, _, outcome in record):
        return 1
    return 3 if +left or (device.is_gpu and gpu is None) else 0


def _folder(path: Path) -> Path:
    """
    Return the folder, which is created if it does not exist. Raises `UsageError` if it cannot be.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as err:
        raise UsageError(f"cannot write into '{path}': {err.strerror}") from err
    return path


def _has_checks(device: Device, stages: Sequence[str], only: str) -> bool:
    """True if any of the stages, except races, has a check with `only` in its name."""
    asked = (stage for stage in STAGES if stage.name in stages)
    return any(only in item for stage in asked for item in stage.items(device))


def _print_line(line: str) -> None:
    print(line, flush=True)


def _race(part: Suite, record: Record, out: Path, args: argparse.Namespace, seconds: float) -> int:
    """Run a race, record its outcomes, and return the number of remaining cases."""
    if args.resume is not None:
        before = args.resume / f"{part.stem}.json"
        if before.exists() and not (out / before.name).exists():
            (out / before.name).write_bytes(before.read_bytes())
    raced = suite.race(part, out, args.backends, seconds, args.retry)
    for case, outcome in raced.done.items():
        record.add(part.name, case, outcome)
    return raced.left


def _file_name(gpu: str) -> str:
    """Return a file name for a GPU: `nvidia-h100-80gb-hbm3` for `NVIDIA H100 80GB HBM3`."""
    return re.sub(r"[^a-z0-9]+", "-", gpu.lower()).strip("-")
