# SPDX-License-Identifier: Apache-2.0
"""A file is replaced as a whole, or stays as it was."""

from pathlib import Path

import pytest

from tilewright.codegen.whole_file import write_whole


def test_a_file_is_replaced(tmp_path: Path):
    path = tmp_path / "file"
    for content in (b"first", b""):
        write_whole(path, content)
        assert path.read_bytes() == content
    assert [*tmp_path.iterdir()] == [path]


def test_it_may_be_read_by_whom_other_files_may(tmp_path: Path):
    path, other = tmp_path / "file", tmp_path / "other"
    other.touch()
    write_whole(path, b"content")
    assert path.stat().st_mode == other.stat().st_mode


def test_nothing_is_left_where_it_cannot_be_written(tmp_path: Path):
    path = tmp_path / "folder"
    path.mkdir()
    with pytest.raises(OSError, match="directory"):
        write_whole(path, b"content")
    assert [*tmp_path.iterdir()] == [path]
