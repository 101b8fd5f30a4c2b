# SPDX-License-Identifier: Apache-2.0
"""`tilewright cache`, and commands that use the cache."""

from pathlib import Path

import pytest
from needs import needs_nvrtc

from tilewright.tuning import plan_cache

from ..conftest import Tilewright


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache."""
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@needs_nvrtc
def test_run_compiles_once(folder: Path, tilewright: Tilewright, monkeypatch: pytest.MonkeyPatch):
    command = ("run", "-c", "torch.randn(3, 5).exp()")
    first = tilewright(*command)

    def never(*_: object) -> None:
        raise AssertionError("it was compiled before")

    monkeypatch.setattr(plan_cache, "_compiled", never)
    assert tilewright(*command) == first
    assert first.code == 0


def test_it_is_listed_and_cleared(folder: Path, tilewright: Tilewright):
    assert tilewright("cache").out.splitlines()[-1] == f"in {folder}, at most 1024 MiB"
    folder.mkdir(mode=0o700)
    (folder / "a.plan").write_bytes(bytes(3 << 20))
    (folder / "b.cubin").write_bytes(bytes(1 << 19))
    (folder / "notes.txt").write_text("the user's own")
    left = folder / ".abcdefgh"  # of a process that was killed while it wrote
    left.mkdir()
    (left / "c.plan").touch()
    rows = [line.split() for line in tilewright("cache", "ls").out.splitlines()]
    assert ["machine", "code", "1", "0.5"] in rows
    assert rows[-2][-2:] == ["1", "3.0"]
    cleared = tilewright("cache", "clear")
    assert cleared == (0, f"deleted 2 files in {folder}\n", "")
    assert [path.name for path in folder.iterdir()] == ["notes.txt"]


def test_it_is_off(tilewright: Tilewright, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TILEWRIGHT_CACHE", "off")
    assert tilewright("cache", "clear") == (0, "the cache is off: TILEWRIGHT_CACHE=off\n", "")


def test_a_folder_of_others_is_refused(folder: Path, tilewright: Tilewright):
    folder.mkdir()
    folder.chmod(0o777)
    refused = tilewright("cache", "clear")
    assert refused.code == 2
    assert refused.err.startswith("error: the cache is not used: others can write to the folder")
