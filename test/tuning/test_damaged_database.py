# SPDX-License-Identifier: Apache-2.0
"""Damaged databases: an error names the file, and no altered row is read."""

import resource
import sqlite3
import subprocess
import sys
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from damage import damaged
from draws import drawn

from tilewright.tuning import database_file, knowledge
from tilewright.tuning.database import Database
from tilewright.tuning.database_schema import SCHEMA, DatabaseError, make_tables
from tilewright.tuning.key import KernelNote, Key
from tilewright.tuning.knowledge import fastest_records
from tilewright.tuning.measurement import Measurement

KERNELS = [f"{number:032x}" for number in range(0xAB00, 0xAB10, 4)]
FIELDS = {
    "kernel": KERNELS[0],
    **{"dtype": "f32", "target": "sm_90a", "device": "NVIDIA H100", "evaluator": "gpu"},
    **{"semantics": 1, "nvrtc": "13.0", "schedule": "tileify", "us": 2.5, "problem": ""},
    **{"spread_us": 0.0, "measured_at": "2026-01-01T00:00:00.000000+00:00"},
}


def key_of(kernel: str) -> Key:
    return Key(kernel, "f32", "sm_90a", "NVIDIA H100", "gpu", 1, "13.0")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Path of a database of four kernels and forty measurements."""
    path = tmp_path / "tuning.sqlite"
    random = Random(0)
    with Database.writing(path) as database:
        for kernel in KERNELS:
            origin = "torch.relu(torch.randn(8))"
            about = "relu(8xf32) -> 8xf32"
            ir = "loop.kernel @relu() {}\n" * 9
            database.describe(KernelNote(kernel, "relu", about, ("x", ""), origin, ir))
            for n in range(10):
                schedule = f"tileify,blockify-launch{{n={n}}}"
                us = None if n == 9 else random.uniform(1, 9)
                database.add(key_of(kernel), Measurement(schedule, us, "none" if n == 9 else ""))
    return path


def contents(path: Path) -> dict[str, Any]:
    """Return all answers of a database to queries."""
    with Database.reading(path) as database:
        found: dict[str, Any] = {kernel: database.fastest_of_each(kernel) for kernel in KERNELS}
        keyed = {f"key {kernel}": database.measurements(key_of(kernel)) for kernel in KERNELS}
        best, counts = database.best_of_each(), database.counts()
        whole = {"records": database.records(), "notes": database.notes()}
        return {**found, **keyed, **whole, "best": best, "counts": counts}


def test_damage_is_found_or_changes_nothing(path: Path, tmp_path: Path) -> None:
    before, sound, random = contents(path), path.read_bytes(), Random(0)
    found = same = 0
    for number in range(drawn(800)):
        other = tmp_path / f"{number % 2}.sqlite"
        other.write_bytes(damaged(sound, random))
        try:
            read = contents(other)
        except DatabaseError as err:
            found += str(other) in str(err)
        else:
            assert read == before
            same += 1
    assert found > drawn(800) / 2
    assert found + same == drawn(800)


def test_a_changed_schedule_is_found(path: Path) -> None:
    with_another(path, b"{n=3}", b"{n=2}")
    with Database.reading(path) as database, pytest.raises(DatabaseError, match="checksum"):
        database.best_of_each()


def test_a_row_that_belongs_to_another_kernel_now_is_found(path: Path) -> None:
    """The row is still in order, but its kernel has lost it."""
    rest = "f32sm_90aNVIDIA H100gpu13.0tileify,blockify-launch{n=9}"
    with_another(path, f"{KERNELS[1]}{rest}".encode(), f"{KERNELS[1][:-1]}5{rest}".encode())
    with Database.reading(path) as database, pytest.raises(DatabaseError, match="checksum"):
        database.fastest_of_each(KERNELS[1])


def with_another(path: Path, old: bytes, new: bytes) -> None:
    """Replace the last occurrence of some bytes in a file."""
    before, found, after = path.read_bytes().rpartition(old)
    assert found
    path.write_bytes(before + new + after)


@contextmanager
def old_tables(path: Path) -> Generator[sqlite3.Connection]:
    """Make a database as version 1 made it, without checksums; yield its connection."""
    connection = sqlite3.connect(path, isolation_level=None)
    make_tables(connection, version=1)
    names, marks = ", ".join(FIELDS), ", ".join("?" * len(FIELDS))
    connection.execute(f"INSERT INTO measurements ({names}) VALUES ({marks})", [*FIELDS.values()])
    note = (KERNELS[0], "relu", "relu(8xf32) -> 8xf32", '["x"]', "", "")
    connection.execute("INSERT INTO kernels VALUES (?, ?, ?, ?, ?, ?)", note)
    yield connection
    connection.close()


def test_old_tables_are_read_and_get_checksums(tmp_path: Path) -> None:
    path = tmp_path / "old.sqlite"
    with old_tables(path):
        pass
    before = contents(path)
    assert before["best"][0].measurement == Measurement("tileify", 2.5)
    Database.writing(path).close()
    assert contents(path) == before
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (SCHEMA,)
        connection.execute("UPDATE measurements SET us = 2.0")
    with pytest.raises(DatabaseError, match=r"old.sqlite' is damaged: its checksum"):
        contents(path)


WRONG_CELLS = [
    ("us", "fast", 'us is "fast"; expected a number of microseconds, at least 0, or null'),
    ("us", b"\xff\x00", "us is "),
    ("us", -1.0, "us is -1.0; expected"),
    ("us", float("inf"), "us is Infinity; expected"),
    ("us", 1e300, "us is 1e\\+300; expected"),
    ("spread_us", "none", 'spread_us is "none"; expected a number of microseconds'),
    ("semantics", "one", 'semantics is "one"; expected a whole number'),
    ("semantics", -(2**63), "semantics is -9223372036854775808"),
    ("schedule", b"tileify", "schedule is "),
    ("problem", b"7", "problem is "),  # a text column stores a number as text
    ("measured_at", "yesterday", 'measured_at is "yesterday"; expected a time'),
    ("device", b"\xff", "device is "),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("column", "value", "complaint"), WRONG_CELLS)
def test_cells_of_other_types(tmp_path: Path, column: str, value: Any, complaint: str) -> None:
    path = tmp_path / "old.sqlite"
    with old_tables(path) as connection:
        connection.execute(f"UPDATE measurements SET {column} = ?", (value,))
    for reading in (contents, Database.writing):
        with pytest.raises(DatabaseError, match=f"old.sqlite' is damaged: {complaint}"):
            reading(path)


@pytest.mark.parametrize("inputs", ["x", "3", '"xy"', "[1]", '{"x": 1}', "[" * 9999])
def test_inputs_that_are_no_list_of_names(tmp_path: Path, inputs: str) -> None:
    path = tmp_path / "old.sqlite"
    with old_tables(path) as connection:
        connection.execute("UPDATE kernels SET inputs = ?", (inputs,))
    with pytest.raises(DatabaseError, match=r"old.sqlite' is damaged: inputs "):
        contents(path)


def test_tables_with_other_columns(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("ALTER TABLE measurements ADD COLUMN more")
    for opened in (Database.reading, Database.writing):
        with pytest.raises(DatabaseError, match="is damaged: its tables have other columns"):
            opened(path)


def test_a_damaged_user_database_is_ignored_with_a_warning(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(knowledge, "own_database", lambda: path)
    assert len(fastest_records(True, KERNELS)) == len(KERNELS)
    sound, random = path.read_bytes(), Random(1)
    for _ in range(drawn(40)):
        path.write_bytes(damaged(sound, random))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = fastest_records(True, KERNELS)
        assert bool(caught) == (not found)
        assert all(str(each.message).endswith("; it is ignored") for each in caught)


def test_a_folder_in_its_place(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match="there is no database '"):
        Database.reading(tmp_path)
    with pytest.raises(DatabaseError, match="unable to open database file"):
        Database.writing(tmp_path)


def test_a_lock_that_stays(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A locked database is not read despite its lock, which could give half of a change."""
    monkeypatch.setattr(database_file, "_PATIENCE_S", 0.01)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA journal_mode = DELETE")
    other.execute("BEGIN EXCLUSIVE")
    for opened in (Database.reading, Database.writing):
        with pytest.raises(DatabaseError, match="database is locked"):
            opened(path)
    other.close()


