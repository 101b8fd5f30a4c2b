# SPDX-License-Identifier: Apache-2.0
"""
Progress line: the current stage of a command that prints nothing, and the elapsed time.

    ⠹ run kernels: simulate lstm_cell, launch 12 of 284  0:00:42

If stderr is a terminal, the line appears there after two seconds without output. It is erased
before the next output and at the end.
"""

import os
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from threading import Event, RLock, Thread
from time import monotonic
from typing import Any, TextIO, cast

from rich.console import Console
from rich.control import Control
from rich.segment import ControlType
from rich.spinner import Spinner
from rich.text import Text
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilewright.passes.driver.levels import LEVELS, Level, level_of
from tilewright.passes.driver.lowering import context, lower, passes_between
from tilewright.passes.driver.manager import PassManager
from tilewright.stages import reporting_stages, stage
from tilewright.tools.output.terminal import console

ReportStage = Callable[[str], None]
"""
Function that is called with the name of each stage when it begins; this ends the previous stage.
"""

DELAY = 2.0
"""Seconds without output after which the line appears."""

TICK = 0.2
"""Seconds between two updates of the line."""

_SHOWN = 2
"""Number of stages in the line: the innermost stage, and the stage that it is part of."""

_ERASED = Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2))


def ignore_stage(stage: str) -> None:
    """Ignore the stage: callback for callers without progress output."""


class ProgressLine:
    """Progress line with its stack of stages, drawn by a thread of its own."""

    def __init__(self, out: Console):
        self._out = out
        self._lock = RLock()
        self._stages: list[str] = []
        self._began = self._last_output = monotonic()
        self._is_drawn, self._is_line_start = False, True
        self._spinner = Spinner("dots")
        self._ended = Event()
        self._process = os.getpid()
        self._thread = Thread(target=self._tick, daemon=True)

    def entered(self, name: str) -> None:
        """Begin a stage."""
        with self._lock:
            self._stages.append(name)

    def left(self) -> None:
        """End the innermost stage."""
        with self._lock:
            self._stages.pop()

    def start(self) -> None:
        """Start the drawing thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop the drawing thread, and erase the line."""
        self._ended.set()
        self._thread.join()
        self._erase()

    def write(self, stream: TextIO, text: str) -> int:
        """
        Erase the line, then write text to a stream that shares the terminal with it; return the
        number of characters.
        """
        if os.getpid() != self._process:  # a fork copies the lock, not the thread
            return stream.write(text)
        with self._lock:
            self._erase()
            self._is_line_start = text.endswith("\n") if text else self._is_line_start
            self._last_output = monotonic()
            return stream.write(text)

    def _tick(self) -> None:
        while not self._ended.wait(TICK):
            with self._lock:
                if self._is_line_start and monotonic() - self._last_output >= DELAY:
                    self._draw()

    def _draw(self) -> None:
        now = monotonic()
        seconds = int(now - self._began)
        elapsed = f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        doing = ": ".join(self._stages[-_SHOWN:]) or "start"
        shown = Text.assemble(cast(Text, self._spinner.render(now)), f" {doing}")
        shown.truncate(max(1, self._out.width - len(elapsed) - 3), overflow="ellipsis")
        shown.append(f"  {elapsed}")
        self._out.control(_ERASED)
        self._out.print(shown, end="", no_wrap=True, crop=False)
        self._out.file.flush()
        self._is_drawn = True

    def _erase(self) -> None:
        if self._is_drawn:
            self._out.control(_ERASED)
            self._out.file.flush()
        self._is_drawn = False


class _SharedStream:
    """Stream of the terminal on which the progress line is erased before each output."""

    def __init__(self, stream: TextIO, line: ProgressLine):
        self._stream, self._line = stream, line

    def write(self, text: str) -> int:
        """
        Erase the progress line, then write text to the stream; return the number of characters.
        """
        return self._line.write(self._stream, text)

    def writelines(self, lines: Any) -> None:
        """Write the lines one by one."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def progress_line(color: str = "auto") -> Generator[None]:
    """Show the stages of a `with` block, if stderr is a terminal that can move its cursor."""
    out, stdout, stderr = console(color, sys.stderr), sys.stdout, sys.stderr
    if not stderr.isatty() or out.is_dumb_terminal:
        yield
        return
    line = ProgressLine(_on_terminal(color, stderr))
    sys.stderr = cast(TextIO, _SharedStream(stderr, line))
    if stdout.isatty():
        sys.stdout = cast(TextIO, _SharedStream(stdout, line))
    line.start()
    try:
        with reporting_stages(line):
            yield
    finally:
        line.stop()
        sys.stdout, sys.stderr = stdout, stderr


def _on_terminal(color: str, stream: TextIO) -> Console:
    """Return a console that can move the cursor, even if it must not use colour."""
    is_plain = color == "never" or (color == "auto" and bool(os.environ.get("NO_COLOR")))
    return Console(file=stream, force_terminal=True, no_color=is_plain, highlight=False)


@contextmanager
def progress() -> Generator[ReportStage]:
    """
    Yield a function that reports a stage, which lasts until the function's next call or the end of
    the block.
    """
    with ExitStack() as current:

        def report_stage(name: str) -> None:
            current.close()
            current.enter_context(stage(name))

        yield report_stage


@dataclass
class _LevelManager(PassManager):
    """Pass manager that begins a stage for each level."""

    begin: Mapping[int, Level] = field(default_factory=dict[int, Level], kw_only=True)
    """Level that follows after a number of passes."""
    report_stage: ReportStage = field(default=ignore_stage, kw_only=True)
    _number: int = field(default=0, init=False)

    def finished(self, step: ModulePass, module: ModuleOp, seconds: float) -> None:
        """Begin the stage of the next level after the last pass of a level."""
        self._number += 1
        if (level := self.begin.get(self._number)) is not None:
            self.report_stage(f"{level} IR")


def lower_by_levels(
    module: ModuleOp, level: Level, target: str, report_stage: ReportStage
) -> ModuleOp:
    """Return `lower(module, level)`, and report each level as a stage."""
    start = level_of(module)
    steps = LEVELS[LEVELS.index(start) + 1 : LEVELS.index(level)] if start is not None else ()
    following = {
        len(passes_between(start, step, target)): after for step, after in pairwise((*steps, level))
    }
    report_stage(f"{next(iter(steps), level)} IR")
    manager = _LevelManager(
        context(), verify_each=False, begin=following, report_stage=report_stage
    )
    return lower(module, level, manager, target)
