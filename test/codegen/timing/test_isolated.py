# SPDX-License-Identifier: Apache-2.0
"""Processes of their own end when they should, also where nobody is left to end them."""

import io
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

ORPHANED = Path(__file__).with_name("orphaned_worker.py")

LIMIT_S = 60.0


def read(stream: BinaryIO) -> bytes:
    """What comes next; empty at the end, which is when nobody has the other end any more."""
    readable, _, _ = select.select([stream], [], [], LIMIT_S)
    assert readable, f"nothing for {LIMIT_S:g} s"
    return os.read(stream.fileno(), io.DEFAULT_BUFFER_SIZE)


def test_one_that_hangs_ends_with_who_has_started_it(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    starter = subprocess.Popen([sys.executable, str(ORPHANED), str(fifo)])
    with open(fifo, "rb") as stream:
        assert read(stream) == b"hanging\n"
        starter.send_signal(signal.SIGKILL)
        starter.wait()
        assert read(stream) == b""


def test_requests_are_lines_until_there_are_no_more() -> None:
    code = "from tilewright.codegen.timing.isolated import requests; print([*requests()])"
    command = [sys.executable, "-c", code]
    told = subprocess.run(command, input="a\nb\n", capture_output=True, text=True, check=True)
    assert (told.stdout, told.stderr) == ("['a\\n', 'b\\n']\n", "")


def test_who_asks_for_no_more_can_end() -> None:
    code = "from tilewright.codegen.timing.isolated import requests; print(next(requests()))"
    command = [sys.executable, "-c", code]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write("a\n")
        process.stdin.flush()  # and stays open
        assert process.wait(LIMIT_S) == 0
        assert process.stderr.read() == ""
