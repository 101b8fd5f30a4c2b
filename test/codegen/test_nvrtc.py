# SPDX-License-Identifier: Apache-2.0
"""NVRTC through ctypes: PTX, cubins, logs and errors."""

import ctypes
from typing import Any

import pytest

from tilewright.codegen import nvrtc, nvrtc_library
from tilewright.errors import TilewrightError

_SCALE = 'extern "C" __global__ void scale(float* x) {\n  x[threadIdx.x] *= 2.0f;\n}\n'


def test_nvrtc_is_installed():
    """CUDA tests are worthless if they are skipped: a test machine must have NVRTC."""
    assert nvrtc.available(), "pip install 'tilewright[cuda]'"
    assert nvrtc.version() >= (13, 0)


def test_ptx_has_the_kernel_its_target_and_source_lines():
    compiled = nvrtc.compile(_SCALE, "sm_90a")
    assert ".entry scale(" in compiled.ptx
    assert ".target sm_90a" in compiled.ptx
    assert ".loc\t1 2 " in compiled.ptx
    assert compiled.log == ""


def test_another_target():
    assert ".target sm_80" in nvrtc.compile(_SCALE, "sm_80").ptx


def test_the_log_keeps_warnings():
    source = 'extern "C" __global__ void k(float* x) { int unused; x[0] = 1; }'
    assert "unused" in nvrtc.compile(source).log


def test_a_cubin_comes_with_registers_and_shared_memory():
    source = 'extern "C" __global__ void k(float* x) { __shared__ float s[64];\n'
    source += "s[threadIdx.x] = x[threadIdx.x]; __syncthreads(); x[threadIdx.x] = s[0]; }"
    compiled = nvrtc.compile_cubin(source)
    assert compiled.cubin.startswith(b"\x7fELF")
    assert "registers" in compiled.log
    assert "256 bytes smem" in compiled.log


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_the_ptx_of_a_cubin_is_that_of_its_virtual_architecture(target: str):
    other = nvrtc.compile(_SCALE, target, name="scale.cu").ptx
    cubin = nvrtc.compile_cubin(_SCALE, target, name="scale.cu")
    assert cubin.ptx == other


def test_the_cubin_of_a_text_is_memoised(monkeypatch: pytest.MonkeyPatch):
    source = _SCALE.replace("2.0f", "7.0f")
    cubin = nvrtc.compile_cubin(source)
    monkeypatch.setattr(nvrtc, "_Program", None)
    assert nvrtc.compile_cubin(source) is cubin
    assert nvrtc.compile(source) == nvrtc.Compiled(cubin.ptx, "")
    with pytest.raises(TypeError, match="NoneType"):
        nvrtc.compile(source, "sm_80")


def test_the_ptx_of_a_text_is_memoised(monkeypatch: pytest.MonkeyPatch):
    compiled = nvrtc.compile(_SCALE.replace("2.0f", "9.0f"))
    monkeypatch.setattr(nvrtc, "_Program", None)
    assert nvrtc.compile(_SCALE.replace("2.0f", "9.0f")) is compiled


def test_warnings_are_kept_after_a_cubin_was_compiled():
    source = 'extern "C" __global__ void k(float* x) { int not_used; x[0] = 1; }'
    assert "not_used" in nvrtc.compile_cubin(source).log
    assert "not_used" in nvrtc.compile(source).log


def test_an_error_names_its_file_and_line():
    source = 'extern "C" __global__ void k(float* x) {\n  x[0] = y;\n}'
    with pytest.raises(
        nvrtc.CudaCompileError, match=r'rms_norm\.cu:2: .*"y" is undefined'
    ) as caught:
        nvrtc.compile(source, name="rms_norm.cu")
    assert "rms_norm.cu(2): error" in caught.value.log
    assert isinstance(caught.value, TilewrightError)


def test_an_unknown_target_is_an_error_of_ours():
    with pytest.raises(nvrtc.CudaCompileError, match="gpu-architecture"):
        nvrtc.compile(_SCALE, "sm_1")


def test_options_reach_the_compiler():
    source = 'extern "C" __global__ void k(int* x) { x[0] = N; }'
    assert "12345" in nvrtc.compile(source, options=["-DN=12345"]).ptx


@pytest.mark.parametrize(
    ("version", "is_passed"), [((12, 8), False), ((12, 9), True), ((13, 0), True)]
)
def test_nothing_comes_from_the_cache_of_nvrtc(
    version: tuple[int, int], is_passed: bool, monkeypatch: pytest.MonkeyPatch
):
    """NVRTC since 12.9 has a cache if a driver is present; its machine code comes without a log."""
    options: list[bytes] = []
    library = nvrtc_library.load()
    compile = library.nvrtcCompileProgram

    def noted(handle: Any, _: int, given: Any) -> int:
        options.extend(given)
        kept = [option for option in given if option != b"--no-cache"]  # older: none
        return compile(handle, len(kept), (ctypes.c_char_p * len(kept))(*kept))

    monkeypatch.setattr(library, "nvrtcCompileProgram", noted)
    monkeypatch.setattr(nvrtc, "version", lambda: version)
    # Results that earlier runs of the tests have kept are not used.
    with vars(nvrtc)["_Program"](_SCALE, "scale.cu") as program:
        log = program.compile(["--gpu-architecture=sm_90a", "--ptxas-options=-v"])
    assert "registers" in log
    assert (b"--no-cache" in options) == is_passed
