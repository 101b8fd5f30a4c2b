# SPDX-License-Identifier: Apache-2.0
"""Calls in processes that hang, die or continue."""

import math
import os
import time
from typing import Any

import pytest
from isolated_calls import cannot_go_on, rest

from tilewright.codegen.timing.isolated import Reply, WorkerLost
from tilewright.errors import TilewrightError, UsageError
from tilewright.tuning.executors import child
from tilewright.tuning.executors.isolated import IsolatedExecutor, packed


def test_a_failed_call_does_not_affect_other_calls() -> None:
    with IsolatedExecutor(1, limit_s=1.5) as executor:
        calls = [
            executor.submit(os.getpid),
            executor.submit(math.sqrt, -1),
            executor.submit(os.getpid),
            executor.submit(os._exit, 3),
            executor.submit(os.getpid),
            executor.submit(time.sleep, 600),
            executor.submit(pow, 2, exp=5),
        ]
        first, second, third = (calls[n].result() for n in (0, 2, 4))
        assert first == second != third  # an error ends no process
        assert os.getpid() not in (first, third)
        with pytest.raises(TilewrightError, match=r"^ValueError: "):
            calls[1].result()
        with pytest.raises(WorkerLost, match="the process ended with code 3"):
            calls[3].result()
        with pytest.raises(WorkerLost, match=r"killed: no sign of life for 1\.5 s$"):
            calls[5].result()
        assert calls[6].result() == 32


def test_running_calls_can_be_cancelled() -> None:
    executor = IsolatedExecutor(1, limit_s=600)
    assert executor.submit(abs, -1).result() == 1
    hanging, waiting = executor.submit(time.sleep, 600), executor.submit(abs, 1)
    while not hanging.running():  # until then it is still queued
        time.sleep(0.01)
    executor.shutdown(cancel_futures=True)
    assert isinstance(hanging.exception(), WorkerLost)
    assert waiting.cancelled()


def test_each_process_begins_with_the_initializer() -> None:
    with IsolatedExecutor(1, limit_s=60, initializer=os.chdir, initargs=("/",)) as executor:
        assert executor.submit(os.getcwd).result() == "/"
    with IsolatedExecutor(1, limit_s=60, initializer=os._exit, initargs=(3,)) as executor:
        with pytest.raises(TilewrightError, match=r"does not start: the process ended with code 3"):
            executor.submit(os.getcwd).result()


def replies_to(*calls: tuple[Any, ...]) -> list[Reply]:
    """Return the replies of a worker process to the calls, served in this process."""
    replies: list[Reply] = []
    options: dict[str, Any] = {}
    requests = [f'{{"call": "{packed((call[0], call[1:], options))}"}}' for call in calls]
    child.serve(requests, replies.append)
    return replies


def test_a_spoiled_process_takes_no_more_calls() -> None:
    replies = replies_to((cannot_go_on, "an illegal address"), (abs, 1))
    assert replies == [
        {"started": True},
        {"phase": "breaking"},
        {"error": "an illegal address", "lost": True},
    ]


def test_long_calls_give_signs_of_life() -> None:
    started, *beats, result = replies_to((rest, 0.1))
    assert started == {"started": True}
    assert len(beats) > 1
    assert {"phase": "resting"} == beats[0] == beats[-1]
    assert result == {"result": packed("rested")}


def test_our_errors_are_passed_on_unchanged() -> None:
    assert replies_to((UsageError, "x"), (abs,))[1:] == [
        {"result": packed(UsageError("x"))},
        {"error": "TypeError: abs() takes exactly one argument (0 given)"},
    ]
