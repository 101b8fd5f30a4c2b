# SPDX-License-Identifier: Apache-2.0
"""Long commands show their stage and its time on a terminal, and nothing elsewhere."""

import json
import os
import re
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import TextIO

import pytest
from needs import needs_nvrtc
from tiny_models import SMALL, tiny_config

from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.stages import stage
from tilewright.tools import cli, opt_tool
from tilewright.tools.input.mlir_source import read_module
from tilewright.tools.output import progress as progress_module
from tilewright.tools.output.progress import lower_by_levels, progress, progress_line

from ..conftest import Tilewright

PROGRAM = str(Path(__file__).parents[3] / "examples" / "relu_matmul.mlir")

ERASED = "\r\x1b[2K"
"""Codes that go to the start of the line and erase it."""


class Terminal:
    """Pseudo-terminal that keeps all text written to it."""

    def __init__(self) -> None:
        self._read, write = os.openpty()
        modes = termios.tcgetattr(write)
        modes[1] &= ~termios.OPOST  # line ends are not translated
        termios.tcsetattr(write, termios.TCSANOW, modes)
        self.stream: TextIO = open(write, "w", buffering=1, encoding="utf-8")
        self._parts: list[bytes] = []
        self._thread = Thread(target=self._collect, daemon=True)
        self._thread.start()

    def text(self) -> str:
        """Return all written text; nothing can be written afterwards."""
        self.stream.close()
        self._thread.join()
        return b"".join(self._parts).decode()

    def _collect(self) -> None:
        try:
            while part := os.read(self._read, 1 << 16):
                self._parts.append(part)
        except OSError:  # on Linux, the other end was closed
            return


OpenTerminal = Callable[[], Terminal]


@pytest.fixture
def open_terminal(monkeypatch: pytest.MonkeyPatch) -> OpenTerminal:
    """Make stdout and stderr a terminal, on which the line appears at once."""

    def open_() -> Terminal:
        terminal = Terminal()
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(progress_module, "DELAY", 0.0)
        monkeypatch.setattr(progress_module, "TICK", 0.002)
        monkeypatch.setattr(sys, "stdout", terminal.stream)
        monkeypatch.setattr(sys, "stderr", terminal.stream)
        return terminal

    return open_


def stages_in(text: str) -> set[str]:
    """Return the stages that the line has named."""
    return {found[1] for found in re.finditer(r"\S (\S[^\r]*?)  0:\d\d:\d\d", text)}


def visible_text(text: str) -> str:
    """Return the text on the screen at the end, without erased lines."""
    return re.sub(r"(?:^|(?<=\n)|(?<=K))[^\n]*?\r\x1b\[2K", "", text)


def test_levels_are_reported_in_order_and_the_result_is_that_of_lower():
    module = read_module(PROGRAM)
    names: list[str] = []
    lowered = lower_by_levels(module, Level.KERNEL, "sm_90a", names.append)
    assert names == ["tensor IR", "loop IR", "tile IR", "kernel IR"]
    assert str(lowered) == str(lower(module, Level.KERNEL, target="sm_90a"))
    names.clear()
    lower_by_levels(lowered, Level.CUDA, "sm_90a", names.append)
    assert names == ["cuda IR"]


def test_the_line_names_stages_and_goes(open_terminal: OpenTerminal):
    terminal = open_terminal()
    with progress_line(), stage("compile"), progress() as report:
        report("capture")
        time.sleep(0.05)
        report("weights")
        with stage("read a file"):
            time.sleep(0.05)
        print("result")
        time.sleep(0.05)
    text = terminal.text()
    assert {"compile: capture", "weights: read a file"} <= stages_in(text)
    assert visible_text(text) == "result\n"


def test_an_unfinished_line_is_kept(open_terminal: OpenTerminal):
    terminal = open_terminal()
    with progress_line():
        sys.stdout.write("one ")
        sys.stdout.flush()
        time.sleep(0.05)
        sys.stdout.write("two\n")
    assert "one two\n" in terminal.text()


