# SPDX-License-Identifier: Apache-2.0
"""
The file of a database: what tables it has, and how it is opened.

It is SQLite's, with a write-ahead log: who reads waits for nobody, and who writes waits for other
writers only. A process that is killed leaves all that it has committed, and nothing else.

Reference: SQLite, "Write-Ahead Logging", "URI Filenames", PRAGMA application_id and user_version.
"""

import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tilewright.errors import TilewrightError

SCHEMA = 1
"""The version of the tables."""

_APPLICATION = 0x54575254
"""Marks our files: "TWRT"."""

_PATIENCE_S = 30.0
"""How long to wait for other processes that write."""

_TABLES = """
CREATE TABLE kernels (
  kernel TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, about TEXT NOT NULL, inputs TEXT NOT NULL,
  origin TEXT NOT NULL, ir TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE measurements (
  kernel TEXT NOT NULL, dtype TEXT NOT NULL, target TEXT NOT NULL, device TEXT NOT NULL,
  evaluator TEXT NOT NULL, semantics INTEGER NOT NULL, nvrtc TEXT NOT NULL,
  schedule TEXT NOT NULL, us REAL, problem TEXT NOT NULL, spread_us REAL NOT NULL,
  measured_at TEXT NOT NULL,
  PRIMARY KEY (kernel, dtype, target, device, evaluator, semantics, nvrtc, schedule)
) WITHOUT ROWID;
"""


_HEAD = """
SELECT (SELECT application_id FROM pragma_application_id),
  (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_master)"""
"""All in one statement: between two of them another process may make the tables."""


class DatabaseError(TilewrightError):
    """A database that cannot be read or written."""


def open_to_write(path: Path) -> sqlite3.Connection:
    """The database at `path`, which is made if there is none. Raises `DatabaseError`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as err:
        raise DatabaseError(f"cannot make the folder '{path.parent}': {err.strerror}") from err
    with explained(path):
        connection = sqlite3.connect(path, timeout=_PATIENCE_S, isolation_level=None)
    with explained(path), _closed_on_failure(connection):
        _is_ours(connection, path)  # raises before a file of others is changed in the least
        _write_ahead(connection)
        connection.execute("PRAGMA synchronous = FULL")  # a commit survives the machine too
        with transaction(connection):
            if not _is_ours(connection, path):
                _make_tables(connection)
    return connection


def open_to_read(path: Path) -> sqlite3.Connection:
    """The database at `path`, which has to be there. Raises `DatabaseError`."""
    if not path.is_file():
        raise DatabaseError(f"there is no database '{path}'")
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with explained(path):
        try:
            return _opened(uri, path)
        except sqlite3.OperationalError:
            # A log needs a file for its readers; where none can be made, nobody writes either.
            if path.with_name(f"{path.name}-wal").exists():
                raise
            return _opened(f"{uri}&immutable=1", path)


def _opened(uri: str, path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, timeout=_PATIENCE_S, isolation_level=None, uri=True)
    with _closed_on_failure(connection):
        if _is_ours(connection, path):
            return connection
    connection.close()
    return _empty()


def _empty() -> sqlite3.Connection:
    """What a file is read as that a writer has begun, and no more."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    _make_tables(connection)
    return connection


@contextmanager
def explained(path: Path) -> Generator[None]:
    """What SQLite complains of inside names the file."""
    try:
        yield
    except sqlite3.Error as err:
        raise DatabaseError(f"the database '{path}': {err}") from err


@contextmanager
def transaction(connection: sqlite3.Connection) -> Generator[None]:
    """All that is written inside is committed at the end, or nothing of it is."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextmanager
def _closed_on_failure(connection: sqlite3.Connection) -> Generator[None]:
    try:
        yield
    except BaseException:
        connection.close()
        raise


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Have a write-ahead log. SQLite itself does not wait for others who are just doing this."""
    end = time.monotonic() + _PATIENCE_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)


def _make_tables(connection: sqlite3.Connection) -> None:
    for statement in _TABLES.split(";"):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    connection.execute(f"PRAGMA user_version = {SCHEMA}")


def _is_ours(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether there are tables of ours; False for an empty file. Raises `DatabaseError`."""
    mark, version, tables = connection.execute(_HEAD).fetchone()
    if not tables:
        return False
    if mark != _APPLICATION:
        raise DatabaseError(f"'{path}' is the database of another program")
    if version > SCHEMA:
        raise DatabaseError(
            f"'{path}' was written by a newer Tilewright: its tables are of version {version}, "
            f"and this one knows {SCHEMA}",
            remedy="update Tilewright, or give --db another file",
        )
    return True
