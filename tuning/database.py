# SPDX-License-Identifier: Apache-2.0
"""
What was measured, by kernel and device, so that nothing is measured twice and the best is found.

    with Database.writing(path) as database:
        database.add(key, Measurement("tileify,mark-unroll", 12.5))
    database.best_of_each(key.kernel)

What `add` returns from is on disk, whatever becomes of the process. Any number of processes may
write. Schedules that give no time are kept as well, with the reason.

Of a schedule that was measured again under the same key the newer measurement counts, here and
where databases are merged: the better one would keep every lucky accident forever.
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
"""Of two of the same time the greater counts, so that the order of merging does not matter."""


class Counts(NamedTuple):
    """How much is known of a key."""

    key: Key
    measured: int
    failed: int
    """Schedules without a time."""
    best_us: float | None
    latest: str
    """When the last of them was measured."""


class Database(AbstractContextManager["Database"]):
    """A database that is open; it is closed at the end of a `with`."""

    def __init__(self, path: Path, connection: sqlite3.Connection, version: int = SCHEMA):
        self.path = path
        self._connection = connection
        self._checksum = [CHECKSUM] if version > 1 else []

    @classmethod
    def writing(cls, path: Path) -> Self:
        """
        Return the database at `path`, made if need be. Raises `DatabaseError`, as all else here.
        """
        return cls(path, open_to_write(path))

    @classmethod
    def reading(cls, path: Path) -> Self:
        """
        Return the database at `path`, to be left as it is; it may lie where nothing can be written.
        """
        return cls(path, *open_to_read(path))

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def add(self, key: Key, measurement: Measurement) -> None:
        """Keep what was just measured; once this returns it is kept."""
        record = Record(key, measurement, datetime.now(UTC).isoformat(timespec="microseconds"))
        row = _as_row(record_row, record)
        with explained(self.path), transaction(self._connection):
            self._connection.execute(f"{_INSERT} {_REPEATED}", row)

    def describe(self, note: KernelNote) -> None:
        """Say what a kernel is; what was said first stays, unless that had no origin."""
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
        """Keep what others have measured; how many measurements were new, or newer."""
        for note in notes:
            self.describe(note)
        statement = f"{_INSERT} {_REPEATED} {_IF_NEWER}"
        rows = [_as_row(record_row, record) for record in records]
        before = self._connection.total_changes
        with explained(self.path), transaction(self._connection):
            self._connection.executemany(statement, rows)
        return self._connection.total_changes - before

    def best_of_each(self, kernel: str | None = None) -> list[Record]:
        """Return the fastest of every key there is, of one kernel or all."""
        return [best for best, *_ in self.fastest_of_each(kernel)]

    def fastest_of_each(self, kernel: str | None = None) -> list[list[Record]]:
        """Return the same, and behind each what is as fast but for noise."""
        return [as_fast(records) for records in self.timed_of_each(kernel)]

    def timed_of_each(self, kernel: str | None = None) -> list[list[Record]]:
        """Return the records with a time of every key there is, the fastest first."""
        found = self.records() if kernel is None else self._of_kernel(kernel)
        timed = sorted((r for r in found if r.measurement.us is not None), key=_by_key_and_time)
        return [[*records] for _, records in groupby(timed, key=lambda r: r.key)]

    def measurements(self, key: Key) -> list[Record]:
        """Return all that was measured: the fastest first, failures last."""
        found = (record for record in self._of_kernel(key.kernel) if record.key == key)
        return sorted(found, key=_by_key_and_time)

    def records(self) -> list[Record]:
        """Return all there is, in an order that depends on nothing else."""
        return self._records(f"ORDER BY {_KEY}")

    def counts(self) -> list[Counts]:
        """How much there is of each key."""
        groups = groupby(self.records(), key=lambda record: record.key)
        return [_counts(key, [*records]) for key, records in groups]

    def notes(self) -> dict[str, KernelNote]:
        """What is said of kernels, by their digests."""
        columns = ", ".join([*NOTE_FIELDS, *self._checksum])
        with explained(self.path):
            rows = self._connection.execute(f"SELECT {columns} FROM kernels ORDER BY kernel")
            return {note.kernel: note for note in read_notes(rows)}

    def _of_kernel(self, kernel: str) -> list[Record]:
        """
        Return all measurements of a kernel. Its neighbours are checked too: a damaged row that
        belongs to another kernel now, in an order that is right still, is one of them.
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
        raise DatabaseError(f"a measurement that cannot be kept: {err}") from err


def _counts(key: Key, records: Sequence[Record]) -> Counts:
    times = [r.measurement.us for r in records if r.measurement.us is not None]
    latest = max(record.measured_at for record in records)
    return Counts(key, len(times), len(records) - len(times), min(times, default=None), latest)


def _by_key_and_time(record: Record) -> tuple[Key, bool, float, str, str]:
    us = record.measurement.us
    return (record.key, us is None, us or 0.0, record.measured_at, record.measurement.schedule)
