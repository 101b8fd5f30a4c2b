# SPDX-License-Identifier: Apache-2.0
"""
Starts the process that measures, and ends it when it hangs.

A worker that says nothing for too long is killed, with all that it has started: a kernel that
waits forever cannot be ended otherwise. The next case gets a new one. If it was the turn of
someone else than ours, the case is measured again without them.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from queue import Empty, Queue
from tempfile import TemporaryFile
from threading import Thread
from typing import IO, Any

from tilewright.errors import TilewrightError
from tilewright.tools.bench.contestants import BACKENDS
from tilewright.tools.bench.row import Row, failed
from tilewright.tools.suite import Case

Reply = dict[str, Any]

_START_S = 120.0
"""Seconds that a process may take to load PyTorch and find the GPU."""


def worker_command(backends: Sequence[str]) -> list[str]:
    """The command line of a worker."""
    return [sys.executable, "-m", "tilewright.tools.bench.worker", "--backends", ",".join(backends)]


class WorkerLost(Exception):
    """A worker has died or was killed; the text says why."""


class Worker:
    """A process that measures."""

    def __init__(self, command: Sequence[str]):
        self._errors: IO[str] = TemporaryFile("w+")
        self._process = subprocess.Popen(
            command,
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


@dataclass
class Supervisor:
    """Has cases measured, by one worker after another."""

    command: Sequence[str]
    limit_s: float
    """Seconds between two signs of life, which every phase of a contest is."""
    environment: Reply = field(default_factory=dict[str, Any])
    """What the worker says of where it is, once it has started."""
    _worker: Worker | None = None

    def start(self) -> None:
        """Have a worker. Raises `TilewrightError` if there can be none."""
        if self._worker is not None:
            return
        worker = Worker(self.command)
        try:
            self.environment = worker.reply(_START_S)["environment"]
        except WorkerLost as err:
            raise TilewrightError(f"the process that measures does not start: {err}") from None
        self._worker = worker

    def stop(self) -> None:
        """Have none."""
        if self._worker is not None:
            self._worker.kill()
        self._worker = None

    def row(self, case: Case) -> Row:
        """What came of a case."""
        left_out: dict[str, str] = {}
        while True:
            self.start()
            phase = "starting"
            assert self._worker is not None
            self._worker.send({"case": asdict(case), "left_out": left_out})
            try:
                while "row" not in (reply := self._worker.reply(self.limit_s)):
                    phase = reply["phase"]
                if not reply.get("lost"):
                    return reply["row"]
                problem = reply["row"]["problem"]
            except WorkerLost as err:
                problem = f"{err} ({phase})"
            self.stop()
            guilty = phase.partition(":")[0]
            if guilty not in BACKENDS:
                return failed(case, problem)
            left_out[guilty] = problem
