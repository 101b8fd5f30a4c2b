# SPDX-License-Identifier: Apache-2.0
"""
The database of measurements by kernel and device, which finds the best schedule and avoids repeated
measurements.

    with Database.writing(path) as database:
        database.add(key, Measurement("tileify,mark-unroll", 12.5))
    database.best_of_each(key.kernel)

A measurement is on disk when `add` returns, even if the process dies afterwards. Any number of
processes may write. Schedules without a time are stored as well, with the reason.

If a schedule is measured again under the same key, the newer measurement counts. The same holds
when databases are merged. To keep the faster one would keep every lucky outlier forever.
"""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

from tilewright.tuning.database_file import (
    explained,
    open_to_read,
    open_to_write,
    transaction,
)
from tilewright.tuning.database_rows import (
    CHECKSUM,
    NOTE_FIELDS,
    RECORD_FIELDS,
    note_row,
    read_notes,
    read_records,
    record_row,
)
from tilewright.tuning.database_schema import SCHEMA, DatabaseError
from tilewright.tuning.key import KernelNote, Key, Record, as_fast
from tilewright.tuning.measurement import Measurement
from tilewright.tuning.record_fields import FieldError

T = TypeVar("T")

_KEY = ", ".join([*Key._fields, "schedule"])
_KEY_BACKWARDS = ", ".join(f"{name} DESC" for name in [*Key._fields, "schedule"])
_INSERT = f"INSERT INTO measurements VALUES ({', '.join('?' * (len(RECORD_FIELDS) + 1))})"

_REPEATED = f"""
ON CONFLICT ({_KEY}) DO UPDATE SET us = excluded.us, problem = excluded.problem,
  spread_us = excluded.spread_us, measured_at = excluded.measured_at,
  checksum = excluded.checksum"""

_IF_NEWER = """
WHERE (excluded.measured_at, coalesce(excluded.us, -1), excluded.spread_us, excluded.problem)
  > (measurements.measured_at, coalesce(measurements.us, -1), measurements.spread_us,
     measurements.problem)"""
"""
Condition to replace a stored row: the new one is newer. Equal times are ordered by the values, so
that the order of merging does not matter.
"""


class Counts(NamedTuple):
    """
    Numbers of schedules with and without a time under a key, with the best time in microseconds.
    """

    key: Key
    measured: int
    failed: int
    """Number of schedules without a time."""
    best_us: float | None
    latest: str
    """Moment of the latest measurement, in UTC as ISO 8601."""


