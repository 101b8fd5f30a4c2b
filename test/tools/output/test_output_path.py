# SPDX-License-Identifier: Apache-2.0
"""Files are written whole or not at all, and paths are checked before there is content."""

import os
import resource
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import Mock

import pytest

from tilewright.codegen.whole_file import exchange
from tilewright.errors import TilewrightError, UsageError
from tilewright.tools.cli import main
from tilewright.tools.output.output_path import check_path, write_bytes, write_text

RELU = ["-c", "torch.relu(torch.ones(4))"]


@pytest.mark.parametrize(
    "command",
    [
        ["run", *RELU, "--json"],
        ["explain", *RELU, "--json"],
        ["compile", *RELU, "--json"],
        ["compile", *RELU, "--plan"],
        ["compile", *RELU, "-o"],
    ],
)
def test_commands_check_paths_before_they_begin(
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tilewright.frontend.capture.capture", None)  # not reached
    assert main([*command, "none/x.txt"]) == 2
    error = "error: cannot write 'none/x.txt': there is no folder 'none'\n"
    assert capsys.readouterr() == ("", error)


def test_a_folder_that_is_read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "access", Mock(return_value=False))
    with pytest.raises(UsageError, match="is read-only"):
        check_path(str(tmp_path / "x.json"))
    check_path("/dev/null")  # no file is created in its folder


def test_a_file_is_written_over_where_none_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def access(path: Path, mode: int) -> bool:
        return path == tmp_path / "open"

    for name in ("open", "closed"):
        (tmp_path / name).write_text("")
    monkeypatch.setattr(os, "access", access)
    check_path(str(tmp_path / "open"))
    with pytest.raises(UsageError, match=r"'.*/closed': it is read-only"):
        check_path(str(tmp_path / "closed"))
    with pytest.raises(UsageError, match=r"'.*/new': the folder '.*' is read-only"):
        check_path(str(tmp_path / "new"))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@contextmanager
def disk_of(size: int) -> Generator[None]:
    """Limit files to `size` bytes: a larger write fails as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_leaves_the_old_file(tmp_path: Path):
    path = tmp_path / "x.json"
    path.write_text("old")
    with disk_of(1000), pytest.raises(TilewrightError, match=r"cannot write '.*x.json': File too"):
        write_text(str(path), "new" * 1000)
    assert (path.read_text(), names(tmp_path)) == ("old", ["x.json"])
    with disk_of(1000), pytest.raises(TilewrightError, match="File too large"):
        write_text(str(tmp_path / "none.json"), "new" * 1000)
    assert names(tmp_path) == ["x.json"]


_KILLED = """
import os, signal, sys
from pathlib import Path
from tilewright.codegen import whole_file

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

path = Path(sys.argv[1])
for place, name in [(os, "fsync"), (Path, "chmod"), (Path, "replace")]:
    if (child := os.fork()) == 0:
        setattr(place, name, die)
        whole_file.write_whole(path, b"new" * 99999)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    print(path.read_text())
whole_file.write_whole(path, b"new")
print(path.read_text())
"""


def test_a_kill_leaves_the_old_file(tmp_path: Path):
    path = tmp_path / "x.json"
    path.write_text("old")
    command = [sys.executable, "-c", _KILLED, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["old", "old", "old", "new"]


def test_links_are_followed(tmp_path: Path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "direct").symlink_to("folder/x.json")
    (tmp_path / "indirect").symlink_to(tmp_path / "direct")
    for link in ("direct", "indirect"):
        check_path(str(tmp_path / link))
        write_text(str(tmp_path / link), link)
        assert (tmp_path / link).is_symlink()
        assert (tmp_path / "folder" / "x.json").read_text() == link
    assert names(tmp_path / "folder") == ["x.json"]


def test_a_link_to_itself_and_a_link_to_nowhere(tmp_path: Path):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "lost").symlink_to("nowhere/x.json")
    for write in (check_path, partial(write_text, text="")):
        with pytest.raises(UsageError, match="Too many levels of symbolic links"):
            write(str(tmp_path / "loop"))
        with pytest.raises(UsageError, match=r"lost': (there is no folder|No such file)"):
            write(str(tmp_path / "lost"))


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o755])
def test_the_mode_of_the_old_file_is_kept(mode: int, tmp_path: Path):
    path = tmp_path / "x.json"
    path.write_text("old")
    path.chmod(mode)
    write_text(str(path), "new")
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("new", mode)


def test_a_new_file_has_the_mode_of_the_users_umask(tmp_path: Path):
    before = os.umask(0o027)
    try:
        write_text(str(tmp_path / "x.json"), "new")
    finally:
        os.umask(before)
    assert (tmp_path / "x.json").stat().st_mode & 0o777 == 0o640


def test_a_pipe_and_a_device_are_written_to(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = list[str]()
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_text(str(pipe), "through")
    reader.join()
    write_text("/dev/null", "nothing")
    assert (read, names(tmp_path)) == (["through"], ["pipe"])
    assert Path("/dev/null").is_char_device()


@pytest.mark.one_in(3)
@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_an_open_file_is_written_on(name: str, tmp_path: Path):
    code = (
        "import sys; from tilewright.tools.output.output_path import check_path, write_text;"
        "check_path(sys.argv[1]); print('first'); write_text(sys.argv[1], 'second'); print('third')"
    )
    out = tmp_path / "out"
    with out.open("w") as stream:
        subprocess.run([sys.executable, "-c", code, name], stdout=stream, check=True)
    assert out.read_text() == "first\nsecondthird\n"


_AS_A_USER = """
import os, resource, sys
from pathlib import Path
from tilewright.errors import TilewrightError
from tilewright.tools.output.output_path import check_path, write_text

os.geteuid() or os.setuid(65534)  # root may write anywhere
folder = Path(sys.argv[1])
for name in ("open", "closed", "new"):
    try:
        check_path(str(folder / name))
        write_text(str(folder / name), "shorter")
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
        write_text(str(folder / name), "x" * 1001)
    except TilewrightError as err:
        print(name, str(err).replace(str(folder), ""), sep=": ")
"""


def test_a_file_of_a_folder_that_is_read_only_is_written_over():
    with TemporaryDirectory() as made:
        folder = Path(made)
        for name, mode in (("open", 0o666), ("closed", 0o444)):
            (folder / name).write_text("old and long")
            (folder / name).chmod(mode)
        folder.chmod(0o555)
        command = [sys.executable, "-c", _AS_A_USER, made]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        folder.chmod(0o755)
        assert done.stdout.splitlines() == [
            "open: cannot write '/open': File too large",
            "closed: cannot write '/closed': it is read-only",
            "new: cannot write '/new': the folder '' is read-only",
        ]
        assert (folder / "open").read_text() == "shorter"


def test_files_and_folders_are_exchanged(tmp_path: Path):
    (tmp_path / "one").write_text("1")
    (tmp_path / "two").mkdir()
    assert exchange(tmp_path / "one", tmp_path / "two")
    assert ((tmp_path / "one").is_dir(), (tmp_path / "two").read_text()) == (True, "1")
    assert not exchange(tmp_path / "one", tmp_path / "none")


def test_bytes_are_written_unchanged(tmp_path: Path):
    write_bytes(str(tmp_path / "x"), b"\0\r\n\xff")
    assert (tmp_path / "x").read_bytes() == b"\0\r\n\xff"
