# SPDX-License-Identifier: Apache-2.0
"""The driver `pycuda`: calls that go through pycuda, here a stand-in, and calls of libcuda."""

import struct
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from tilewright.codegen.runtime.driver import Arguments, Bound, DriverError
from tilewright.codegen.runtime.libcuda import LibCuda
from tilewright.codegen.runtime.pycuda_driver import PycudaDriver, is_importable

from .driver_samples import MAP, MAPPED, POINTERS, SCALE, SOURCE, X, Y
from .fake_driver import FakeDriver, NoCompiler


class PycudaError(Exception):
    """Stand-in for pycuda.driver.Error."""


class Pycuda:
    """Stand-in for pycuda.driver, which logs the calls it receives."""

    Error = PycudaError
    function_attribute = SimpleNamespace(MAX_DYNAMIC_SHARED_SIZE_BYTES=8)

    def __init__(self) -> None:
        self.log: list[Any] = []
        self.fails = False

    def init(self) -> None:
        self.log.append("init")

    def Device(self, ordinal: int) -> Any:
        append = self.log.append
        context = SimpleNamespace(push=lambda: append("push"), pop=lambda: append("pop"))
        return SimpleNamespace(retain_primary_context=lambda: context)

    def module_from_buffer(self, cubin: bytes) -> Any:
        self.log.append("load")

        def set_attribute(*given: Any) -> None:
            self.log.append(given)

        function = SimpleNamespace(
            set_attribute=set_attribute,
            num_regs=42,
            local_size_bytes=7,
            _launch_kernel=self.launch,
        )
        return SimpleNamespace(get_function=Mock(return_value=function))

    def launch(self, *given: Any) -> None:
        if self.fails:
            raise PycudaError("cuLaunchKernel failed: invalid argument")
        self.log.append(given)


@pytest.fixture
def pycuda(monkeypatch: pytest.MonkeyPatch) -> Pycuda:
    """A stand-in for pycuda."""
    stand_in: Any = Pycuda()
    monkeypatch.setitem(sys.modules, "pycuda", SimpleNamespace(driver=stand_in))
    monkeypatch.setitem(sys.modules, "pycuda.driver", stand_in)
    return stand_in


@pytest.fixture
def bound(pycuda: Pycuda, fake: FakeDriver, tmp_path: Path) -> Bound:
    """A launch, loaded through the stand-in."""
    driver = PycudaDriver(0, LibCuda(str(fake.path)), NoCompiler(tmp_path), device="cpu")
    function = driver.load(SOURCE, "sm_90a").function("scale", 70000)
    assert pycuda.log == ["init", "push", "load", "pop", (8, 70000)]
    assert (function.registers, function.local_bytes) == (42, 7)
    found = function.bind(SCALE, POINTERS)
    pycuda.log.clear()
    fake.log()
    return found


def test_the_default_stream_is_pycudas(bound: Bound, pycuda: Pycuda, fake: FakeDriver):
    bound(0)
    ((grid, block, packed, shared, stream),) = pycuda.log
    assert (grid, block, shared, stream) == ((3, 1, 1), (128, 1, 1), 0, None)
    assert packed == struct.pack("=2Q", X.address, Y.address)
    assert fake.log() == []


def test_launches_with_tensor_maps_use_libcuda(pycuda: Pycuda, fake: FakeDriver, tmp_path: Path):
    driver = PycudaDriver(0, LibCuda(str(fake.path)), NoCompiler(tmp_path), device="cpu")
    function = driver.load(SOURCE, "sm_90a").function("mapped", 70000)
    launch = function.bind(MAPPED, Arguments(((MAP, X),), (X,), (Y,)))
    pycuda.log.clear()
    fake.log()
    launch(0)
    (line,) = fake.log()
    assert line.endswith("ab" * 128 + struct.pack("=2Q", X.address, Y.address).hex())
    assert pycuda.log == []


def test_other_streams_are_the_drivers(bound: Bound, pycuda: Pycuda, fake: FakeDriver):
    bound(0x7E00000000000001)
    (launch,) = fake.log()
    assert launch.startswith("cuLaunchKernelEx 0xf000000000000005 grid 3 1 1 block 128 1 1")
    assert "stream 0x7e00000000000001" in launch
    assert pycuda.log == []


def test_refusals_of_pycuda_are_explained_by_libcuda(
    bound: Bound, pycuda: Pycuda, fake: FakeDriver
):
    pycuda.fails = True
    fake.fail("cuLaunchKernelEx", 1)
    with pytest.raises(DriverError, match=r"^kernel 'scale' cannot be launched: CUDA_ERROR"):
        bound(0)


@pytest.mark.usefixtures("pycuda")
def test_it_is_importable():
    assert is_importable()


def test_it_is_not_installed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pycuda.driver", None)
    assert not is_importable()
