# SPDX-License-Identifier: Apache-2.0
"""An interruption ends a command quietly at any time."""

import sys
from collections.abc import Callable

import pytest

from tilewright.tools import cli, entry, opt_tool

COMMANDS = [entry.tilewright, entry.opt_tool]


def interrupted(*args: object) -> int:
    raise KeyboardInterrupt


@pytest.mark.parametrize("command", COMMANDS)
def test_an_interruption_while_modules_are_imported(
    command: Callable[[], int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setattr(entry, "import_module", interrupted)
    assert command() == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_an_interruption_while_the_command_runs(
    command: Callable[[], int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setattr(sys, "argv", ["opt-tool", "-"])
    monkeypatch.setattr(opt_tool.OptTool, "run", interrupted)
    monkeypatch.setattr(cli, "_run", interrupted)
    monkeypatch.setattr(opt_tool, "limit_memory", int)
    assert command() == 130
    assert capsys.readouterr() == ("", "")


def test_the_exit_code_is_that_of_the_command(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(cli, "main", lambda: 2)
    assert entry.tilewright() == 2
