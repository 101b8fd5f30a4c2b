# SPDX-License-Identifier: Apache-2.0
"""Text files are read whole, and endless ones are refused."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tilewright import text_file
from tilewright.errors import UsageError
from tilewright.text_file import read_text_file
from tilewright.tools.input.mlir_source import read_bytes
from tilewright.tools.opt_tool import main

SUITE = Path(__file__).parents[2] / "benchmarks" / "suite84.json"


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="POSIX alone has it")
def test_zeros_without_end_are_refused(capsys: pytest.CaptureFixture[str]):
    assert main(["/dev/zero"]) == 2
    assert capsys.readouterr().err == "error: cannot read '/dev/zero': it is not text\n"


def test_text_without_end_is_refused(monkeypatch: pytest.MonkeyPatch):
    def read(size: int) -> bytes:
        return b"y\n" * 50

    endless = SimpleNamespace(read=read)
    monkeypatch.setattr(text_file, "_MAX_BYTES", 1000)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=endless))
    with pytest.raises(UsageError, match="cannot read '-': it is longer than 1000 bytes"):
        read_text_file("-")


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path):
    path = tmp_path / "windows.mlir"
    path.write_bytes(b"\xef\xbb\xbfmodule {\r\n}\r\n")
    assert read_bytes(str(path)).read() == b"module {\r\n}\r\n"


@pytest.mark.parametrize("command", [["simcheck", "--quick"]])
def test_results_nested_without_end_are_refused(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    from tilewright.tools.cli import main

    suite, results = tmp_path / "suite.json", tmp_path / "results.json"
    case = json.loads(SUITE.read_text())["cases"][0]
    suite.write_text(json.dumps({"cases": [{**case, "input_shapes": [[4, 4], [4, 4]]}]}))
    results.write_text("[" * 100_000)
    assert main([*command, str(suite), "--json", str(results)]) == 2
    assert "is not a file of results" in capsys.readouterr().err