def test_a_full_disk_keeps_earlier_rows(path: Path) -> None:
    before = contents(path)["records"]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Database.writing(path) as database:
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, hard))
        try:
            with pytest.raises(DatabaseError, match=r"tuning\.sqlite': (disk I/O error|.*full)"):
                _fill(database)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [r for r in contents(path)["records"] if len(r.measurement.schedule) < 99] == before


def _fill(database: Database) -> None:
    for n in range(500):
        database.add(key_of(KERNELS[0]), Measurement("x" * 9999 + str(n), 1.0))


@pytest.mark.one_in(3)
@pytest.mark.parametrize("us", [-1.0, float("inf"), float("nan")])
def test_invalid_times_are_not_kept(path: Path, us: float) -> None:
    with Database.writing(path) as database:
        with pytest.raises(DatabaseError, match="cannot store a measurement: us is"):
            database.add(key_of(KERNELS[0]), Measurement("tileify", us))
        database.add(key_of(KERNELS[0]), Measurement("tileify", None, "half a \ud800 character"))
        (kept,) = [r for r in database.records() if r.measurement.problem.startswith("half")]
    assert kept.measurement.problem == "half a \\ud800 character"


_NOT_SEARCHABLE = """
import os, sys, warnings
from pathlib import Path
from tilewright.tuning import knowledge
from tilewright.tuning.database import Database
from tilewright.tuning.database_schema import DatabaseError

os.geteuid() or os.setuid(65534)  # root may search any folder
path = Path(sys.argv[1]) / "tuning.sqlite"
knowledge.own_database = lambda: path
warnings.showwarning = lambda message, *_: print(message)
assert knowledge.fastest_records(True, ["0"]) == {}
for opened in (Database.reading, Database.writing):
    try:
        opened(path)
    except DatabaseError as err:
        print(err)
"""


def test_a_folder_that_may_not_be_searched() -> None:
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0)
        command = [sys.executable, "-c", _NOT_SEARCHABLE, folder]
        done = subprocess.run(command, capture_output=True, text=True)
        Path(folder).chmod(0o755)
    assert done.returncode == 0, done.stderr
    says = f"the database '{folder}/tuning.sqlite': unable to open database file"
    assert done.stdout.splitlines() == [f"{says}; it is ignored", says, says]
