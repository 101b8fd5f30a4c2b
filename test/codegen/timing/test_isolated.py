# SPDX-License-Identifier: Apache-2.0
"""Worker processes end when they should, even if the process that started them was killed."""

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
    """Return the next bytes; empty at the end, once all processes have closed the other end."""
    readable, _, _ = select.select([stream], [], [], LIMIT_S)
    assert readable, f"nothing for {LIMIT_S:g} s"
    return os.read(stream.fileno(), io.DEFAULT_BUFFER_SIZE)


def test_a_hanging_worker_ends_with_its_starter(tmp_path: Path) -> None:
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
    done = subprocess.run(command, input="a\nb\n", capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("['a\\n', 'b\\n']\n", "")


def test_a_worker_may_end_before_its_input() -> None:
    code = "from tilewright.codegen.timing.isolated import requests; print(next(requests()))"
    command = [sys.executable, "-c", code]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write("a\n")
        process.stdin.flush()  # the stream stays open
        assert process.wait(LIMIT_S) == 0
        assert process.stderr.read() == ""
