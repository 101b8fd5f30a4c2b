# SPDX-License-Identifier: Apache-2.0
"""What takes long says on stderr how far it has come, if that is a terminal."""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from xdsl.dialects.builtin import ModuleOp

from tilewright.passes.levels import LEVELS, Level, level_of
from tilewright.passes.lowering import lower
from tilewright.tools.terminal import console

Say = Callable[[str], None]
"""Told each stage when it begins."""


def silent(stage: str) -> None:
    """Nobody is told."""


@contextmanager
def progress(color: str, stages: int, is_shown: bool = True) -> Generator[Say]:
    """A bar that is full after so many stages, and gone at the end, if it is to be shown at all."""
    bar = Progress(
        BarColumn(),
        TextColumn("{task.description}", markup=False),
        TimeElapsedColumn(),
        console=console(color, sys.stderr),
        transient=True,
        disable=not (is_shown and sys.stderr.isatty()),
    )
    with bar:
        task = bar.add_task("", total=stages)
        yield lambda stage: bar.update(task, description=stage, advance=1)


def lower_telling(module: ModuleOp, level: Level, target: str, say: Say) -> ModuleOp:
    """What `lower` gives, level by level."""
    start = level_of(module)
    steps = LEVELS[LEVELS.index(start) + 1 : LEVELS.index(level)] if start is not None else ()
    for step in steps:
        say(f"{step} IR")
        module = lower(module, step, target=target)
    say(f"{level} IR")
    return lower(module, level, target=target)
