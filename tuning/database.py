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

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, Self

from tilewright.tuning.database_file import (
    explained,
    open_to_read,
    open_to_write,
    transaction,
)
from tilewright.tuning.key import KernelNote, Key, Record
from tilewright.tuning.measurement import Measurement

_COLUMNS = ", ".join([*Key._fields, *Measurement._fields, "measured_at"])
_MARKS = ", ".join(["?"] * (len(Key._fields) + len(Measurement._fields) + 1))
_OF_KEY = " AND ".join(f"{name} = ?" for name in Key._fields)

_REPEATED = f"""
ON CONFLICT ({", ".join(Key._fields)}, schedule) DO UPDATE SET us = excluded.us,
  problem = excluded.problem, spread_us = excluded.spread_us, measured_at = excluded.measured_at"""

_IF_NEWER = """
WHERE (excluded.measured_at, coalesce(excluded.us, -1), excluded.spread_us, excluded.problem)
  > (measurements.measured_at, coalesce(measurements.us, -1), measurements.spread_us,
     measurements.problem)"""
"""Of two of the same time the greater counts, so that the order of merging does not matter."""

_TIMED = f"us IS NOT NULL ORDER BY {', '.join(Key._fields)}, us, measured_at, schedule"


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

    def __init__(self, path: Path, connection: sqlite3.Connection):
        self.path = path
        self._connection = connection

    @classmethod
    def writing(cls, path: Path) -> Self:
        """The database at `path`, made if need be. Raises `DatabaseError`, as all else here."""
        return cls(path, open_to_write(path))

    @classmethod
    def reading(cls, path: Path) -> Self:
        """The database at `path`, to be left as it is; it may lie where nothing can be written."""
        return cls(path, open_to_read(path))

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def add(self, key: Key, measurement: Measurement) -> None:
        """Keep what was just measured; once this returns it is kept."""
        row = (*key, *measurement, datetime.now(UTC).isoformat(timespec="microseconds"))
        statement = f"INSERT INTO measurements ({_COLUMNS}) VALUES ({_MARKS}) {_REPEATED}"
        with explained(self.path), transaction(self._connection):
            self._connection.execute(statement, row)

    def describe(self, note: KernelNote) -> None:
        """Say what a kernel is; what was said first stays, unless that had no origin."""
        statement = (
            "INSERT INTO kernels VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (kernel) DO UPDATE SET "
            "name = excluded.name, about = excluded.about, inputs = excluded.inputs, "
            "origin = excluded.origin, ir = excluded.ir "
            "WHERE kernels.origin = '' AND excluded.origin != ''"
        )
        inputs = json.dumps(note.inputs)
        row = (note.kernel, note.name, note.about, inputs, note.origin, note.ir)
        with explained(self.path), transaction(self._connection):
            self._connection.execute(statement, row)

    def merge(self, notes: Iterable[KernelNote], records: Iterable[Record]) -> int:
        """Keep what others have measured; how many measurements were new, or newer."""
        for note in notes:
            self.describe(note)
        statement = (
            f"INSERT INTO measurements ({_COLUMNS}) VALUES ({_MARKS}) {_REPEATED} {_IF_NEWER}"
        )
        rows = [(*r.key, *r.measurement, r.measured_at) for r in records]
        before = self._connection.total_changes
        with explained(self.path), transaction(self._connection):
            self._connection.executemany(statement, rows)
        return self._connection.total_changes - before

    def best_of_each(self, kernel: str | None = None) -> list[Record]:
        """The fastest of every key there is, of one kernel or all."""
        return [best for best, *_ in self.fastest_of_each(kernel)]

    def fastest_of_each(self, kernel: str | None = None) -> list[list[Record]]:
        """The same, and behind each what is as fast but for noise."""
        rest, values = ("", ()) if kernel is None else ("kernel = ? AND ", (kernel,))
        found = self._records(f"WHERE {rest}{_TIMED}", *values)
        return [_as_fast([*records]) for _, records in groupby(found, key=lambda r: r.key)]

    def measurements(self, key: Key) -> list[Record]:
        """All that was measured: the fastest first, failures last."""
        order = "ORDER BY us IS NULL, us, measured_at, schedule"
        return list(self._records(f"WHERE {_OF_KEY} {order}", *key))

    def records(self) -> Iterator[Record]:
        """All there is, in an order that depends on nothing else."""
        yield from self._records(f"ORDER BY {', '.join(Key._fields)}, schedule")

    def counts(self) -> list[Counts]:
        """How much there is of each key."""
        keys = ", ".join(Key._fields)
        rows = self._rows(
            f"SELECT {keys}, count(us), sum(us IS NULL), min(us), max(measured_at) "
            f"FROM measurements GROUP BY {keys} ORDER BY {keys}"
        )
        width = len(Key._fields)
        return [Counts(Key(*row[:width]), *row[width:]) for row in rows]

    def notes(self) -> dict[str, KernelNote]:
        """What is said of kernels, by their digests."""
        statement = "SELECT kernel, name, about, inputs, origin, ir FROM kernels ORDER BY kernel"
        return {
            kernel: KernelNote(kernel, name, about, tuple(json.loads(inputs)), origin, ir)
            for kernel, name, about, inputs, origin, ir in self._rows(statement)
        }

    def _records(self, rest: str, *values: object) -> Iterator[Record]:
        rows = self._rows(f"SELECT {_COLUMNS} FROM measurements {rest}", *values)
        return map(_record, rows)

    def _rows(self, statement: str, *values: object) -> list[Any]:
        with explained(self.path):
            return self._connection.execute(statement, values).fetchall()


def _as_fast(records: Sequence[Record]) -> list[Record]:
    """The first, and those that differ from it by noise."""
    best = records[0].measurement
    return [record for record in records if record.measurement.is_as_fast_as(best)]


def _record(row: tuple[Any, ...]) -> Record:
    width = len(Key._fields)
    return Record(Key(*row[:width]), Measurement(*row[width:-1]), row[-1])
