# SPDX-License-Identifier: Apache-2.0
"""Choice of the GPUs that measure, and of the target to compile for."""

import os
from argparse import Namespace
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Any
from unittest.mock import Mock

import pytest

from tilewright.codegen.gpu import Gpu
from tilewright.errors import TilewrightError
from tilewright.tools.tune import evaluation
from tilewright.tools.tune.evaluation import ByGpu, evaluation_of

H100, H200, OLD = Gpu("NVIDIA H100", (9, 0)), Gpu("NVIDIA H200", (9, 0)), Gpu("Tesla K80", (3, 7))


def asked(**options: Any) -> Namespace:
    """Return the options of a command, with defaults for those not given."""
    usual = {"evaluator": "gpu", "scheduler": None, "target": None, "jobs": None, "limit": 60.0}
    return Namespace(**usual | options)


def entered(args: Namespace) -> ByGpu:
    """Return the evaluation after it has ended."""
    with evaluation_of(args) as found:
        assert isinstance(found, ByGpu)
        return found


def test_the_gpu_that_is_present(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "need_gpu", Mock())
    monkeypatch.setattr(evaluation, "present_gpus", lambda: (H100,))
    found = entered(asked(jobs=3))
    assert (found.target, found.device, found.slots) == ("sm_90a", "NVIDIA H100", 4)
    with pytest.raises(TilewrightError, match="whose target is sm_90a, not sm_80"):
        entered(asked(target="sm_80"))
    monkeypatch.setattr(evaluation, "present_gpus", lambda: (OLD,))
    with pytest.raises(TilewrightError, match="nothing can be compiled for Tesla K80"):
        entered(asked())


def test_each_gpu_of_a_kind_has_a_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    check_processes("5,GPU-8a,3", ["GPU-8a", "3"], monkeypatch, capsys)


@pytest.mark.usefixtures("every_case")
def test_each_of_all_gpus_has_a_process(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    check_processes(None, ["1", "2"], monkeypatch, capsys)


def check_processes(
    visible: str | None,
    seen: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """
    Assert that two processes see one GPU each if two of three visible GPUs are of the same kind.
    """
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    if visible is not None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    monkeypatch.setattr(evaluation, "need_gpu", Mock())
    monkeypatch.setattr(evaluation, "present_gpus", lambda: (H100, H200, H200))
    with evaluation_of(asked(jobs=1)) as found:
        assert isinstance(found, ByGpu)
        assert (found.device, found.slots) == ("NVIDIA H200", 3)
        measuring = found.executors.measuring
        calls = [measuring.submit(os.getenv, "CUDA_VISIBLE_DEVICES") for _ in seen]
        assert sorted(str(call.result()) for call in calls) == sorted(seen)
    assert capsys.readouterr().err == "note: only NVIDIA H200 is measured, not NVIDIA H100\n"


def farm_of(gpus: dict[str, Gpu]) -> type:
    """Return a farm whose workers have these GPUs."""

    class Farm:
        """Stand-in for a farm, whose executors are threads."""

        used: list[str]

        def __init__(self, url: str):
            assert url == "tcp://host:8786"

        def __enter__(self) -> "Farm":
            return self

        def __exit__(self, *_: object) -> None:
            """Do nothing: there is no connection."""

        def gpus(self) -> dict[str, Gpu]:
            """Return the GPUs of the workers."""
            return gpus

        def executor(self, workers: list[str], limit_s: float) -> Executor:
            """Keep the names of the workers."""
            Farm.used = workers
            return ThreadPoolExecutor(1)

    return Farm


def test_a_farm_measures_on_gpus_of_one_kind(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    farm: Any = farm_of({"a": H100, "b": H200, "c": H200})
    monkeypatch.setattr(evaluation, "Farm", farm)
    found = entered(asked(scheduler="tcp://host:8786"))
    assert (found.device, found.slots, farm.used) == ("NVIDIA H200", 4, ["b", "c"])
    assert capsys.readouterr().err == "note: only NVIDIA H200 is measured, not NVIDIA H100\n"


def test_a_farm_without_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluation, "Farm", farm_of({}))
    with pytest.raises(TilewrightError, match=r"no worker of the farm has a GPU \(--evaluator"):
        entered(asked(scheduler="tcp://host:8786"))
