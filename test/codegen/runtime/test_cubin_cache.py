# SPDX-License-Identifier: Apache-2.0
"""Cache of machine code on disk: compiled once, and never confused with other code."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from needs import needs_nvrtc

from tilewright.codegen import nvrtc
from tilewright.codegen.file_cache import default_folder, kept_in
from tilewright.codegen.nvrtc import CompiledCubin, CudaCompileError
from tilewright.codegen.runtime.cubin_cache import CubinCache

pytestmark = needs_nvrtc

SOURCE = 'extern "C" __global__ void f(float *x) { *x = 1; }'
Compilations = list[tuple[str, str]]


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> Compilations:
    """The sources and targets that NVRTC is asked to compile."""
    asked: Compilations = []
    compile: Callable[..., CompiledCubin] = nvrtc.compile_cubin

    def counted(source: str, target: str, *, name: str) -> CompiledCubin:
        asked.append((source, target))
        return compile(source, target, name=name)

    monkeypatch.setattr(nvrtc, "compile_cubin", counted)
    return asked


def test_code_is_compiled_once(tmp_path: Path, compilations: Compilations):
    folder = tmp_path / "new" / "folder"
    first = CubinCache(folder).cubin(SOURCE, "sm_90a")
    assert CubinCache(folder).cubin(SOURCE, "sm_90a") == first
    assert first.startswith(b"\x7fELF")
    assert len(compilations) == 1
    assert [path.suffix for path in folder.iterdir()] == [".cubin"]


def test_changed_code_targets_options_and_versions_are_compiled_again(
    tmp_path: Path, compilations: Compilations, monkeypatch: pytest.MonkeyPatch
):
    cache = CubinCache(tmp_path)
    cache.cubin(SOURCE, "sm_90a")
    cache.cubin(SOURCE + " ", "sm_90a")
    cache.cubin(SOURCE, "sm_80")
    monkeypatch.setattr(nvrtc, "STANDARD_OPTIONS", (*nvrtc.STANDARD_OPTIONS, "--fmad=true"))
    cache.cubin(SOURCE, "sm_90a")
    monkeypatch.setattr(nvrtc, "version", lambda: (13, 99))
    cache.cubin(SOURCE, "sm_90a")
    assert len(compilations) == len([*tmp_path.iterdir()]) == 5


@pytest.mark.parametrize("damage", [b"", b"short", None])
def test_damaged_files_are_made_anew(
    damage: bytes | None, tmp_path: Path, compilations: Compilations
):
    cache = CubinCache(tmp_path)
    cubin = cache.cubin(SOURCE, "sm_90a")
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]) if damage is None else damage)
    assert cache.cubin(SOURCE, "sm_90a") == cubin
    assert file.read_bytes() == whole
    assert len(compilations) == 2


def test_a_folder_that_cannot_be_written_is_not_used(tmp_path: Path, compilations: Compilations):
    file = tmp_path / "file"
    file.write_text("no folder")
    cache = CubinCache(file)
    assert cache.cubin(SOURCE, "sm_90a") == cache.cubin(SOURCE, "sm_90a")
    assert len(compilations) == 2


def test_the_folder_is_the_users_alone(tmp_path: Path):
    before = os.umask(0)
    try:
        CubinCache(tmp_path / "above" / "folder").keep("a", "sm_90a", b"cubin")
    finally:
        os.umask(before)
    assert (tmp_path / "above" / "folder").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777, 0o1777])
def test_a_folder_that_others_can_write_to_is_not_used(
    mode: int, tmp_path: Path, compilations: Compilations
):
    CubinCache(tmp_path).keep(SOURCE, "sm_90a", b"planted")
    assert CubinCache(tmp_path).cubin(SOURCE, "sm_90a") == b"planted"
    tmp_path.chmod(mode)
    for number in (1, 2):
        with pytest.warns(UserWarning, match="machine code is not cached: others can write to"):
            assert CubinCache(tmp_path).cubin(SOURCE, "sm_90a").startswith(b"\x7fELF")
        assert len(compilations) == number


def test_a_folder_of_another_user_is_not_used(
    tmp_path: Path, compilations: Compilations, monkeypatch: pytest.MonkeyPatch
):
    CubinCache(tmp_path).keep(SOURCE, "sm_90a", b"planted")
    user = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: user + 1)
    (tmp_path / "link").symlink_to(tmp_path)
    for folder in (tmp_path, tmp_path / "link"):
        with pytest.warns(UserWarning, match=f"belongs to another user .{user}"):
            assert CubinCache(folder).cubin(SOURCE, "sm_90a").startswith(b"\x7fELF")
    assert len(compilations) == 2
    assert [path.suffix for path in sorted(tmp_path.iterdir())] == [".cubin", ""]


def test_a_failed_compilation_leaves_no_file(tmp_path: Path):
    with pytest.raises(CudaCompileError, match=r"kernels\.cu:1"):
        CubinCache(tmp_path).cubin("nonsense", "sm_90a")
    assert [*tmp_path.iterdir()] == []


def test_the_least_recently_used_code_is_evicted(tmp_path: Path):
    sizes = {"a": 300, "b": 300, "c": 200}
    cache = CubinCache(tmp_path, most_bytes=1000)
    for source, size in sizes.items():
        cache.keep(source, "sm_90a", bytes(size))
    for age, path in enumerate(sorted(tmp_path.iterdir())):
        os.utime(path, (age, age))
    assert cache.cubin("a", "sm_90a") == bytes(300)  # the hit makes it the most recently used
    cache.keep("d", "sm_90a", bytes(400))
    assert sum(kept.bytes for kept in kept_in(tmp_path)) <= 1000
    kept = {path.stat().st_size for path in tmp_path.iterdir()}
    assert {300 + 32, 400 + 32} <= kept


def test_code_larger_than_the_cache_is_not_kept(tmp_path: Path):
    CubinCache(tmp_path, most_bytes=100).keep("a", "sm_90a", bytes(101))
    assert [*tmp_path.iterdir()] == []


def test_other_files_are_not_evicted(tmp_path: Path):
    (tmp_path / "tuned.db").write_bytes(bytes(1000))
    CubinCache(tmp_path, most_bytes=100).keep("a", "sm_90a", bytes(20))
    assert {path.suffix for path in tmp_path.iterdir()} == {".db", ".cubin"}
    assert [kept.bytes for kept in kept_in(tmp_path)] == [20 + 32]


PROCESS = """
import sys
from pathlib import Path
from tilewright.codegen.runtime.cubin_cache import CubinCache
sys.stdout.buffer.write(CubinCache(Path(sys.argv[1])).cubin(sys.argv[2], "sm_90a"))
"""


def test_processes_at_the_same_time(tmp_path: Path):
    command = [sys.executable, "-c", PROCESS, str(tmp_path), SOURCE]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(2)]
    cubins = {process.communicate(timeout=100)[0] for process in processes}
    assert cubins == {CubinCache(tmp_path).cubin(SOURCE, "sm_90a")}
    assert len([*tmp_path.iterdir()]) == 1


@pytest.mark.parametrize(
    ("value", "folder"), [("", Path("/xdg/tilewright")), ("a/b", Path("a/b")), ("off", None)]
)
def test_the_users_folder(value: str, folder: Path | None, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    monkeypatch.setenv("TILEWRIGHT_CACHE", value)
    assert default_folder() == folder


_NOT_SEARCHABLE = """
import os, sys
from pathlib import Path
from tilewright.codegen.file_cache import reason_against_folder, kept_in
from tilewright.codegen.runtime.cubin_cache import CubinCache

os.geteuid() or os.setuid(65534)  # root may search any folder
folder = Path(sys.argv[1]) / "tilewright"
CubinCache(folder).keep("a", "sm_90a", b"cubin")
print(reason_against_folder(folder), len([*kept_in(folder)]))
"""


def test_a_folder_that_may_not_be_searched_is_not_used():
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0)
        command = [sys.executable, "-c", _NOT_SEARCHABLE, folder]
        done = subprocess.run(command, capture_output=True, text=True)
        Path(folder).chmod(0o755)
    assert (done.stdout, done.returncode) == ("None 0\n", 0), done.stderr
