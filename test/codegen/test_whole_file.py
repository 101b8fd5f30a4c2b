# SPDX-License-Identifier: Apache-2.0
"""A file is replaced as a whole, or remains unchanged."""

from pathlib import Path

import pytest

from tilewright.codegen.whole_file import write_whole


def test_a_file_is_replaced(tmp_path: Path):
    path = tmp_path / "file"
    for content in (b"first", b""):
        write_whole(path, content)
        assert path.read_bytes() == content
    assert [*tmp_path.iterdir()] == [path]


def test_it_has_the_permissions_of_other_files(tmp_path: Path):
    path, other = tmp_path / "file", tmp_path / "other"
    other.touch()
    write_whole(path, b"content")
    assert path.stat().st_mode == other.stat().st_mode


def test_a_failed_write_leaves_no_file(tmp_path: Path):
    path = tmp_path / "folder"
    path.mkdir()
    with pytest.raises(OSError, match="directory"):
        write_whole(path, b"content")
    assert [*tmp_path.iterdir()] == [path]
