# SPDX-License-Identifier: Apache-2.0
"""Where NVRTC is looked for."""

from pathlib import Path

import pytest

from tilewright.codegen import nvrtc
from tilewright.tools.toolkit import use_cuda_home


def test_cuda_home_is_looked_at_last(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(nvrtc, "_toolkits", [])
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    use_cuda_home()
    folders = list(nvrtc._folders())  # pyright: ignore[reportPrivateUsage]
    assert folders[-2:] == [tmp_path / "lib64", tmp_path / "lib"]


def test_without_cuda_home_nothing_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "_toolkits", [])
    monkeypatch.delenv("CUDA_HOME", raising=False)
    before = list(nvrtc._folders())  # pyright: ignore[reportPrivateUsage]
    use_cuda_home()
    assert list(nvrtc._folders()) == before  # pyright: ignore[reportPrivateUsage]
