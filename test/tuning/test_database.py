# SPDX-License-Identifier: Apache-2.0
"""
The database of measurements: its contents, concurrent writers, and files that are no database.
"""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tilewright.tuning.database import Database
from tilewright.tuning.database_schema import SCHEMA, DatabaseError
from tilewright.tuning.key import KernelNote, Key, Record
from tilewright.tuning.measurement import Measurement

KEY = Key("a" * 32, "f32", "sm_90a", "NVIDIA H100", "gpu", 1, "13.0")
OTHER = KEY._replace(kernel="b" * 32)
FAST, SLOW = Measurement("tileify", 2.5, spread_us=0.1), Measurement("tileify,mark-unroll", 4.0)
FAILED = Measurement("tileify,register-tile{fm=3}", None, "no threads of 3 each")
NOTE = KernelNote(KEY.kernel, "relu", "relu(8xf32) -> 8xf32", ("x", ""), "", "loop.kernel ...")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Path of a database that does not exist yet, in a folder that does not exist either."""
    return tmp_path / "folder" / "tuning.sqlite"


def run(code: str, *argv: str) -> str:
    """Return the output of a new interpreter."""
    command = [sys.executable, "-c", code, *argv]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_measurements_are_found(path: Path) -> None:
    with Database.writing(path) as database:
        assert database.best_of_each(KEY.kernel) == []
        for measurement in (SLOW, FAILED, FAST):
            database.add(KEY, measurement)
        database.add(OTHER, SLOW)
    with Database.reading(path) as database:
        (best,) = database.best_of_each(KEY.kernel)
        assert (best.key, best.measurement) == (KEY, FAST)
        assert best.measured_at.startswith("20")
        found = [record.measurement for record in database.measurements(KEY)]
        assert found == [FAST, SLOW, FAILED]
        assert [(c.key, c.measured, c.failed, c.best_us) for c in database.counts()] == [
            (KEY, 2, 1, 2.5),
            (OTHER, 1, 0, 4.0),
        ]
        assert [r.measurement for r in database.best_of_each()] == [FAST, SLOW]
        assert [r.measurement for r in database.best_of_each(OTHER.kernel)] == [SLOW]


def test_measurements_within_noise_follow_the_fastest(path: Path) -> None:
    best, near = Measurement("best", 2.0, spread_us=0.5), Measurement("near", 2.4, spread_us=0.5)
    others = Measurement("far", 2.6, spread_us=0.5), Measurement("steady", 2.3), FAILED
    with Database.writing(path) as database:
        for measurement in (near, best, *others):
            database.add(KEY, measurement)
        database.add(OTHER, SLOW)
        found = [[r.measurement for r in each] for each in database.fastest_of_each()]
        assert found == [[best, near], [SLOW]]
        assert [[r.key for r in each] for each in database.fastest_of_each(OTHER.kernel)] == [
            [OTHER]
        ]


@pytest.mark.parametrize("name", Key._fields)
def test_keys_that_differ_in_one_field_are_different(path: Path, name: str) -> None:
    value = 2 if name == "semantics" else "other"
    with Database.writing(path) as database:
        database.add(KEY._replace(**{name: value}), FAST)
        assert database.measurements(KEY) == []


def test_a_repeated_measurement_replaces_the_former(path: Path) -> None:
    slower = FAST._replace(us=9.0)
    with Database.writing(path) as database:
        database.add(KEY, FAST)
        database.add(KEY, slower)
        assert [record.measurement for record in database.measurements(KEY)] == [slower]


def test_a_note_is_kept_until_one_with_an_origin_comes(path: Path) -> None:
    known = NOTE._replace(name="act", origin="torch.relu(torch.randn(8))")
    with Database.writing(path) as database:
        for note in (NOTE, NOTE._replace(name="other"), known, NOTE):
            database.describe(note)
        assert database.notes() == {NOTE.kernel: known}


def test_merging_keeps_newer_rows_in_any_order(tmp_path: Path) -> None:
    old = Record(KEY, FAST, "2026-01-01T00:00:00.000000+00:00")
    new = Record(KEY, FAST._replace(us=3.0), "2026-01-02T00:00:00.000000+00:00")
    same_time = new._replace(measurement=FAST._replace(us=3.5))
    found: list[list[Record]] = []
    orders = [(old, new, same_time), (same_time, new, old), (new, same_time, old)]
    for number, order in enumerate(orders):
        with Database.writing(tmp_path / f"{number}.sqlite") as database:
            changed = [database.merge([NOTE], [record]) for record in order]
            assert changed[0] == 1
            assert database.merge([NOTE], order) == 0
            found.append(list(database.records()))
    assert found == [[same_time]] * 3


def test_a_merge_that_fails_leaves_nothing(path: Path) -> None:
    wrong = Record(KEY, FAST._replace(problem=None), "2026-01-01")  # pyright: ignore[reportArgumentType]
    with Database.writing(path) as database:
        with pytest.raises(DatabaseError, match="problem is null; expected a text"):
            database.merge([], [Record(KEY, SLOW, "2026-01-01"), wrong])
        assert list(database.records()) == []


def test_writers_that_are_killed_lose_nothing(tmp_path: Path) -> None:
    script = Path(__file__).with_name("killed_writers.py")
    command = [sys.executable, str(script), str(tmp_path), "50"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["files"], result["problems"]) == (5, [])
    assert result["kept"] >= 70


def test_several_processes_write_at_once(path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from tilewright.tuning.database import Database;"
        "from tilewright.tuning.key import Key;"
        "from tilewright.tuning.measurement import Measurement;"
        "key = Key('0', 'f32', 'sm_90a', 'GPU', 'gpu', 1, '');"
        "database = Database.writing(Path(sys.argv[1]));"
        "[database.add(key, Measurement(f'{sys.argv[2]}.{n}', n)) for n in range(20)];"
        "print([name for name in ('xdsl', 'torch', 'numpy') if name in sys.modules])"
    )
    with ThreadPoolExecutor(4) as pool:
        writers = [pool.submit(run, code, str(path), str(number)) for number in range(4)]
        assert [writer.result() for writer in writers] == ["[]\n"] * 4
    with Database.reading(path) as database:
        assert len([*database.records()]) == 80


def test_readers_neither_make_nor_change_anything(path: Path) -> None:
    with pytest.raises(DatabaseError, match="there is no database '"):
        Database.reading(path)
    assert not path.parent.exists()
    Database.writing(path).close()
    with Database.reading(path) as database, pytest.raises(DatabaseError, match="readonly"):
        database.add(KEY, FAST)


def test_a_folder_that_cannot_be_written_can_be_read() -> None:
    code = (
        "import os, sys; from pathlib import Path;"
        "from tilewright.tuning.database import Database;"
        "os.geteuid() or os.setuid(65534);"  # root may write anywhere
        "print(len([*Database.reading(Path(sys.argv[1])).records()]))"
    )
    with TemporaryDirectory() as folder:
        path = Path(folder) / "tuning.sqlite"
        with Database.writing(path) as database:
            database.add(KEY, FAST)
        assert [each.name for each in Path(folder).iterdir()] == [path.name]
        Path(folder).chmod(0o555)
        assert run(code, str(path)) == "1\n"
        Path(folder).chmod(0o755)


def test_a_file_that_was_only_begun_is_empty(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    with Database.reading(path) as database:
        assert database.counts() == []
    with Database.writing(path) as database:
        database.add(KEY, FAST)
        assert len(database.counts()) == 1


@pytest.mark.parametrize(
    ("opened", "statement"),
    [
        *((Database.reading, statement) for statement in (1, 2)),
        *((Database.writing, statement) for statement in (1, 2, 3, 4)),  # then it has the lock
    ],
)
def test_others_may_make_it_while_it_is_opened(
    opened: Callable[[Path], Database], statement: int, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.parent.mkdir()
    path.touch()
    executed = list[str]()

    class Interrupted(sqlite3.Connection):
        def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
            executed.append(sql)
            if len(executed) == statement:
                monkeypatch.undo()
                Database.writing(path).close()
            return super().execute(sql, *parameters)

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Interrupted))
    with opened(path) as database:
        assert list(database.records()) == []
    assert len(executed) >= statement


def test_a_newer_database_is_an_error(path: Path) -> None:
    Database.writing(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    for opened in (Database.reading, Database.writing):
        with pytest.raises(DatabaseError, match="written by a newer Tilewright: its tables are of"):
            opened(path)


def test_other_files_are_not_changed(tmp_path: Path) -> None:
    text, others = tmp_path / "text", tmp_path / "others.sqlite"
    text.write_text("no database at all, but long enough for SQLite to look at its head" * 20)
    with sqlite3.connect(others) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    before = others.read_bytes()
    for opened in (Database.reading, Database.writing):
        with pytest.raises(DatabaseError, match="text': file is not a database"):
            opened(text)
        with pytest.raises(DatabaseError, match="is the database of another program"):
            opened(others)
    assert others.read_bytes() == before


def test_a_path_below_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DatabaseError, match="cannot create the folder"):
        Database.writing(tmp_path / "file" / "tuning.sqlite")
