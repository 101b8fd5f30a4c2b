# SPDX-License-Identifier: Apache-2.0
"""
Measurements as text, to carry from one machine to another: JSON, an object a line.

    {"tilewright": "measurements", "schema": 1}
    {"kernel": "8bbb...", "name": "matmul", "about": "matmul(...) -> ...", "inputs": [...], ...}
    {"kernel": "8bbb...", "device": "NVIDIA H100", ..., "schedule": "tileify,...", "us": 12.5, ...}

Lines with a schedule are measurements, others say what a kernel is. Files may be joined end to end.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from math import inf
from typing import Any

from tilewright.errors import UsageError
from tilewright.tuning.key import KernelNote, Key, Record
from tilewright.tuning.measurement import Measurement

SCHEMA = 1
"""The version of the lines."""

_NO_MEASUREMENT = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)
"""What comes of reading a line of something else, or one with numbers that nothing can hold."""

_LARGEST = 2**63 - 1
"""Of the whole numbers that a database holds."""


def to_lines(notes: Iterable[KernelNote], records: Iterable[Record]) -> Iterator[str]:
    """The lines of a file, each with its end."""
    yield _line({"tilewright": "measurements", "schema": SCHEMA})
    for note in notes:
        yield _line(note._asdict())
    for record in records:
        yield _line(as_json(record))


def as_json(record: Record) -> dict[str, Any]:
    """A measurement as the object of a line."""
    fields = {**record.key._asdict(), **record.measurement._asdict()}
    return {**fields, "measured_at": record.measured_at}


def from_lines(lines: Iterable[str], name: str) -> tuple[list[KernelNote], list[Record]]:
    """What the lines of the file `name` say. Raises `UsageError`, which names the line."""
    notes: list[KernelNote] = []
    records: list[Record] = []
    number = 0
    for number, line in enumerate(lines, 1):
        found = _read(line, f"{name}:{number}", is_first=number == 1)
        if isinstance(found, Record):
            records.append(found)
        elif isinstance(found, KernelNote):
            notes.append(found)
    if not number:
        raise UsageError(f"'{name}' is empty")
    return notes, records


def _read(line: str, where: str, is_first: bool) -> Record | KernelNote | None:
    """What a line says; None for the head of a file."""
    try:
        fields = json.loads(line)
        schema = fields.get("schema") if "tilewright" in fields else None
        if schema is None and not is_first:
            return _record(fields) if "schedule" in fields else _note(fields)
        _check_schema(schema)
    except UsageError as err:
        raise UsageError(err.message, where=where, remedy=err.remedy) from err
    except _NO_MEASUREMENT as err:
        raise UsageError("this is no measurement", where=where) from err
    return None


def _check_schema(schema: object) -> None:
    if schema is None:
        raise UsageError(
            "this is no file of measurements", remedy="tilewright db export writes one"
        )
    if schema != SCHEMA:
        raise UsageError(
            f"its lines are of version {schema}, and this Tilewright knows {SCHEMA}",
            remedy="update Tilewright",
        )


def _note(fields: Mapping[str, Any]) -> KernelNote:
    texts = {name: _text(fields[name]) for name in ("kernel", "name", "about", "origin", "ir")}
    return KernelNote(**texts, inputs=tuple(map(_text, fields["inputs"])))


def _record(fields: Mapping[str, Any]) -> Record:
    texts = {name: _text(fields[name]) for name in Key._fields if name != "semantics"}
    us = None if fields["us"] is None else _time(fields["us"])
    schedule, problem = _text(fields["schedule"]), _text(fields["problem"])
    measured_at = datetime.fromisoformat(fields["measured_at"]).astimezone(UTC)
    return Record(
        Key(**texts, semantics=_whole(fields["semantics"])),
        Measurement(schedule, us, problem, _time(fields["spread_us"])),
        measured_at.isoformat(timespec="microseconds"),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    value.encode()  # half a character, as "\ud800" is, cannot be kept
    return value


def _whole(value: Any) -> int:
    if not isinstance(value, int):
        raise TypeError
    if not 0 <= value <= _LARGEST:
        raise ValueError
    return value


def _time(value: Any) -> float:
    if not 0 <= value < inf:
        raise ValueError
    return float(value)


def _line(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False, allow_nan=False) + "\n"
