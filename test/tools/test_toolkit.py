# SPDX-License-Identifier: Apache-2.0
"""Folders in which NVRTC and the programs of the CUDA toolkit are searched for."""

from pathlib import Path

import pytest

from tilewright.codegen import nvrtc_library
from tilewright.tools import toolkit
from tilewright.tools.toolkit import find_tool, use_cuda_home


def test_cuda_home_is_searched_last(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(nvrtc_library, "_toolkits", [])
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    use_cuda_home()
    folders = list(nvrtc_library.folders(13))
    assert folders[-2:] == [tmp_path / "lib64", tmp_path / "lib"]


def test_without_cuda_home_the_usual_folder_is_searched(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(nvrtc_library, "_toolkits", [])
    monkeypatch.delenv("CUDA_HOME", raising=False)
    before = list(nvrtc_library.folders(13))
    monkeypatch.setattr(toolkit, "_USUAL_HOME", str(tmp_path / "no"))
    use_cuda_home()
    assert list(nvrtc_library.folders(13)) == before
    monkeypatch.setattr(toolkit, "_USUAL_HOME", str(tmp_path))
    use_cuda_home()
    assert list(nvrtc_library.folders(13)) == [*before, tmp_path / "lib64", tmp_path / "lib"]


@pytest.mark.parametrize("folder", ["bin", "compute-sanitizer"])
def test_programs_of_the_toolkit_are_found(
    folder: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ncu = tmp_path / folder / "ncu"
    ncu.parent.mkdir()
    ncu.write_text("#!/bin/sh\n")
    ncu.chmod(0o755)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    assert find_tool("ncu") == str(ncu)
    assert find_tool("no-such-tool") is None
