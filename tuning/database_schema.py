# SPDX-License-Identifier: Apache-2.0
"""
The tables of a database, their versions, and the check that a file has them undamaged.

Version 1 has no checksums: it can be read, and the first process that writes adds them.

Reference: SQLite, PRAGMA application_id, user_version and quick_check; "The Schema Table".
"""

import sqlite3
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tilewright.errors import TilewrightError
from tilewright.tuning.database_rows import (
    CHECKSUM,
    NOTE_FIELDS,
    RECORD_FIELDS,
    note_row,
    read_notes,
    read_records,
    record_row,
)

SCHEMA = 2
"""Version of the tables."""

_APPLICATION = 0x54575254
"""Mark of Tilewright's files: "TWRT"."""

_KERNELS = """
CREATE TABLE kernels (
  kernel TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, about TEXT NOT NULL, inputs TEXT NOT NULL,
  origin TEXT NOT NULL, ir TEXT NOT NULL{checksum}
) WITHOUT ROWID"""

_MEASUREMENTS = """
CREATE TABLE measurements (
  kernel TEXT NOT NULL, dtype TEXT NOT NULL, target TEXT NOT NULL, device TEXT NOT NULL,
  evaluator TEXT NOT NULL, semantics INTEGER NOT NULL, nvrtc TEXT NOT NULL,
  schedule TEXT NOT NULL, us REAL, problem TEXT NOT NULL, spread_us REAL NOT NULL,
  measured_at TEXT NOT NULL{checksum},
  PRIMARY KEY (kernel, dtype, target, device, evaluator, semantics, nvrtc, schedule)
) WITHOUT ROWID"""

_CHECKSUMS: Mapping[int, str] = {1: "", 2: f", {CHECKSUM} TEXT NOT NULL"}
"""Column that each version has besides the fields."""

_HEAD = """
SELECT application_id, user_version, type, name, tbl_name, sql
FROM pragma_application_id, pragma_user_version LEFT JOIN sqlite_master"""
"""
Query of a file's version and tables, in one statement: between two, another process may create
them.
"""

_DAMAGED = "restore a copy of it, or move it away and tune again"


class DatabaseError(TilewrightError):
    """Error about a database that cannot be read or written."""


def damaged(path: Path, what: object) -> DatabaseError:
    """Return the error for a damaged file; `what` describes the damage."""
    return DatabaseError(f"the database '{path}' is damaged: {what}", remedy=_DAMAGED)


def version_of(connection: sqlite3.Connection, path: Path) -> int:
    """Return the version of the tables, 0 for an empty file. Raises `DatabaseError`."""
    rows: list[Any] = connection.execute(_HEAD).fetchall()
    mark, version, *first = rows[0]
    if not (mark or version or any(first)):
        return 0
    if mark != _APPLICATION:
        raise DatabaseError(f"'{path}' is the database of another program")
    if version > SCHEMA:
        raise DatabaseError(
            f"'{path}' was written by a newer Tilewright: its tables are of version {version}, "
            f"and this one knows {SCHEMA}",
            remedy="update Tilewright, or give --db another file",
        )
    if version not in _CHECKSUMS:
        raise damaged(path, f"its tables are of version {version}")
    if {tuple(row[2:]) for row in rows} != _definitions(version):
        raise damaged(path, "its tables have other columns")
    return version


def check_pages(connection: sqlite3.Connection, path: Path) -> None:
    """Raise `DatabaseError` if SQLite finds damage to the structure of the file."""
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise damaged(path, " ".join(str(found).split()))


def make_tables(connection: sqlite3.Connection, version: int = SCHEMA) -> None:
    """Create empty tables of a version."""
    for table in (_KERNELS, _MEASUREMENTS):
        connection.execute(table.format(checksum=_CHECKSUMS[version]))
    connection.execute(f"PRAGMA application_id = {_APPLICATION}")
    connection.execute(f"PRAGMA user_version = {version}")


def add_checksums(connection: sqlite3.Connection) -> None:
    """Upgrade tables of version 1 to version 2. Raises `FieldError` for damaged rows."""
    notes = read_notes(connection.execute(f"SELECT {', '.join(NOTE_FIELDS)} FROM kernels"))
    records = read_records(
        connection.execute(f"SELECT {', '.join(RECORD_FIELDS)} FROM measurements")
    )
    connection.execute("DROP TABLE kernels")
    connection.execute("DROP TABLE measurements")
    make_tables(connection)
    _insert(connection, "kernels", map(note_row, notes))
    _insert(connection, "measurements", map(record_row, records))


def _insert(connection: sqlite3.Connection, table: str, rows: Iterable[tuple[object, ...]]) -> None:
    for row in rows:
        connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)


@cache
def _definitions(version: int) -> set[tuple[str, ...]]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    make_tables(connection, version)
    rows: list[Any] = connection.execute(_HEAD).fetchall()
    connection.close()
    return {tuple(row[2:]) for row in rows}
