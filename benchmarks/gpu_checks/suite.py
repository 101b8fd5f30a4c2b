# SPDX-License-Identifier: Apache-2.0
"""
Last stages: races against PyTorch by `tilewright bench`, case by case. `race` runs a dozen
programs, one of each kind; whole suites follow while time remains.
"""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, NamedTuple

from gpu_checks.outcome import Outcome, missing, right, wrong
from gpu_checks.places import ROOT
from tilewright.tools.bench.suite import Case, read_cases
from tilewright.tools.bench.summary import AGAINST

RACE = (
    "matmul.tinyllama.q_proj.s32",
    "matmul.qwen.gate_proj.s128",
    "matmul.qwen.q_proj.s512",
    "matmul_add.tinyllama.down_proj.s128",
    "silu_mul_matmul.tinyllama.s512",
    "rmsnorm.qwen.s512",
    "softmax.tinyllama.s512",
    "silu_mul.qwen.s512",
    "sdpa.tinyllama.s512",
    "sdpa.qwen.s128",
    "naive_attn.qwen.s512",
    "naive_attn.tinyllama.s128",
)
"""Names of the cases of suite84 that the stage `race` measures."""


class Suite(NamedTuple):
    """File of cases, with the cases to race."""

    name: str
    """Name of the stage that races this file."""
    stem: str
    """Stem of the suite's file, and of the file of results, which `bench` writes and continues."""
    share: float = 1.0
    """Share of the remaining time after which no further case begins."""
    only: tuple[str, ...] = ()
    """Names of the cases to race; all cases if it is empty."""
    limit_s: float = 60.0
    """Seconds without a reply after which a case is killed."""

    @property
    def path(self) -> Path:
        """Path of the suite's file."""
        return ROOT / "benchmarks" / f"{self.stem}.json"

    @property
    def names(self) -> list[str]:
        """Names of the cases to race."""
        names = [case.name for case in read_cases(self.path)]
        return [name for name in names if not self.only or name in self.only]


DOZEN = Suite("race", "suite84", 0.6, RACE)
WHOLE = (
    Suite("suite", "suite84"),
    Suite("half", "suite-half"),
    # reference results of gigabytes are computed in float64 on the host
    Suite("level1", "kernelbench-level1", limit_s=240.0),
)
SUITES = (DOZEN, *WHOLE)


def case_named(item: str) -> Case:
    """Return the case of an item `STEM/CASE`."""
    stem, _, name = item.partition("/")
    path = ROOT / "benchmarks" / f"{stem}.json"
    return next(case for case in read_cases(path) if case.name == name)


_LAST_CASE_S = 45.0
"""Time in seconds that a started case may take."""
_GRACE_S = 5.0
_NO_REFERENCE = ("(capturing)", "(comparing)", "computing the expected results takes")
"""
Parts of messages which mean that no reference was computed, because that takes too much time or
memory.
"""


class Raced(NamedTuple):
    """Outcomes of a race by case, and the number of cases that are not measured yet."""

    done: dict[str, Outcome]
    left: int


def race(suite: Suite, out: Path, backends: str, seconds: float, retry: bool) -> Raced:
    """
    Measure cases for `seconds`; return the outcomes so far. Cases with results in `out` are not
    measured again.
    """
    results = out.resolve() / f"{suite.stem}.json"
    stop = suite.share * seconds - _LAST_CASE_S
    if stop > 0 and (retry or outcomes(suite, results).left):
        with (out / f"{suite.name}.txt").open("w") as table:
            run_for(seconds, command(suite, results, backends, stop, retry), table)
    return outcomes(suite, results)


def run_for(seconds: float, words: Sequence[str], stdout: IO[str]) -> None:
    """Run a command; if it takes too long, interrupt it, so that it can end its workers."""
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
    Start and return a process that reacts to interrupts, even if this process ignores them, as a
    background job of a shell does. It runs in the repository's folder, where Python finds our
    packages.
    """
    ours = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(words, stdout=stdout, cwd=ROOT)
    finally:
        signal.signal(signal.SIGINT, ours)


def command(suite: Suite, results: Path, backends: str, stop: float, retry: bool) -> list[str]:
    """Return the command that measures the cases, and starts no case after `stop` seconds."""
    plot = ["--plot", str(results.with_suffix(".png"))] if find_spec("matplotlib") else []
    times = ["--limit", f"{suite.limit_s:g}", "--stop-after", f"{stop:.0f}"]
    given = [str(suite.path), "--json", str(results), "--backends", backends, *times, *plot]
    some = ["--filter", f"^({'|'.join(map(re.escape, suite.only))})$"] if suite.only else []
    again = ["--retry"] if retry else []
    return [sys.executable, "-m", "tilewright.tools.cli", "bench", *given, *some, *again]


def outcomes(suite: Suite, results: Path) -> Raced:
    """Return the outcomes in the file of results, and the number of cases that are not in it."""
    stored: dict[str, Any] = json.loads(results.read_text()) if results.exists() else {"cases": []}
    rows = {str(row["name"]): _outcome(row) for row in stored["cases"]}
    names = suite.names
    done = {name: rows[name] for name in names if name in rows}
    return Raced(done, len(names) - len(done))


def _outcome(row: dict[str, Any]) -> Outcome:
    if problem := row["problem"]:
        return (missing if any(text in problem for text in _NO_REFERENCE) else wrong)(problem)
    figures = {key: row[key] for key in ("us", "floor_us", *AGAINST)}
    parts = [f"{row['us']:.2f} us"]
    parts += [f"{row[key]:.2f}x {peer}" for key, peer in AGAINST.items() if row[key] is not None]
    if row["roofline"] is not None:
        parts.append(f"{100 * row['roofline']:.0f} % of the roofline")
    return right(", ".join(parts), **figures)
