# SPDX-License-Identifier: Apache-2.0
"""Memory beyond the limit is a reported error, and does not end the process."""

import subprocess
import sys
from pathlib import Path

import pytest

from tilewright.tools import opt_tool

LIMITED = """
from tilewright.tools.memory_limit import limit_memory
bytearray(1 << 29)
limit_memory(1 << 28)
try:
    bytearray(1 << 29)
except MemoryError:
    print("refused")
limit_memory(1 << 40)
import resource
print(resource.getrlimit(resource.RLIMIT_DATA)[0] == 1 << 28)
"""


def test_memory_beyond_the_limit_is_an_exception():
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, text=True)
    assert done.stdout == "refused\nTrue\n", done.stderr


def test_the_command_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    calls: list[None] = []
    monkeypatch.setattr(opt_tool, "limit_memory", lambda: calls.append(None))
    (tmp_path / "x.mlir").write_text("func.func private @f()\n")
    assert opt_tool.main([str(tmp_path / "x.mlir")]) == 0
    assert not calls  # not in this process, which may be any program
    monkeypatch.setattr(sys, "argv", ["opt-tool", str(tmp_path / "x.mlir")])
    assert opt_tool.main() == 0
    assert len(calls) == 1
