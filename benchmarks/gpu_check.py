# SPDX-License-Identifier: Apache-2.0
"""
All that a machine with a GPU can tell of Tilewright, by one command:

    python benchmarks/gpu_check.py                      all of it, within ten minutes
    python benchmarks/gpu_check.py --stages environment,drivers
    python benchmarks/gpu_check.py --device simulator   what can be seen without a GPU

What was found goes to `benchmarks/results/GPU/`, or to `--out`; what is there already, of the same
sources, is not done again: the same command goes on where time was up. Exit code 0: all is right.
1: something is wrong. 2: the command line cannot be understood. 3: nothing is wrong so far, and
something is left. docs/benchmarking.md says more.
"""

import argparse
import os
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from time import monotonic

from rich.markup import escape

_HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(_HERE), str(_HERE.parent)]

from gpu_checks import suite  # noqa: E402
from gpu_checks.device import DEVICES, Device  # noqa: E402
from gpu_checks.outcome import Verdict, missing  # noqa: E402
from gpu_checks.record import Record, state  # noqa: E402
from gpu_checks.run import Runner  # noqa: E402
from gpu_checks.stage import STAGES, stage_named  # noqa: E402

from tilewright.codegen.gpu import present_gpu  # noqa: E402
from tilewright.errors import TilewrightError, UsageError  # noqa: E402
from tilewright.tools.terminal import console, show, table  # noqa: E402

NAMES = (*(stage.name for stage in STAGES), suite.NAME)
FILE = "check.json"


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code for the arguments `argv`, by default those of the process."""
    args = parser().parse_args(argv)
    device = Device(args.device)
    try:
        if args.work is not None:
            from gpu_checks import worker

            return worker.main(stage_named(args.work), device)
        if args.launch is not None:
            from gpu_checks.launched import launch

            return launch(device, args.launch)
        return _check(device, args)
    except TilewrightError as err:
        print(f"error: {err}", file=sys.stderr)
        return 2 if args.work is None and args.launch is None else 1


def _check(device: Device, args: argparse.Namespace) -> int:
    deadline = monotonic() + args.seconds
    gpu = present_gpu() if device.is_gpu else None
    name = gpu.name if gpu else device.name
    if args.only and not _has_checks(device, args.stages, args.only):
        raise UsageError(f"no check of these stages has '{args.only}' in its name")
    out = args.out or _HERE / "results" / _file_name(name)
    out.mkdir(parents=True, exist_ok=True)
    record = Record(out / FILE, {"device": device.name, "gpu": name, "sources": state()})
    record.take((args.resume or out) / FILE)
    runner = Runner(device, record, deadline, args.jobs, _tell, args.only, args.retry)
    left = Counter[str]()
    for stage in STAGES:
        if stage.name not in args.stages:
            continue
        if device.is_gpu and gpu is None and stage.needs_gpu:
            record.add(stage.name, "*", missing("there is no GPU"))
            continue
        left[stage.name] = runner.run(stage)
    if suite.NAME in args.stages and gpu is not None:
        left[suite.NAME] = _race(record, out, args, runner.left_s)
    _print(record, +left, out)
    if any(outcome.verdict is Verdict.WRONG for _, _, outcome in record):
        return 1
    return 3 if +left or (device.is_gpu and gpu is None) else 0


def _has_checks(device: Device, stages: Sequence[str], only: str) -> bool:
    """Whether any of the stages, but the race, has a check with this in its name."""
    asked = (stage for stage in STAGES if stage.name in stages)
    return any(only in item for stage in asked for item in stage.items(device))


def _tell(line: str) -> None:
    print(line, flush=True)


def _race(record: Record, out: Path, args: argparse.Namespace, seconds: float) -> int:
    """The race; how many cases are left."""
    if args.resume is not None:
        before = args.resume / "suite84.json"
        if before.exists() and not (out / before.name).exists():
            (out / before.name).write_bytes(before.read_bytes())
    raced = suite.race(out, args.backends, seconds, args.retry)
    for case, outcome in raced.done.items():
        record.add(suite.NAME, case, outcome)
    return raced.left


def _print(record: Record, left: Counter[str], out: Path) -> None:
    """All checks to a file, what is not right and the sums to the terminal; the worst first."""
    order = [Verdict.WRONG, Verdict.MISSING, Verdict.RIGHT]
    found = sorted(record, key=lambda row: order.index(row[2].verdict))
    head = ("stage", "check", "verdict", "seconds", "")
    everything, notable = (table(*head, numbers=["seconds"]) for _ in range(2))
    for stage, item, outcome in found:
        row = (
            stage,
            item,
            outcome.verdict,
            f"{outcome.seconds:.1f}",
            escape(" ".join(outcome.says.split())),
        )
        everything.add_row(*row)
        if outcome.verdict is not Verdict.RIGHT or stage == "environment":
            notable.add_row(*row)
    with (out / "check.txt").open("w") as file:
        show(console("never", file), everything)
    terminal = console("auto", sys.stdout)
    terminal.print()
    show(terminal, notable)
    terminal.print()
    sums = table("stage", *order, "left", numbers=[*order, "left"])
    for stage in NAMES:
        counts = Counter(outcome.verdict for at, _, outcome in record if at == stage)
        if counts or left[stage]:
            sums.add_row(stage, *(str(counts[v]) for v in order), str(left[stage]))
    show(terminal, sums)
    if left:
        terminal.print("\nthe same command goes on with what is left")


def _file_name(gpu: str) -> str:
    """`NVIDIA H100 80GB HBM3` as `nvidia-h100-80gb-hbm3`."""
    return re.sub(r"[^a-z0-9]+", "-", gpu.lower()).strip("-")


def parser() -> argparse.ArgumentParser:
    """The options; those that workers are started with are not told."""
    options = argparse.ArgumentParser(description=str(__doc__).partition("\n\n")[0])
    add = options.add_argument
    add("--seconds", type=_seconds, default=570.0, help="to take at most; default: 570")
    add("--stages", type=_stages, default=NAMES, help=f"of {', '.join(NAMES)}; default: all")
    add("--only", metavar="TEXT", default="", help="checks with TEXT in their name")
    add("--out", type=Path, help="the folder for what is found")
    add("--resume", type=Path, help="a folder with what an earlier call has found")
    add("--retry", action="store_true", help="do again what was not right")
    add("--device", choices=DEVICES, default="gpu", help="where kernels run; default: gpu")
    add("--backends", default="eager,compile", help="whom the suite is compared with")
    jobs = max(1, (os.cpu_count() or 2) // 2)
    add("--jobs", type=_jobs, default=jobs, help=f"checks at a time, at most; default: {jobs}")
    add("--work", choices=[stage.name for stage in STAGES], help=argparse.SUPPRESS)
    add("--launch", nargs="+", metavar="NAME", help=argparse.SUPPRESS)
    return options


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is no number of seconds")
    return value


def _jobs(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"'{text}' is no number of jobs")
    return int(text)


def _stages(text: str) -> list[str]:
    names = text.split(",")
    if unknown := [name for name in names if name not in NAMES]:
        raise argparse.ArgumentTypeError(f"no stage '{unknown[0]}'; there are {', '.join(NAMES)}")
    return names


if __name__ == "__main__":
    raise SystemExit(main())