def test_time_ticks(open_terminal: OpenTerminal, monkeypatch: pytest.MonkeyPatch):
    terminal = open_terminal()
    now = time.monotonic
    monkeypatch.setattr(progress_module, "monotonic", lambda: 1000 * now())
    with progress_line(), stage("simulate"):
        time.sleep(0.1)
    times = re.findall(r"simulate  (\d:\d\d:\d\d)", terminal.text())
    assert len({*times}) > 3
    assert times == sorted(times)


def test_quick_commands_show_nothing(open_terminal: OpenTerminal, monkeypatch: pytest.MonkeyPatch):
    terminal = open_terminal()
    monkeypatch.setattr(progress_module, "DELAY", 2.0)
    with progress_line(), stage("compile"):
        time.sleep(0.02)
    assert terminal.text() == ""


@needs_nvrtc
def test_run_names_the_kernel_that_is_simulated(open_terminal: OpenTerminal):
    terminal = open_terminal()
    code = cli.main(["run", "-c", "torch.relu(torch.randn(64, 64)) @ torch.randn(64, 64)"])
    text = terminal.text()
    assert code == 0
    assert any(re.search(r"simulate \w+, launch 1 of \d", each) for each in stages_in(text))
    assert visible_text(text).startswith("device sim")


@needs_nvrtc
@pytest.mark.usefixtures("every_case")
def test_a_model_is_compiled_into_a_folder(
    open_terminal: OpenTerminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    tiny_config("llama", dtype="bfloat16", **SMALL).save_pretrained("model")
    terminal = open_terminal()
    assert cli.main(["compile", "model", "--layers", "1", "--seq-len", "4", "-o", "out"]) == 0
    text = terminal.text()
    assert any(each.startswith(("loop IR: pass ", "tile IR: pass ")) for each in stages_in(text))
    manifest = json.loads(Path("out", "manifest.json").read_text())
    kernels, launches = len(manifest["kernels"]), len(manifest["launches"])
    assert visible_text(text).endswith(f"wrote out: {kernels} kernels, {launches} launches\n")


def test_opt_tool_names_the_pass(open_terminal: OpenTerminal):
    terminal = open_terminal()
    assert opt_tool.main([PROGRAM, "-p", "to-tensor,to-loop,to-tile"]) == 0
    text = terminal.text()
    assert any(each.startswith("pass ") for each in stages_in(text))
    assert visible_text(text).startswith("builtin.module {")


@pytest.mark.parametrize("main", [cli.main, opt_tool.main], ids=["tilewright", "opt-tool"])
def test_nothing_is_shown_where_stderr_is_no_terminal(
    main: Callable[[list[str]], int],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setattr(progress_module, "DELAY", 0.0)
    monkeypatch.setattr(progress_module, "TICK", 0.001)
    assert main(["compile", PROGRAM] if main is cli.main else [PROGRAM, "-p", "to-tensor"]) == 0
    assert capsys.readouterr().err == ""


def test_a_terminal_without_a_cursor_shows_nothing(
    open_terminal: OpenTerminal, monkeypatch: pytest.MonkeyPatch
):
    terminal = open_terminal()
    monkeypatch.setenv("TERM", "dumb")
    with progress_line(), stage("compile"):
        time.sleep(0.02)
    assert terminal.text() == ""


def test_written_files_are_reported_last(tilewright: Tilewright):
    result = tilewright("compile", PROGRAM, "-o", "x.cu", "--plan", "x.txt", "--json", "x.json")
    assert result.code == 0
    assert result.err == "wrote x.txt\nwrote x.json\nwrote x.cu\n"


def test_written_devices_are_not_reported(tilewright: Tilewright):
    assert tilewright("compile", PROGRAM, "-o", "/dev/null").err == ""
    assert tilewright("compile", PROGRAM, "-o", "-").err == ""
