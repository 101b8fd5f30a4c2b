# SPDX-License-Identifier: Apache-2.0
"""The command line, as its tests call it."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tilewright.tools import cli


class Result(NamedTuple):
    """Exit code of a command, and its printed texts."""

    code: int
    out: str
    err: str


Tilewright = Callable[..., Result]


@pytest.fixture
def tilewright(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Tilewright:
    """Run the command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*argv: str) -> Result:
        code = cli.main(argv)
        printed = capsys.readouterr()
        return Result(code, printed.out, printed.err)

    return run
