# SPDX-License-Identifier: Apache-2.0
"""The last stage, `suite`: the race against PyTorch by `tilewright bench`, case by case."""

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, NamedTuple

from gpu_checks.outcome import Outcome, right, wrong
from gpu_checks.places import ROOT, SUITE
from tilewright.tools.bench.summary import AGAINST
from tilewright.tools.suite import read_cases

NAME = "suite"
FILE = "suite84.json"
"""What `bench` writes, and goes on with."""
_LAST_CASE_S = 45.0
"""A case that has begun may take so long."""
_CASE_LIMIT_S = 60.0
_GRACE_S = 5.0


class Raced(NamedTuple):
    """How far the race has come."""

    done: dict[str, Outcome]
    left: int


def race(out: Path, backends: str, seconds: float, retry: bool) -> Raced:
    """Measure cases for some time; what `suite84.json` in `out` has is not measured again."""
    results = out.resolve() / FILE
    stop = seconds - _LAST_CASE_S
    if stop > 0 and (retry or outcomes(results).left):
        with (out / "suite84.txt").open("w") as table:
            run_for(seconds, command(results, backends, stop, retry), table)
    return outcomes(results)


def run_for(seconds: float, words: Sequence[str], stdout: IO[str]) -> None:
    """Run a command; one that takes too long is interrupted, so that it can end its workers."""
    process = _interruptible(words, stdout)
    try:
        process.wait(max(0.0, seconds - _GRACE_S))
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _interruptible(words: Sequence[str], stdout: IO[str]) -> subprocess.Popen[bytes]:
    """
    A process that minds interrupts, even if we do not, whom a shell runs in the background. It runs
    in our folder, where Python finds our packages.
    """
    ours = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(words, stdout=stdout, cwd=ROOT)
    finally:
        signal.signal(signal.SIGINT, ours)


def command(results: Path, backends: str, stop: float, retry: bool) -> list[str]:
    """What measures; it begins no case after `stop` seconds."""
    plot = ["--plot", str(results.with_suffix(".png"))] if find_spec("matplotlib") else []
    times = ["--limit", f"{_CASE_LIMIT_S:g}", "--stop-after", f"{stop:.0f}"]
    given = [str(SUITE), "--json", str(results), "--backends", backends, *times, *plot]
    again = ["--retry"] if retry else []
    return [sys.executable, "-m", "tilewright.tools.cli", "bench", *given, *again]


def outcomes(results: Path) -> Raced:
    """An outcome for each case that was measured."""
    names = [case.name for case in read_cases(SUITE)]
    stored: dict[str, Any] = json.loads(results.read_text()) if results.exists() else {"cases": []}
    rows = {str(row["name"]): _outcome(row) for row in stored["cases"]}
    done = {name: rows[name] for name in names if name in rows}
    return Raced(done, len(names) - len(done))


def _outcome(row: dict[str, Any]) -> Outcome:
    if row["problem"]:
        return wrong(row["problem"])
    told = [f"{row['us']:.2f} us"]
    told += [f"{row[key]:.2f}x {whom}" for key, whom in AGAINST.items() if row[key] is not None]
    if row["roofline"] is not None:
        told.append(f"{100 * row['roofline']:.0f} % of the roofline")
    return right(", ".join(told))