class Database(AbstractContextManager["Database"]):
    """An open database; the end of a `with` closes it."""

    def __init__(self, path: Path, connection: sqlite3.Connection, version: int = SCHEMA):
        self.path = path
        self._connection = connection
        self._checksum = [CHECKSUM] if version > 1 else []

    @classmethod
    def writing(cls, path: Path) -> Self:
        """
        Open the database at `path` and create it if needed. Raises `DatabaseError`, as do all
        methods.
        """
        return cls(path, open_to_write(path))

    @classmethod
    def reading(cls, path: Path) -> Self:
        """Open the database at `path` without changing it; its folder may be read-only."""
        return cls(path, *open_to_read(path))

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def add(self, key: Key, measurement: Measurement) -> None:
        """Store a measurement; it is on disk when this returns."""
        record = Record(key, measurement, datetime.now(UTC).isoformat(timespec="microseconds"))
        row = _as_row(record_row, record)
        with explained(self.path), transaction(self._connection):
            self._connection.execute(f"{_INSERT} {_REPEATED}", row)

    def describe(self, note: KernelNote) -> None:
        """
        Store a note about a kernel; an existing note stays, unless only the new one has an origin.
        """
        statement = (
            "INSERT INTO kernels VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (kernel) DO UPDATE SET "
            "name = excluded.name, about = excluded.about, inputs = excluded.inputs, "
            "origin = excluded.origin, ir = excluded.ir, checksum = excluded.checksum "
            "WHERE kernels.origin = '' AND excluded.origin != ''"
        )
        row = _as_row(note_row, note)
        with explained(self.path), transaction(self._connection):
            self._connection.execute(statement, row)

    def merge(self, notes: Iterable[KernelNote], records: Iterable[Record]) -> int:
        """
        Store the notes and measurements of other databases. A measurement replaces an older one of
        the same schedule and key. Return how many measurements were new or newer.
        """
        for note in notes:
            self.describe(note)
        statement = f"{_INSERT} {_REPEATED} {_IF_NEWER}"
        rows = [_as_row(record_row, record) for record in records]
        before = self._connection.total_changes
        with explained(self.path), transaction(self._connection):
            self._connection.executemany(statement, rows)
        return self._connection.total_changes - before

    def best_of_each(self, kernel: str | None = None) -> list[Record]:
        """
        Return the fastest record of every key, for the kernel with the digest `kernel` or for all
        kernels.
        """
        return [best for best, *_ in self.fastest_of_each(kernel)]

    def fastest_of_each(self, kernel: str | None = None) -> list[list[Record]]:
        """
        Return for every key its fastest record, followed by the records that are as fast within
        noise; for the kernel with the digest `kernel` or for all kernels.
        """
        return [as_fast(records) for records in self.timed_of_each(kernel)]

    def timed_of_each(self, kernel: str | None = None) -> list[list[Record]]:
        """
        Return for every key its records that have a time, the fastest first; for the kernel with
        the digest `kernel` or for all kernels.
        """
        found = self.records() if kernel is None else self._of_kernel(kernel)
        timed = sorted((r for r in found if r.measurement.us is not None), key=_by_key_and_time)
        return [[*records] for _, records in groupby(timed, key=lambda r: r.key)]

    def measurements(self, key: Key) -> list[Record]:
        """Return all records under a key: the fastest first, failures last."""
        found = (record for record in self._of_kernel(key.kernel) if record.key == key)
        return sorted(found, key=_by_key_and_time)

    def records(self) -> list[Record]:
        """Return all records, in an order that depends only on their contents."""
        return self._records(f"ORDER BY {_KEY}")

    def counts(self) -> list[Counts]:
        """Return the numbers of schedules with and without a time for each key."""
        groups = groupby(self.records(), key=lambda record: record.key)
        return [_counts(key, [*records]) for key, records in groups]

    def notes(self) -> dict[str, KernelNote]:
        """Return the notes about kernels, by digest."""
        columns = ", ".join([*NOTE_FIELDS, *self._checksum])
        with explained(self.path):
            rows = self._connection.execute(f"SELECT {columns} FROM kernels ORDER BY kernel")
            return {note.kernel: note for note in read_notes(rows)}

    def _of_kernel(self, kernel: str) -> list[Record]:
        """
        Return all measurements of a kernel. The rows next to them are checked too: a damaged row
        may have moved to another kernel without breaking the order.
        """
        self._records(f"WHERE kernel < ? ORDER BY {_KEY_BACKWARDS} LIMIT 1", kernel)
        self._records(f"WHERE kernel > ? ORDER BY {_KEY} LIMIT 1", kernel)
        return self._records(f"WHERE kernel = ? ORDER BY {_KEY}", kernel)

    def _records(self, rest: str, *values: object) -> list[Record]:
        columns = ", ".join([*RECORD_FIELDS, *self._checksum])
        with explained(self.path):
            rows = self._connection.execute(f"SELECT {columns} FROM measurements {rest}", values)
            return read_records(rows)


def _as_row(row: Callable[[T], tuple[Any, ...]], what: T) -> tuple[Any, ...]:
    try:
        return row(what)
    except FieldError as err:
        raise DatabaseError(f"cannot store a measurement: {err}") from err


def _counts(key: Key, records: Sequence[Record]) -> Counts:
    times = [r.measurement.us for r in records if r.measurement.us is not None]
    latest = max(record.measured_at for record in records)
    return Counts(key, len(times), len(records) - len(times), min(times, default=None), latest)


def _by_key_and_time(record: Record) -> tuple[Key, bool, float, str, str]:
    us = record.measurement.us
    return (record.key, us is None, us or 0.0, record.measured_at, record.measurement.schedule)
