# SPDX-License-Identifier: Apache-2.0
"""`tilewright run --device gpu` with the simulator as its driver, and without a GPU."""

import json
from typing import Any

import pytest
from nvrtc_needed import need_nvrtc

from tilewright.codegen import execution
from tilewright.codegen.execution import backend_for
from tilewright.codegen.gpu import Gpu
from tilewright.codegen.runtime import gpu_backend
from tilewright.codegen.runtime.gpu_backend import GpuBackend, reason_against_gpu
from tilewright.codegen.runtime.simulated_driver import SimulatedDriver
from tilewright.errors import TilewrightError
from tilewright.matrix_sums import MatrixSums
from tilewright.tools.cli import main
from tilewright.tools.commands import run

SOFTMAX = "torch.softmax(torch.randn(4, 64), -1)"


@pytest.fixture
def _simulated(monkeypatch: pytest.MonkeyPatch) -> None:
    need_nvrtc()

    def backend(
        device: str, target: str, blocks: int | None, matrix_sums: MatrixSums | None
    ) -> GpuBackend:
        assert (device, blocks, matrix_sums) == ("gpu", None, None)
        return GpuBackend(target, SimulatedDriver())

    monkeypatch.setattr(run, "backend_for", backend)


@pytest.mark.usefixtures("_simulated")
def test_run_compares_what_the_gpu_computes(capsys: pytest.CaptureFixture[str]):
    assert main(["run", "-c", SOFTMAX, "--device", "gpu", "--target", "sm_90a"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("device gpu, target sm_90a\n")
    assert out.endswith("\nright\n")
    (row,) = [line.split() for line in out.splitlines() if line.startswith("softmax ")]
    assert row[-4:] == ["-"] * 4  # nothing is counted on a GPU


@pytest.mark.usefixtures("_simulated")
def test_the_report_has_no_counts(capsys: pytest.CaptureFixture[str]):
    assert main(["run", "-c", SOFTMAX, "--device", "gpu", "--json", "-", "--report"]) == 0
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert report["device"] == "gpu"
    assert set(report["kernels"][0]) == {"name", "grid", "blocks", "block", "smem_bytes"}


def present(monkeypatch: pytest.MonkeyPatch, gpu: Gpu | None) -> None:
    """Make the driver report this GPU, or none."""
    for module in (execution, gpu_backend):
        monkeypatch.setattr(module, "present_gpu", lambda: gpu)


def test_no_gpu(monkeypatch: pytest.MonkeyPatch):
    present(monkeypatch, None)
    assert reason_against_gpu() == "NVIDIA's driver finds none"
    assert backend_for("auto", "sm_90a").name == "sim"
    with pytest.raises(TilewrightError, match="no GPU to run on: NVIDIA's driver finds none"):
        backend_for("gpu", "sm_90a")


def test_a_gpu_that_pytorch_cannot_use(monkeypatch: pytest.MonkeyPatch):
    import torch

    present(monkeypatch, Gpu("A GPU", (9, 0)))
    monkeypatch.setattr(torch.version, "cuda", None)
    assert reason_against_gpu() == "this build of PyTorch is for CPUs only"
    assert backend_for("auto", "sm_90a").name == "sim"


def test_auto_takes_the_gpu_that_runs_the_target(monkeypatch: pytest.MonkeyPatch):
    present(monkeypatch, Gpu("A GPU", (9, 0)))
    monkeypatch.setattr(gpu_backend, "reason_against_gpu", lambda: None)
    monkeypatch.setattr(gpu_backend, "gpu_driver", SimulatedDriver)
    assert backend_for("auto", "sm_90a").name == "gpu"
    assert backend_for("auto", "sm_80").name == "sim"
    assert backend_for("auto", "sm_90a", blocks=3).name == "sim"
