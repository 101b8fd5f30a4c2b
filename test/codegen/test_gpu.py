# SPDX-License-Identifier: Apache-2.0
"""Default target: the GPU that the driver reports, or sm_90a."""

import ctypes
from collections.abc import Iterator
from typing import Any

import pytest

from tilewright.codegen import gpu
from tilewright.errors import UsageError


class Driver:
    """Stand-in for a driver with a GPU for each of the capabilities."""

    def __init__(self, *capabilities: tuple[int, int]):
        self.capabilities = capabilities

    def cuInit(self, flags: int) -> int:
        return 0

    def cuDeviceGetCount(self, count: Any) -> int:
        count._obj.value = len(self.capabilities)
        return 0

    def cuDeviceGet(self, device: Any, ordinal: int) -> int:
        device._obj.value = ordinal
        return 0

    def cuDeviceGetName(self, name: Any, length: int, device: Any) -> int:
        name.value = f"GPU {device.value}".encode()
        return 0

    def cuDeviceGetAttribute(self, value: Any, attribute: int, device: Any) -> int:
        value._obj.value = self.capabilities[device.value][attribute - 75]
        return 0


@pytest.fixture(autouse=True)
def _asked_afresh() -> Iterator[None]:
    gpu.present_gpus.cache_clear()
    yield
    gpu.present_gpus.cache_clear()


@pytest.mark.parametrize(
    ("capability", "target"),
    [
        ((9, 0), "sm_90a"),
        ((8, 6), "sm_86"),
        ((12, 0), "sm_120"),
        ((7, 5), "sm_90a"),
        (None, "sm_90a"),
    ],
)
def test_the_gpu_present_is_the_default(
    capability: tuple[int, int] | None, target: str, monkeypatch: pytest.MonkeyPatch
):
    def load(name: str) -> Driver:
        return Driver(capability) if capability else Driver()

    monkeypatch.setattr(ctypes, "CDLL", load)
    assert gpu.target_for(None) == target
    assert gpu.target_for("sm_80") == "sm_80"
    assert (gpu.present_gpu() is None) == (capability is None)


def test_all_gpus_in_order(monkeypatch: pytest.MonkeyPatch):
    def load(name: str) -> Driver:
        return Driver((9, 0), (8, 6))

    monkeypatch.setattr(ctypes, "CDLL", load)
    assert gpu.present_gpus() == (gpu.Gpu("GPU 0", (9, 0)), gpu.Gpu("GPU 1", (8, 6)))
    assert gpu.present_gpu() == gpu.Gpu("GPU 0", (9, 0))


def test_without_a_driver_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch):
    def missing(name: str):
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    assert gpu.present_gpu() is None
    assert gpu.target_for(None) == "sm_90a"


def test_an_unknown_target():
    with pytest.raises(UsageError, match="unknown target 'sm_91'"):
        gpu.target_for("sm_91")
