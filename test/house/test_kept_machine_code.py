# SPDX-License-Identifier: Apache-2.0
"""Results of NVRTC and nvdisasm that are kept between runs of the tests."""

import os
import time
from pathlib import Path

import pytest
from kept_machine_code import DAYS, keep_machine_code, kept, remove_unused
from needs import needs_nvdisasm, needs_nvrtc

from tilewright.codegen import nvrtc
from tilewright.codegen.report import disassemble

COPY = 'extern "C" __global__ void copy_%s(float* y, const float* x) { y[0] = x[0]; }'


def test_equal_needs_are_computed_once(tmp_path: Path):
    calls: list[int] = []

    def doubled(number: int, _comment: str) -> int:
        calls.append(number)
        if number > 8:
            raise ValueError(number)
        return 2 * number

    def needs(number: int, _comment: str) -> tuple[object, ...]:
        return (number,)

    def twice() -> list[int]:
        function = kept(doubled, tmp_path, needs)
        return [function(3, "a"), function(4, "b"), function(3, "c")]

    assert twice() == twice() == [6, 8, 6]
    assert calls == [3, 4]
    for _ in range(2):
        with pytest.raises(ValueError, match="9"):
            kept(doubled, tmp_path, needs)(9, "an error is not kept")
    assert calls == [3, 4, 9, 9]


@pytest.mark.parametrize("damage", [b"", b"half", None])
def test_a_damaged_result_is_computed_again(tmp_path: Path, damage: bytes | None):
    function = kept(lambda: "result", tmp_path, tuple)
    assert function() == "result"
    (file,) = tmp_path.iterdir()
    file.write_bytes(file.read_bytes()[:-3] if damage is None else damage)
    assert function() == "result"
    assert [*tmp_path.iterdir()] == [file]


def test_what_no_run_uses_is_removed(tmp_path: Path):
    for name, days in (("new", DAYS - 1), ("old", DAYS + 1)):
        (tmp_path / name).touch()
        then = time.time() - days * 24 * 3600
        os.utime(tmp_path / name, (then, then))
    remove_unused(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["new"]


@needs_nvrtc
@needs_nvdisasm
def test_kept_results_are_those_of_the_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for module, names in ((nvrtc, ("_compiled", "_compiled_cubin")), (disassemble, ("_output",))):
        for name in names:  # restored at the end
            monkeypatch.setattr(module, name, vars(module)[name])

    def made(source: str) -> tuple[object, ...]:
        keep_machine_code(tmp_path)
        cubin = nvrtc.compile_cubin(source)
        assert nvrtc.compile(source).ptx == cubin.ptx
        fast = nvrtc.compile(source, options=["--use_fast_math"])
        return cubin, fast, disassemble.disassemble(cubin.cubin)

    computed = made(COPY % "here")
    assert "copy_here" in str(computed[2])
    files = {*tmp_path.iterdir()}
    assert len(files) == 3
    assert made(COPY % "here") == computed
    assert {*tmp_path.iterdir()} == files
    assert made(COPY % "there") != computed
    assert ".target sm_80" in nvrtc.compile_cubin(COPY % "here", "sm_80").ptx
    with pytest.raises(nvrtc.CudaCompileError):
        nvrtc.compile_cubin("no CUDA")
    assert len([*tmp_path.iterdir()]) == 7
