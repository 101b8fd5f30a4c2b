# SPDX-License-Identifier: Apache-2.0
"""
Processes that may hang and crash without an effect on other calls.

`ProcessPoolExecutor` fails all calls if one process dies, and cannot end a process that hangs. In
`IsolatedExecutor` each process runs one call at a time. A process that takes too long is killed,
with all processes that it started, and the next call gets a new process.
"""

import pickle
import sys
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from threading import Lock, local
from typing import Any, ParamSpec, TypeVar

from tilewright.codegen.timing.isolated import Reply, Worker, WorkerLost
from tilewright.errors import TilewrightError

P = ParamSpec("P")
T = TypeVar("T")

_COMMAND = (sys.executable, "-c", "from tilewright.tuning.executors.child import main; main()")
_START_S = 120.0
"""Seconds that a process may take to start."""


class IsolatedExecutor(Executor):
    """
    Calls functions in `processes` processes; each must give a sign of life (`child.tell`) at least
    every `limit_s` seconds.

    A future raises `WorkerLost` if the call lost its process, and `TilewrightError` with the
    message if the function raised an error. The initializer is called first in each process, as in
    `ProcessPoolExecutor`.
    """

    def __init__(
        self,
        processes: int,
        limit_s: float,
        initializer: Callable[..., object] | None = None,
        initargs: tuple[Any, ...] = (),
        environments: Sequence[Mapping[str, str]] = (),
    ):
        self._limit_s = limit_s
        options: dict[str, Any] = {}
        self._first = None if initializer is None else packed((initializer, initargs, options))
        ours: Mapping[str, str] = {}
        self._environments = iter(environments or [ours] * processes)
        self._threads = ThreadPoolExecutor(processes, initializer=self._begin)
        self._here = local()
        self._lock = Lock()
        self._workers: list[Worker] = []
        self._is_ended = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Call the function when a process is free."""
        return self._threads.submit(self._call, packed((fn, args, kwargs)))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more calls; with `cancel_futures`, calls in progress are stopped as well."""
        if cancel_futures:
            self._end()
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        if wait:
            self._end()

    def _begin(self) -> None:
        """Choose the environment variables of the processes that this thread starts."""
        with self._lock:
            self._here.environment = next(self._environments)

    def _call(self, call: str) -> Any:
        worker: Worker = self._worker()
        worker.send({"call": call})
        phase = ""
        try:
            while "phase" in (reply := worker.reply(self._limit_s)):
                phase = f" ({reply['phase']})"
        except WorkerLost as err:
            self._here.worker = None
            raise WorkerLost(f"{err}{phase}") from None
        if reply.get("lost"):
            worker.kill()
            self._here.worker = None
            raise WorkerLost(reply["error"])
        return _result(reply)

    def _worker(self) -> Worker:
        """Return the worker of this thread, and start it if needed."""
        worker: Worker | None = getattr(self._here, "worker", None)
        if worker is not None:
            return worker
        with self._lock:
            if self._is_ended:
                raise WorkerLost("the executor was shut down")
            worker = Worker(_COMMAND, self._here.environment)
            self._workers.append(worker)
        try:
            worker.reply(_START_S)
            if self._first is not None:
                worker.send({"call": self._first})
                _result(worker.reply(_START_S))
        except WorkerLost as err:
            raise TilewrightError(f"a process for schedules does not start: {err}") from None
        self._here.worker = worker
        return worker

    def _end(self) -> None:
        with self._lock:
            self._is_ended = True
            for worker in self._workers:
                worker.kill()


def _result(reply: Reply) -> Any:
    if "error" in reply:
        raise TilewrightError(reply["error"])
    return unpacked(reply["result"])


def packed(value: object) -> str:
    """Return a pickled value as a line of text."""
    return b64encode(pickle.dumps(value)).decode()


def unpacked(text: str) -> Any:
    """
    Return the value that `packed` turned into a line. The line must come from one of our own
    processes, because unpickling can run code.
    """
    return pickle.loads(b64decode(text))
