# SPDX-License-Identifier: Apache-2.0
"""
Worker process for code that may hang or crash.

It reads requests from its standard input and writes replies to its standard output: JSON objects,
one per line. A kernel that waits forever cannot be ended, but its process can, with all processes
that it has started.

`Worker` is the process as its parent sees it. `requests`, `own_stdout` and `sender` are for code
inside the process.
"""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from queue import Empty, Queue
from tempfile import TemporaryFile
from threading import Thread
from typing import IO, Any, TextIO

Reply = dict[str, Any]
Send = Callable[[Reply], None]


_POLL_S = 0.1


class WorkerLost(Exception):
    """A worker has died or was killed; the message is the reason."""


class Worker:
    """
    Worker process as its parent sees it; it has the parent's environment and the variables `added`.
    """

    def __init__(self, command: Sequence[str], added: Mapping[str, str] | None = None):
        self._errors: IO[str] = TemporaryFile("w+")
        settings = [f"{name}={value}" for name, value in (added or {}).items()]
        self._process = subprocess.Popen(
            ["env", *settings, *command] if settings else command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            process_group=0,  # compilers that it has started are killed with it
        )
        self._replies: Queue[str] = Queue()
        Thread(target=self._read, daemon=True).start()

    def send(self, request: dict[str, Any]) -> None:
        """Send a request to the worker; if it is dead, do nothing, because `reply` detects that."""
        assert self._process.stdin is not None
        try:
            print(json.dumps(request), file=self._process.stdin, flush=True)
        except BrokenPipeError:
            return

    def reply(self, seconds: float) -> Reply:
        """
        Return the next reply. Raises `WorkerLost` if the worker dies, or is silent for `seconds`.
        """
        try:
            line = self._replies.get(timeout=seconds)
        except Empty:
            self.kill()
            raise WorkerLost(f"killed: no sign of life for {seconds:g} s") from None
        if not line:
            code = self._process.wait()
            self.kill()
            raise WorkerLost(f"the process ended with code {code}: {self._last_error()}")
        return json.loads(line)

    def kill(self) -> None:
        """Kill the process and all processes that it has started."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # they have ended by themselves
        self._process.wait()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._replies.put(line)
        self._replies.put("")

    def _last_error(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().strip().splitlines()
        return lines[-1] if lines else "it printed no error"


def requests() -> Iterator[str]:
    """
    Yield the lines of the standard input, which are requests in JSON, until it ends.

    If the parent process dies, this process is killed with all that it has started, even while it
    waits.
    """
    lines: Queue[str] = Queue()
    Thread(target=_read_requests, args=(lines, os.getppid()), daemon=True).start()
    return iter(lines.get, "")


def _read_requests(lines: Queue[str], parent: int) -> None:
    # A copy of the standard input is read: a thread that reads it would prevent closing it at the
    # end.
    for line in os.fdopen(os.dup(0)):
        lines.put(line)
    lines.put("")
    while os.getppid() == parent:  # true for a moment after its files are closed
        time.sleep(_POLL_S)
    os.killpg(os.getpid(), signal.SIGKILL)


def sender(stream: TextIO) -> Send:
    """Return a function that writes a reply to `stream` as a line of JSON."""

    def send(reply: dict[str, Any]) -> None:
        print(json.dumps(reply), file=stream, flush=True)

    return send


def own_stdout() -> TextIO:
    """
    Return the standard output for replies alone. From now on, other output of this process to it
    goes to stderr.
    """
    stream = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return stream
