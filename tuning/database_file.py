# SPDX-License-Identifier: Apache-2.0
"""
The file of a database, and how it is opened.

It is SQLite's, with a write-ahead log: who reads waits for nobody, and who writes waits for other
writers only. A process that is killed leaves all that it has committed, and nothing else.

Reference: SQLite, "Write-Ahead Logging", "URI Filenames".
"""

import sqlite3
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tilewright.tuning.database_schema import (
    SCHEMA,
    DatabaseError,
    add_checksums,
    check_pages,
    damaged,
    make_tables,
    version_of,
)
from tilewright.tuning.own_database import may_be_there
from tilewright.tuning.record_fields import FieldError

_PATIENCE_S = 30.0
"""How long to wait for other processes that write."""


class Opened(NamedTuple):
    """A connection, and the version of the tables behind it."""

    connection: sqlite3.Connection
    version: int


def open_to_write(path: Path) -> sqlite3.Connection:
    """Return the database at `path`, which is made if there is none. Raises `DatabaseError`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as err:
        raise DatabaseError(f"cannot make the folder '{path.parent}': {err.strerror}") from err
    with explained(path):
        connection = sqlite3.connect(path, timeout=_PATIENCE_S, isolation_level=None)
    with explained(path), _closed_on_failure(connection):
        _checked_version(connection, path)  # before a file of others is changed in the least
        _write_ahead(connection)
        connection.execute("PRAGMA synchronous = FULL")  # a commit survives the machine too
        with transaction(connection):
            _bring_up_to_date(connection, version_of(connection, path))
    return connection


def open_to_read(path: Path) -> Opened:
    """Return the database at `path`, which has to be there. Raises `DatabaseError`."""
    if not may_be_there(path):
        raise DatabaseError(f"there is no database '{path}'")
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with explained(path):
        try:
            return _opened(uri, path)
        except sqlite3.OperationalError as err:
            # A log needs a file for its readers; where none can be made, nobody writes either.
            if _is_locked(err) or may_be_there(path.with_name(f"{path.name}-wal")):
                raise
            return _opened(f"{uri}&immutable=1", path)


def _is_locked(err: sqlite3.Error) -> bool:
    code = getattr(err, "sqlite_errorcode", 0)  # text that does not decode has none
    return code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _opened(uri: str, path: Path) -> Opened:
    connection = sqlite3.connect(uri, timeout=_PATIENCE_S, isolation_level=None, uri=True)
    with _closed_on_failure(connection):
        if version := _checked_version(connection, path):
            return Opened(connection, version)
    connection.close()
    return _empty()


def _empty() -> Opened:
    """What a file is read as that a writer has begun, and no more."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    make_tables(connection)
    return Opened(connection, SCHEMA)


def _checked_version(connection: sqlite3.Connection, path: Path) -> int:
    """Return the version of the tables in a file that is sound, 0 for an empty one."""
    version = version_of(connection, path)
    check_pages(connection, path)
    return version


def _bring_up_to_date(connection: sqlite3.Connection, version: int) -> None:
    if version == 0:
        make_tables(connection)
    elif version < SCHEMA:
        add_checksums(connection)


@contextmanager
def explained(path: Path) -> Generator[None]:
    """Raise `DatabaseError`, which names the file, for errors of SQLite and damaged rows inside."""
    try:
        yield
    except sqlite3.Error as err:
        raise DatabaseError(f"the database '{path}': {err}") from err
    except (FieldError, UnicodeDecodeError) as err:
        raise damaged(path, err) from err


@contextmanager
def transaction(connection: sqlite3.Connection) -> Generator[None]:
    """All that is written inside is committed at the end, or nothing of it is."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # SQLite itself rolls back where the disk is full
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
