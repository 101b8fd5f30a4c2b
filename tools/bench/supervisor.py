# SPDX-License-Identifier: Apache-2.0
"""
Supervisor of the process that measures: it starts the worker, and kills it when it hangs.

A worker that sends nothing for too long is killed with all its child processes, because a kernel
that waits forever cannot be stopped otherwise. The next case gets a new worker. If a competitor was
running, the case is measured again without it.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from tilewright.codegen.timing.isolated import Reply, Worker, WorkerLost
from tilewright.errors import TilewrightError
from tilewright.tools.bench.contestants import BACKENDS
from tilewright.tools.bench.request import AnyCase, request_of
from tilewright.tools.bench.row import Row, failed
from tilewright.tools.options.database import database_argv
from tilewright.tools.options.precision import precision_argv

_START_S = 120.0
"""Seconds that a process may take to load PyTorch and find the GPU."""


def worker_command(
    backends: Sequence[str], db: str | bool, precision: str | None = None
) -> list[str]:
    """
    Return the command line of a worker, which looks up schedules in `db`, for a precision of
    float32 products.
    """
    command = [sys.executable, "-m", "tilewright.tools.bench.worker"]
    options = [*database_argv(db), *precision_argv(precision)]
    return [*command, "--backends", ",".join(backends), *options]


@dataclass
class Supervisor:
    """Supervisor of one worker after another, which measure cases."""

    command: Sequence[str]
    limit_s: float
    """Maximum number of seconds between two replies; each phase of a contest sends one."""
    environment: Reply = field(default_factory=Reply)
    """Environment that the worker reported when it started."""
    _worker: Worker | None = None

    def start(self) -> None:
        """Start a worker, unless one is running. Raises `TilewrightError` if it does not start."""
        if self._worker is not None:
            return
        worker = Worker(self.command)
        try:
            self.environment = worker.reply(_START_S)["environment"]
        except WorkerLost as err:
            raise TilewrightError(f"the process that measures does not start: {err}") from None
        self._worker = worker

    def stop(self) -> None:
        """Kill the worker, if one is running."""
        if self._worker is not None:
            self._worker.kill()
        self._worker = None

    def row(self, case: AnyCase) -> Row:
        """Measure a case in a worker process, and return its row."""
        left_out: dict[str, str] = {}
        while True:
            self.start()
            phase = "starting"
            assert self._worker is not None
            self._worker.send(request_of(case, left_out))
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
