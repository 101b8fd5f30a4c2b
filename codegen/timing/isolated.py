# SPDX-License-Identifier: Apache-2.0
"""
A process of its own for what may hang or crash: it reads requests and writes replies, JSON objects,
one a line, on its standard input and output.

A kernel that waits forever cannot be ended, but its process can, with all that it has started.
`Worker` is such a process as seen from outside; `requests`, `own_stdout` and `sender` are for
inside.
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


_MOMENT_S = 0.1


class WorkerLost(Exception):
    """A worker has died or was killed; the text says why."""


class Worker:
    """A process that measures; its environment is ours, with what is `added`."""

    def __init__(self, command: Sequence[str], added: Mapping[str, str] | None = None):
        self._errors: IO[str] = TemporaryFile("w+")
        settings = [f"{name}={value}" for name, value in (added or {}).items()]
        self._process = subprocess.Popen(
            ["env", *settings, *command] if settings else command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            process_group=0,  # so that compilers that it has started can be killed with it
        )
        self._replies: Queue[str] = Queue()
        Thread(target=self._read, daemon=True).start()

    def send(self, request: dict[str, Any]) -> None:
        """Ask for something; a worker that is dead is found out when it is to answer."""
        assert self._process.stdin is not None
        try:
            print(json.dumps(request), file=self._process.stdin, flush=True)
        except BrokenPipeError:
            return

    def reply(self, seconds: float) -> Reply:
        """What it says next. Raises `WorkerLost` if it dies, or is silent for so long."""
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
        """End the process and all that it has started."""
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
        return lines[-1] if lines else "it said nothing"


def requests() -> Iterator[str]:
    """
    Yield the lines of the standard input, until it ends. Should the process that writes them die,
    this one is killed with all that it has started, whatever it is waiting for.
    """
    lines: Queue[str] = Queue()
    Thread(target=_read_requests, args=(lines, os.getppid()), daemon=True).start()
    return iter(lines.get, "")


def _read_requests(lines: Queue[str], parent: int) -> None:
    # The standard input itself is closed at the end, which a thread that reads it would not allow.
    for line in os.fdopen(os.dup(0)):
        lines.put(line)
    lines.put("")
    while os.getppid() == parent:  # which is so for a moment after its files are closed
        time.sleep(_MOMENT_S)
    os.killpg(os.getpid(), signal.SIGKILL)


def sender(stream: TextIO) -> Send:
    """Writes replies to a stream."""

    def send(reply: dict[str, Any]) -> None:
        print(json.dumps(reply), file=stream, flush=True)

    return send


def own_stdout() -> TextIO:
    """
    Return the standard output for replies alone: whatever else is written there goes to stderr.
    """
    stream = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    return stream
