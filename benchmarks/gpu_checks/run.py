# SPDX-License-Identifier: Apache-2.0
"""Concurrent run of all checks of a stage in workers, within a time limit."""

import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from time import monotonic

from gpu_checks.device import Device
from gpu_checks.outcome import Outcome, Verdict, outcome_of, wrong
from gpu_checks.places import SCRIPT
from gpu_checks.record import Record
from gpu_checks.stage import Stage
from tilewright.codegen.timing.isolated import Worker, WorkerLost

PrintLine = Callable[[str], None]


@dataclass
class Runner:
    """Runner of stages until a deadline, which records their outcomes."""

    device: Device
    record: Record
    deadline: float
    """Time of `monotonic` at which everything is stopped."""
    jobs: int
    print_line: PrintLine
    only: str = ""
    """Text that the names of the checks to run must contain."""
    retry: bool = False
    """True if checks whose recorded outcome is not right are run again."""
    command: Callable[[Stage], Sequence[str]] = field(default=lambda stage: _command(stage))
    """Function that returns the command of a worker, to which the device is added."""
    _workers: set[Worker] = field(default_factory=set[Worker])
    _is_stopped: bool = False

    @property
    def left_s(self) -> float:
        """Seconds until the deadline."""
        return max(0.0, self.deadline - monotonic())

    def run(self, stage: Stage) -> int:
        """
        Run the checks that are not recorded yet; return the number of checks that were not run. An
        interrupt stops all workers at once.
        """
        todo: SimpleQueue[str] = SimpleQueue()
        known = (item for item in stage.items(self.device) if self.only in item)
        items = [item for item in known if not self.record.has(stage.name, item, self.retry)]
        for item in items:
            todo.put(item)
        until = monotonic() + stage.share * self.left_s
        jobs = max(1, min(stage.jobs, self.jobs, len(items)))
        with ThreadPoolExecutor(jobs) as pool:
            working = [pool.submit(self._work, stage, todo, until) for _ in range(jobs)]
            try:
                return sum(each.result() for each in working)
            except BaseException:
                self._stop()
                raise

    def _stop(self) -> None:
        self._is_stopped = True
        for worker in [*self._workers]:
            worker.kill()

    def _work(self, stage: Stage, todo: SimpleQueue[str], until: float) -> int:
        """
        Run checks from the queue `todo` in one worker at a time. Return the number of checks that
        were left when the time was up.
        """
        worker: Worker | None = None
        left = 0
        try:
            while (item := _next(todo)) is not None:
                if self._is_stopped or monotonic() >= until:
                    left += 1
                    continue
                worker = worker or self._started(stage)
                outcome, is_alive = self._asked(worker, stage, item)
                if not is_alive:
                    self._end(worker)
                    worker = None
                if outcome is None:
                    left += 1
                    continue
                self.record.add(stage.name, item, outcome)
                self.print_line(f"{stage.name} {item}: {outcome.verdict}: {outcome.says}")
        finally:
            if worker is not None:
                self._end(worker)
        return left

    def _started(self, stage: Stage) -> Worker:
        worker = Worker([*self.command(stage), "--device", self.device.name])
        self._workers.add(worker)
        if self._is_stopped:
            worker.kill()
        return worker

    def _end(self, worker: Worker) -> None:
        self._workers.discard(worker)
        worker.kill()

    def _asked(self, worker: Worker, stage: Stage, item: str) -> tuple[Outcome | None, bool]:
        """
        Send a check to a worker. Return its outcome, or None if the time was up, and True if the
        worker can go on.
        """
        limit = min(stage.limit_s, self.left_s)
        worker.send({"item": item})
        try:
            outcome = outcome_of(worker.reply(limit))
        except WorkerLost as err:
            is_over = limit < stage.limit_s and self.left_s == 0
            return (None if is_over or self._is_stopped else wrong(str(err))), False
        # After an error, a process on a GPU may be unusable.
        return outcome, outcome.verdict is not Verdict.WRONG or not self.device.is_gpu


def _next(todo: SimpleQueue[str]) -> str | None:
    try:
        return todo.get_nowait()
    except Empty:
        return None


def _command(stage: Stage) -> list[str]:
    return [sys.executable, str(SCRIPT), "--work", stage.name]
