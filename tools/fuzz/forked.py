# SPDX-License-Identifier: Apache-2.0
"""
Calls of a function in forked processes, each call with a limit on CPU seconds and on memory.

    for index, answer in forked(call, range(1000), jobs=2, seconds=20.0, bytes=4 << 30): ...
"""

import gc
import os
import resource
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from time import monotonic
from types import FrameType
from typing import Any

Call = Callable[[int], Any]

_CALLS_PER_PROCESS = 400
_SLOWDOWN = 15
"""
Number of wall seconds that a CPU second may take on a busy machine before a process is killed.
"""


class TooLongError(BaseException):
    """Exception for a call that used up its CPU seconds; `except Exception` does not catch it."""


@dataclass(frozen=True)
class Lost:
    """Answer for a call whose process died or was killed."""

    reason: str


@dataclass
class _Worker:
    process: BaseProcess
    pipe: Connection
    pending: list[int]
    deadline: float
    ended: bool = False


def forked(
    call: Call,
    items: Sequence[int],
    *,
    jobs: int,
    seconds: float,
    bytes: int,
    most: int = _CALLS_PER_PROCESS,
) -> Iterator[tuple[int, Any]]:
    """
    Yield each item with the result of `call`, in any order. A process calls it `most` times.

    In `call`, `TooLongError` is raised after `seconds` of CPU time, and `MemoryError` beyond
    `bytes` of address space. For a process that dies or does not answer, the result is `Lost`.
    """
    gc.collect()
    gc.freeze()  # excludes imported objects from later collections, in processes as well
    firsts = range(0, len(items), most)
    todo = [list(items[first : first + most]) for first in reversed(firsts)]
    workers: list[_Worker] = []
    limits = seconds, bytes
    try:
        while todo or workers:
            while todo and len(workers) < jobs:
                workers.append(_started(call, todo.pop(), limits))
            wait([worker.pipe for worker in workers], timeout=1.0)
            for worker in list(workers):
                yield from _answers(worker, seconds)
                if worker.ended:
                    workers.remove(worker)
                    if worker.pending:
                        yield worker.pending.pop(0), Lost(f"exit code {worker.process.exitcode}")
                    if worker.pending:
                        todo.append(worker.pending)
    finally:  # also if the caller stops early
        for worker in workers:
            worker.process.kill()


def _answers(worker: _Worker, seconds: float) -> Iterator[tuple[int, Any]]:
    """Yield the answers of a worker; kill the worker if it is past its deadline."""
    try:
        while worker.pipe.poll():
            yield worker.pipe.recv()
            worker.pending.pop(0)
            worker.deadline = monotonic() + _SLOWDOWN * seconds
    except EOFError:
        worker.ended = True
    if monotonic() > worker.deadline:
        worker.process.kill()
        worker.ended = True
    if worker.ended:
        worker.process.join()


def _started(call: Call, items: list[int], limits: tuple[float, int]) -> _Worker:
    fork = get_context("fork")
    ours, theirs = fork.Pipe(duplex=False)
    process = fork.Process(target=_work, args=(call, list(items), theirs, limits), daemon=True)
    process.start()
    theirs.close()
    return _Worker(process, ours, items, monotonic() + _SLOWDOWN * limits[0])


def _work(call: Call, items: list[int], pipe: Connection, limits: tuple[float, int]) -> None:
    """Call the function for each item, and send the answers; runs in the forked process."""
    seconds, bytes = limits
    resource.setrlimit(resource.RLIMIT_AS, (_address_space() + bytes, resource.RLIM_INFINITY))
    signal.signal(signal.SIGPROF, _too_long)
    for item in items:
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            answer = call(item)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        pipe.send((item, answer))
    pipe.close()


def _too_long(signal: int, frame: FrameType | None) -> None:
    raise TooLongError


def _address_space() -> int:
    """Return the size of this process's address space in bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
