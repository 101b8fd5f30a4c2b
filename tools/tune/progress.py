# SPDX-License-Identifier: Apache-2.0
"""Progress of tuning on stderr: a bar on a terminal; with `-v` a line for each schedule."""

import sys
import time
from contextlib import AbstractContextManager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from tilewright.tools.output.terminal import console
from tilewright.tools.tune.differences import differences
from tilewright.tools.tune.findings import Findings
from tilewright.tuning.measurement import Measurement


class TuningProgress(AbstractContextManager["TuningProgress"]):
    """Progress bar that shows the best time so far."""

    def __init__(self, color: str, is_verbose: bool, rounds: int):
        self._out: Console = console(color, sys.stderr)
        self._is_verbose = is_verbose
        self._rounds = rounds
        self._budget: int | float = 0
        self._begun = 0
        self._began = 0.0
        self._task: TaskID | None = None
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[says]}", markup=False),
            TimeElapsedColumn(),
            console=self._out,
            transient=True,
            disable=not self._out.is_terminal,
        )

    def __enter__(self) -> "TuningProgress":
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def extend(self, rounds: int) -> None:
        """Add kernels or programs to the total number of rounds."""
        self._rounds += rounds

    def begin(self, kernel: str, budget: int | float) -> None:
        """
        Start a kernel or program; `budget` is a number of schedules, or seconds if it is a float.
        """
        if self._task is not None:
            self._bar.remove_task(self._task)
        self._begun += 1
        self._budget = budget
        self._began = time.monotonic()
        title = f"{self._begun}/{self._rounds} {kernel}"
        self._task = self._bar.add_task(title, total=budget, says="")
        if self._is_verbose:
            self._out.print(title, markup=False)

    def show(self, found: Findings, latest: Measurement) -> None:
        """Show the measurement of a schedule."""
        seconds = time.monotonic() - self._began
        done = found.measured if isinstance(self._budget, int) else seconds
        rate = found.measured / seconds if seconds else 0.0
        assert self._task is not None
        says = f"best {_best(found)}, {found.measured} tried, {rate:.1f}/s"
        self._bar.update(self._task, completed=done, says=says)
        if self._is_verbose:
            self._out.print(_line(found, latest), markup=False, soft_wrap=True)


def _best(found: Findings) -> str:
    best, speedup = found.best, found.speedup
    if best is None:
        return "-"
    return f"{best.us:.2f} us" + ("" if speedup is None else f" ({speedup:.2f}x)")


def _line(found: Findings, latest: Measurement) -> str:
    came = latest.problem if latest.us is None else f"{latest.us:.2f} us"
    default = found.default
    assert default is not None
    other = differences(latest.schedule, default.schedule) or "the default"
    return f"  {len(found.measurements)}: {came} (best {_best(found)}): {other}"
