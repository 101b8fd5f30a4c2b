# SPDX-License-Identifier: Apache-2.0
"""What to compile for: the GPU that the driver tells of, or the default."""

import ctypes
from collections.abc import Iterator
from typing import Any

import pytest

from tilewright.codegen import gpu
from tilewright.errors import UsageError


class Driver:
    """A driver with one GPU, or with none."""

    def __init__(self, capability: tuple[int, int] | None):
        self.capability = capability

    def cuInit(self, flags: int) -> int:
        return 0

    def cuDeviceGet(self, device: Any, ordinal: int) -> int:
        return 0 if self.capability else 101  # CUDA_ERROR_INVALID_DEVICE

    def cuDeviceGetName(self, name: Any, length: int, device: Any) -> int:
        name.value = b"A GPU"
        return 0

    def cuDeviceGetAttribute(self, value: Any, attribute: int, device: Any) -> int:
        assert self.capability is not None
        value._obj.value = self.capability[attribute - 75]
        return 0


@pytest.fixture(autouse=True)
def _asked_afresh() -> Iterator[None]:
    gpu.present_gpu.cache_clear()
    yield
    gpu.present_gpu.cache_clear()


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
        return Driver(capability)

    monkeypatch.setattr(ctypes, "CDLL", load)
    assert gpu.target_for(None) == target
    assert gpu.target_for("sm_80") == "sm_80"
    assert (gpu.present_gpu() is None) == (capability is None)


def test_without_a_driver_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch):
    def missing(name: str):
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    assert gpu.present_gpu() is None
    assert gpu.target_for(None) == "sm_90a"


def test_an_unknown_target():
    with pytest.raises(UsageError, match="unknown target 'sm_91'"):
        gpu.target_for("sm_91")
