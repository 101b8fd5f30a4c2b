# SPDX-License-Identifier: Apache-2.0
"""Choice of NVRTC: the newest whose machine code the driver accepts, if there is one."""

import ctypes
from collections.abc import Iterator
from pathlib import Path

import pytest

from tilewright.codegen import nvrtc_library
from tilewright.codegen.nvrtc_library import NvrtcUnavailable


class Library:
    """Stand-in for a loaded library."""

    def __init__(self, file: str):
        self.file = file


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a toolkit's libraries; no other libraries are found."""

    def loaded(file: str) -> Library:
        if Path(file).is_file():
            return Library(Path(file).name)
        raise OSError(f"{file}: cannot open shared object file")

    monkeypatch.setattr(ctypes, "CDLL", loaded)
    monkeypatch.setattr(nvrtc_library, "find_spec", lambda name: None)  # pyright: ignore
    monkeypatch.setattr(nvrtc_library, "_toolkits", [tmp_path])
    (tmp_path / "lib64").mkdir()
    caches = (nvrtc_library.load, nvrtc_library.driver_major)
    for cache in caches:
        cache.cache_clear()
    yield tmp_path / "lib64"
    for cache in caches:
        cache.cache_clear()


@pytest.mark.parametrize(
    ("driver", "there", "taken"),
    [
        (None, (12, 13), 13),
        (12, (12, 13), 12),
        (13, (12, 13), 13),
        (14, (12, 13), 13),
        (13, (12,), 12),
        (12, (13,), 13),  # sufficient for the simulator and for reports
        (11, (12, 13), 13),
    ],
)
def test_the_driver_chooses_among_versions(
    driver: int | None,
    there: tuple[int, ...],
    taken: int,
    installed: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(nvrtc_library, "driver_major", lambda: driver)
    for major in there:
        (installed / f"libnvrtc.so.{major}").touch()
    library = nvrtc_library.load()
    assert isinstance(library, Library)
    assert library.file == f"libnvrtc.so.{taken}"


def test_without_a_library_both_are_named(installed: Path, monkeypatch: pytest.MonkeyPatch):
    assert nvrtc_library.driver_major() is None
    missing = "and neither libnvrtc.so.13 nor libnvrtc.so.12 is found"
    with pytest.raises(NvrtcUnavailable, match=rf"{missing} \(pip install 'tilewright\[cuda\]'\)"):
        nvrtc_library.load()
    monkeypatch.setattr(nvrtc_library, "driver_major", lambda: 12)
    with pytest.raises(NvrtcUnavailable, match=r"tilewright\[cuda12\]', for the driver of CUDA 12"):
        nvrtc_library.load()


def test_a_broken_library_says_how_to_install(tmp_path: Path):
    (tmp_path / "libnvrtc.so.13").write_text("no library")
    with pytest.raises(NvrtcUnavailable, match=r"pip install 'tilewright\[cuda\]'"):
        nvrtc_library.open_library(tmp_path, 13)
