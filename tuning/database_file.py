# SPDX-License-Identifier: Apache-2.0
"""
The file of a database, and how it is opened.

The file is an SQLite file with a write-ahead log: readers never wait, and writers wait only for
other writers. After a process is killed, the file holds exactly the transactions that it committed.

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
"""Seconds to wait for other processes that write."""


class Opened(NamedTuple):
    """A connection, and the version of the tables in its file."""

    connection: sqlite3.Connection
    version: int


def open_to_write(path: Path) -> sqlite3.Connection:
    """Open the database at `path` for writing, and create it if needed. Raises `DatabaseError`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as err:
        raise DatabaseError(f"cannot create the folder '{path.parent}': {err.strerror}") from err
    with explained(path):
        connection = sqlite3.connect(path, timeout=_PATIENCE_S, isolation_level=None)
    with explained(path), _closed_on_failure(connection):
        _checked_version(connection, path)  # before another program's file is changed
        _write_ahead(connection)
        connection.execute("PRAGMA synchronous = FULL")  # commits survive a power loss
        with transaction(connection):
            _bring_up_to_date(connection, version_of(connection, path))
    return connection


def open_to_read(path: Path) -> Opened:
    """Open the database at `path`, which must exist, for reading. Raises `DatabaseError`."""
    if not may_be_there(path):
        raise DatabaseError(f"there is no database '{path}'")
    uri = f"{path.absolute().as_uri()}?mode=ro"
    with explained(path):
        try:
            return _opened(uri, path)
        except sqlite3.OperationalError as err:
            # A log needs a file for its readers; where none can be created, there is no writer
            # either.
            if _is_locked(err) or may_be_there(path.with_name(f"{path.name}-wal")):
                raise
            return _opened(f"{uri}&immutable=1", path)


def _is_locked(err: sqlite3.Error) -> bool:
    code = getattr(err, "sqlite_errorcode", 0)  # an error of decoding has none
    return code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _opened(uri: str, path: Path) -> Opened:
    connection = sqlite3.connect(uri, timeout=_PATIENCE_S, isolation_level=None, uri=True)
    with _closed_on_failure(connection):
        if version := _checked_version(connection, path):
            return Opened(connection, version)
    connection.close()
    return _empty()


def _empty() -> Opened:
    """Return an empty database, which stands for a file that a writer has only just created."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    make_tables(connection)
    return Opened(connection, SCHEMA)


def _checked_version(connection: sqlite3.Connection, path: Path) -> int:
    """Return the version of the tables in an undamaged file; 0 if the file is empty."""
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
    """
    Raise `DatabaseError`, which names the file, for SQLite errors and damaged rows in this context.
    """
    try:
        yield
    except sqlite3.Error as err:
        raise DatabaseError(f"the database '{path}': {err}") from err
    except (FieldError, UnicodeDecodeError) as err:
        raise damaged(path, err) from err


@contextmanager
def transaction(connection: sqlite3.Connection) -> Generator[None]:
    """Commit all writes of this context at its end, or none of them."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # SQLite itself rolls back if the disk is full
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
    """
    Switch to a write-ahead log; retry, as SQLite does not wait for other processes that switch too.
    """
    end = time.monotonic() + _PATIENCE_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > end:
                raise
            time.sleep(0.01)
