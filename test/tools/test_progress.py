# SPDX-License-Identifier: Apache-2.0
"""What takes long says where it is: on a terminal as a bar, elsewhere not at all."""

import sys
from io import StringIO
from pathlib import Path

import pytest

from tilewright.passes.levels import Level
from tilewright.passes.lowering import lower
from tilewright.tools.mlir_source import read_module
from tilewright.tools.progress import lower_telling, progress

PROGRAM = str(Path(__file__).parents[2] / "examples" / "relu_matmul.mlir")


class Terminal(StringIO):
    """Takes what a terminal would show."""

    def isatty(self) -> bool:
        """It is one."""
        return True


def test_levels_are_told_in_order_and_give_what_lower_gives():
    module = read_module(PROGRAM)
    told: list[str] = []
    lowered = lower_telling(module, Level.KERNEL, "sm_90a", told.append)
    assert told == ["tensor IR", "loop IR", "tile IR", "kernel IR"]
    assert str(lowered) == str(lower(module, Level.KERNEL, target="sm_90a"))
    told.clear()
    lower_telling(lowered, Level.CUDA, "sm_90a", told.append)
    assert told == ["cuda IR"]


def test_a_terminal_shows_the_stage(monkeypatch: pytest.MonkeyPatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress("always", stages=2) as say:
        say("config")
        say("capture")
    assert "capture" in terminal.getvalue()


def test_a_terminal_shows_nothing_of_what_is_quick(monkeypatch: pytest.MonkeyPatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress("always", stages=2, is_shown=False) as say:
        say("config")
    assert "config" not in terminal.getvalue()


def test_nothing_else_shows_it(monkeypatch: pytest.MonkeyPatch):
    file = StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    with progress("auto", stages=2) as say:
        say("config")
    assert file.getvalue() == ""
