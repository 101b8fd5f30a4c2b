# SPDX-License-Identifier: Apache-2.0
"""Where a file cannot be written is told before there is what goes into it."""

import os
from pathlib import Path
from unittest.mock import Mock

import pytest

from tilewright.errors import UsageError
from tilewright.tools.cli import main
from tilewright.tools.output_path import check_path

RELU = ["-c", "torch.relu(torch.ones(4))"]


@pytest.mark.parametrize(
    "command",
    [
        ["run", *RELU, "--json"],
        ["explain", *RELU, "--json"],
        ["compile", *RELU, "--json"],
        ["compile", *RELU, "--plan"],
        ["compile", *RELU, "-o"],
    ],
)
def test_commands_look_before_they_begin(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tilewright.frontend.capture.capture", None)  # which is not come to
    assert main([*command, "none/x.txt"]) == 2
    error = "error: cannot write 'none/x.txt': there is no folder 'none'\n"
    assert capsys.readouterr() == ("", error)


def test_a_folder_that_is_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "access", Mock(return_value=False))
    with pytest.raises(UsageError, match="is read-only"):
        check_path(str(tmp_path / "x.json"))
    check_path("/dev/null")  # in whose folder nothing is made


def test_a_file_is_written_over_where_none_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def access(path: Path, mode: int) -> bool:
        return path == tmp_path / "open"

    for name in ("open", "closed"):
        (tmp_path / name).write_text("")
    monkeypatch.setattr(os, "access", access)
    check_path(str(tmp_path / "open"))
    with pytest.raises(UsageError, match=r"'.*/closed': it is read-only"):
        check_path(str(tmp_path / "closed"))
    with pytest.raises(UsageError, match=r"'.*/new': the folder '.*' is read-only"):
        check_path(str(tmp_path / "new"))
