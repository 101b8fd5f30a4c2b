# SPDX-License-Identifier: Apache-2.0
"""A farm of this machine alone: calls get there, and what they do to a process is told."""

import os
from collections.abc import Iterator
from typing import Any

import pytest

from tilewright.codegen.benchmark.isolated import WorkerLost
from tilewright.codegen.gpu import Gpu
from tilewright.errors import TilewrightError, UsageError
from tilewright.tuning.executors.farm import Farm

distributed: Any = pytest.importorskip("distributed")


GPU = Gpu("NVIDIA H100", (9, 0))


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """What passes for a GPU."""
    monkeypatch.setattr("tilewright.tuning.executors.farm.present_gpu", lambda: GPU)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Of a scheduler with one worker."""
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        dashboard_address=None,
        host="127.0.0.1",
        protocol="tcp",
    ) as cluster:
        yield cluster.scheduler_address


@pytest.mark.usefixtures("gpu")
def test_calls_are_done_beside_the_workers(url: str) -> None:
    with Farm(url) as farm:
        executor = farm.executor([*farm.gpus()], limit_s=60)
        calls = [executor.submit(function, *args) for function, *args in CALLS]
        assert calls[0].result() not in (0, os.getpid())
        with pytest.raises(TilewrightError, match=r"^ValueError: "):
            calls[1].result()
        with pytest.raises(WorkerLost, match="the process ended with code 3"):
            calls[2].result()
        assert calls[3].result() == 4


CALLS: list[tuple[Any, ...]] = [(os.getpid,), (int, "four"), (os._exit, 3), (int, "4")]


@pytest.mark.usefixtures("gpu")
def test_gpus_are_those_of_the_workers(url: str) -> None:
    with Farm(url) as farm:
        assert [*farm.gpus().values()] == [GPU]


def test_workers_without_a_gpu_do_not_count(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.tuning.executors.farm.present_gpu", lambda: None)
    with Farm(url) as farm:
        assert farm.gpus() == {}


@pytest.mark.parametrize("url", ["nonsense://x", "tcp://127.0.0.1:1"])
def test_where_there_is_no_scheduler(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.tuning.executors.farm._CONNECT_S", 0.2)
    with pytest.raises(UsageError, match=f"there is no scheduler at '{url}'"):
        Farm(url)
