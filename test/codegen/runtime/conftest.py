# SPDX-License-Identifier: Apache-2.0
"""Fixtures with a driver without a GPU, `fake_libcuda.c`, which logs the calls it receives."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from nvrtc_needed import need_nvrtc

from tilewright.api import CompiledProgram, capture
from tilewright.codegen.runtime.bindings_driver import BindingsDriver, BoundLibrary
from tilewright.codegen.runtime.cuda_driver import CudaDriver
from tilewright.codegen.runtime.gpu_backend import GpuBackend
from tilewright.codegen.runtime.libcuda import LIBRARY, LibCuda
from tilewright.codegen.runtime.simulated_driver import SimulatedDriver

from .fake_driver import FakeDriver, NoCompiler, built_library, is_fake

TARGET = "sm_90a"
Compile = Callable[..., CompiledProgram]


@pytest.fixture(scope="session")
def fake_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Path of the fake driver's library, or of the fake that replaces the real library."""
    if is_fake(LIBRARY):
        return Path(LIBRARY)
    source = Path(__file__).with_name("fake_libcuda.c")
    path = built_library(source, tmp_path_factory.mktemp("driver"))
    if path is None:
        pytest.skip("the fake driver needs a C compiler and cuda.h")
    return path


@pytest.fixture
def fake(fake_path: Path) -> FakeDriver:
    """The fake driver."""
    return FakeDriver(fake_path)


@pytest.fixture
def cuda_driver(fake: FakeDriver, tmp_path: Path) -> CudaDriver:
    """
    Our driver on top of the fake one, with the CPU's memory.

    It is `cuda-bindings` if the fake replaces the real library, where the bindings look for it;
    otherwise it is `libcuda`.
    """
    need_nvrtc()
    cache = NoCompiler(tmp_path)
    if is_fake(LIBRARY):
        driver = BindingsDriver(0, BoundLibrary(), cache, device="cpu")
    else:
        driver = CudaDriver(0, LibCuda(str(fake.path)), cache, device="cpu")
    fake.log()
    return driver


@pytest.fixture
def compile() -> Compile:
    """`tilewright.compile` with the GPU's host code on the simulator."""
    need_nvrtc()

    def compiled(
        function: Any, *inputs: Any, kwargs: Mapping[str, Any] | None = None
    ) -> CompiledProgram:
        backend = GpuBackend(TARGET, SimulatedDriver())
        return CompiledProgram(capture(function, *inputs, kwargs=kwargs), backend, TARGET)

    return compiled
