# SPDX-License-Identifier: Apache-2.0
"""Random command lines end with a one-line error, and other ends are found."""

from argparse import Namespace

import command_lines
import pytest

from tilewright.tools.commands import ops


def test_a_few():
    assert command_lines.run(seed=1, count=10)[1] == []


@pytest.mark.usefixtures("every_case")
def test_many():
    assert command_lines.run(seed=4, count=300)[1] == []


def broken(args: Namespace) -> int:
    """Fail as a command with a bug."""
    raise IndexError(args.command)


def odd(args: Namespace) -> int:
    """Return an exit code that no command uses."""
    return 7 + len(args.names)


def test_a_traceback_and_an_exit_code_are_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ops, "run", broken)
    end, problem, _ = command_lines.tried(["tilewright", "ops"])
    assert end == "exit code 1"
    assert problem.startswith("Traceback")
    monkeypatch.setattr(ops, "run", odd)
    assert command_lines.tried(["tilewright", "ops"])[1] == "the exit code is 7"
