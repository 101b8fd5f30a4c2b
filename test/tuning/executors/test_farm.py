# SPDX-License-Identifier: Apache-2.0
"""A Dask farm of this machine alone: calls, lost processes, GPUs and certificates."""

import os
import shutil
import subprocess
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tilewright.codegen.gpu import Gpu
from tilewright.codegen.timing.isolated import WorkerLost
from tilewright.errors import TilewrightError, UsageError
from tilewright.tuning.executors.farm import Farm, event_loop

distributed: Any = pytest.importorskip("distributed")


GPU = Gpu("NVIDIA H100", (9, 0))


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for a GPU."""
    monkeypatch.setattr("tilewright.tuning.executors.farm.present_gpu", lambda: GPU)


@contextmanager
def cluster(protocol: str) -> Generator[str]:
    """Start a scheduler with one worker, and yield its address."""
    with (
        event_loop() as loop,
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=False,
            dashboard_address=None,
            scheduler_kwargs={"dashboard": False, "dashboard_address": ":0"},
            host="127.0.0.1",
            protocol=protocol,
            loop=loop,
        ) as started,
    ):
        yield started.scheduler_address


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Address of a scheduler with one worker."""
    with cluster("tcp") as url:
        yield url


@pytest.mark.usefixtures("gpu")
def test_calls_run_in_processes_of_the_workers(url: str) -> None:
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


@pytest.mark.usefixtures("gpu")
def test_a_thread_that_starts_late_is_waited_for(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(**_: object) -> None:
        """Start no thread, as a busy machine during the seconds that Dask waits."""

    monkeypatch.setattr("distributed.utils._CollectErrorThread", never)
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


OPENSSL = shutil.which("openssl")
TLS = "distributed.comm.tls"
ROLES = ("scheduler", "worker", "client")


def certificate(folder: Path, name: str, authority: str | None = None) -> dict[str, str]:
    """Make a certificate as in docs/tune-command.md, with a key that is faster to make."""
    found = {kind: str(folder / f"{name}-{kind}.pem") for kind in ("cert", "key")}
    signed = [] if authority is None else ["-CA", f"{authority}-cert.pem"]
    signed += [] if authority is None else ["-CAkey", f"{authority}-key.pem"]
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    files = ["-keyout", found["key"], "-out", found["cert"]]
    command = [str(OPENSSL), "req", "-x509", *kind, "-subj", f"/CN={name}", *signed, *files]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    if "nknown option" in done.stderr:
        pytest.skip("openssl is older than version 3")
    assert done.returncode == 0, done.stderr
    return found


@pytest.mark.skipif(OPENSSL is None, reason="there is no openssl")
@pytest.mark.usefixtures("gpu")
def test_certificates_are_asked_for(tmp_path: Path) -> None:
    authority = certificate(tmp_path, "authority")["cert"]
    farm, other = certificate(tmp_path, "farm", "authority"), certificate(tmp_path, "other")
    files = {f"{TLS}.{role}.{kind}": file for role in ROLES for kind, file in farm.items()}
    settings: Any = import_module("dask").config.set
    with settings({**files, f"{TLS}.ca-file": authority}), cluster("tls") as url:
        assert url.startswith("tls://")
        with Farm(url) as found:
            (call,) = [found.executor([*found.gpus()], limit_s=60).submit(int, "4")]
            assert call.result() == 4
        client = {f"{TLS}.client.{kind}": file for kind, file in other.items()}
        nothing = dict.fromkeys([*client, f"{TLS}.ca-file"])
        for wrong in (client, nothing, {f"{TLS}.ca-file": other["cert"]}):
            with settings(wrong), pytest.raises(UsageError, match=r"'tls://.*says where Dask"):
                Farm(url)
        with settings({"distributed.comm.require-encryption": True}):
            with pytest.raises(UsageError, match="requires encryption, but this is not tls"):
                Farm(url.replace("tls://", "tcp://"))
