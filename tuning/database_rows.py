# SPDX-License-Identifier: Apache-2.0
"""
Rows of a database: measurements and notes, each with a checksum that is verified when it is read.

SQLite detects damage to the structure of its pages, but not to their content. A flipped bit in a
schedule would give another valid schedule.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Any, TypeVar

from tilewright.tuning.key import KernelNote, Key, Record
from tilewright.tuning.measurement import Measurement
from tilewright.tuning.record_fields import FieldError, note_of, record_of

T = TypeVar("T")

RECORD_FIELDS = (*Key._fields, *Measurement._fields, "measured_at")
"""Columns of a measurement, in order; the checksum follows."""

NOTE_FIELDS = KernelNote._fields
"""Columns of a note, in order; the checksum follows."""

CHECKSUM = "checksum"

_DIGEST_BYTES = 8

_TIMES = ("us", "spread_us")


def record_row(record: Record) -> tuple[Any, ...]:
    """Return the row of a measurement. Raises `FieldError` for values that no measurement has."""
    fields = {**record.key._asdict(), **record.measurement._asdict()}
    fields = {**_encodable(fields), "measured_at": record.measured_at}
    record_of(fields)
    return _row([_number(fields[name], name) for name in RECORD_FIELDS])


def note_row(note: KernelNote) -> tuple[Any, ...]:
    """Return the row of a note."""
    fields = _encodable(note._asdict())
    note_of({**fields, "inputs": [*note.inputs]})
    return _row([json.dumps(note.inputs) if n == "inputs" else fields[n] for n in NOTE_FIELDS])


def read_records(rows: Iterable[Sequence[Any]]) -> list[Record]:
    """Return the measurements in rows, with or without checksums. Raises `FieldError`."""
    return [_read(row, RECORD_FIELDS, record_of) for row in rows]


def read_notes(rows: Iterable[Sequence[Any]]) -> list[KernelNote]:
    """Return the notes in rows, with or without checksums. Raises `FieldError`."""
    return [_read(row, NOTE_FIELDS, _note) for row in rows]


def _read(row: Sequence[Any], names: Sequence[str], made: Callable[[Mapping[str, Any]], T]) -> T:
    values = row[: len(names)]
    found = made(dict(zip(names, values, strict=True)))
    if len(row) > len(names) and row[-1] != _checksum(values):
        raise FieldError("its checksum does not match")
    return found


def _note(fields: Mapping[str, Any]) -> KernelNote:
    try:
        return note_of({**fields, "inputs": json.loads(fields["inputs"])})
    except (TypeError, ValueError, RecursionError) as err:
        raise err if isinstance(err, FieldError) else FieldError(f"inputs are not JSON: {err}")


def _row(values: Sequence[Any]) -> tuple[Any, ...]:
    return (*values, _checksum(values))


def _checksum(values: Sequence[Any]) -> str:
    return blake2b(repr([*values]).encode(), digest_size=_DIGEST_BYTES).hexdigest()


def _encodable(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Escape lone surrogates in all texts; compiler messages and arguments may contain them."""
    return {
        name: value.encode(errors="backslashreplace").decode() if isinstance(value, str) else value
        for name, value in fields.items()
    }


def _number(value: Any, name: str) -> Any:
    """
    Convert times to the form in which SQLite returns them: as floats, and zero without a sign.
    """
    return float(value) + 0.0 if name in _TIMES and value is not None else value
