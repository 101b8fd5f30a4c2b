# SPDX-License-Identifier: Apache-2.0
"""
Measurements as text, for transfer between machines: JSON, one object per line.

    {"tilewright": "measurements", "schema": 2}
    {"kernel": "8bbb...", "name": "matmul", "about": "matmul(...) -> ...", "inputs": [...], ...}
    {"kernel": "8bbb...", "device": "NVIDIA H100", ..., "schedule": "tileify,...", "us": 12.5, ...}

Lines with a schedule are measurements, others describe a kernel; both end in a checksum. Files may
be concatenated. Version 1 had no checksums.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any, cast

from tilewright.errors import UsageError
from tilewright.tuning.key import KernelNote, Record
from tilewright.tuning.record_fields import FieldError, in_utc, note_of, record_of

SCHEMA = 2
"""Version of the lines."""

_CHECKSUM = "checksum"
_DIGEST_BYTES = 8


def to_lines(notes: Iterable[KernelNote], records: Iterable[Record]) -> Iterator[str]:
    """Yield the lines of a file, each with its line end."""
    yield _line({"tilewright": "measurements", "schema": SCHEMA})
    for note in notes:
        yield _line(_with_checksum(note._asdict()))
    for record in records:
        yield _line(_with_checksum(as_json(record)))


def as_json(record: Record) -> dict[str, Any]:
    """Return a measurement as the object of a line."""
    fields = {**record.key._asdict(), **record.measurement._asdict()}
    return {**fields, "measured_at": record.measured_at}


def from_lines(lines: Iterable[str], name: str) -> tuple[list[KernelNote], list[Record]]:
    """Parse the lines of the file `name`. Raises `UsageError`, which names the line."""
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
    """Parse a line; returns None for the head of a file."""
    try:
        fields: Any = json.loads(line)
    except (ValueError, RecursionError) as err:
        raise UsageError(f"this is not a measurement: {_reason(err)}", where=where) from err
    if not isinstance(fields, dict):
        raise UsageError("this is not a measurement: it is not a JSON object", where=where)
    try:
        return _parsed(cast(dict[str, Any], fields), is_first)
    except FieldError as err:
        raise UsageError(f"this is not a measurement: {err}", where=where) from err
    except UsageError as err:
        raise UsageError(err.message, where=where, remedy=err.remedy) from err


def _parsed(fields: Mapping[str, Any], is_first: bool) -> Record | KernelNote | None:
    if not is_first and "tilewright" not in fields:
        content = {name: value for name, value in fields.items() if name != _CHECKSUM}
        found = _measured(content) if "schedule" in content else note_of(content)
        if _CHECKSUM in fields and _with_checksum(content) != fields:
            raise FieldError("its checksum does not match")
        return found
    _check_schema(fields.get("schema") if "tilewright" in fields else None)
    return None


def _reason(err: ValueError | RecursionError) -> str:
    return "it is nested too deeply" if isinstance(err, RecursionError) else f"{err}"


def _measured(fields: Mapping[str, Any]) -> Record:
    record = record_of(fields)
    return record._replace(measured_at=in_utc(record.measured_at))


def _check_schema(schema: object) -> None:
    if schema is None:
        raise UsageError(
            "this is not a file of measurements", remedy="tilewright db export writes one"
        )
    if type(schema) is not int or not 1 <= schema <= SCHEMA:
        raise UsageError(
            f"its lines are of version {json.dumps(schema)}, and this Tilewright knows {SCHEMA}",
            remedy="update Tilewright",
        )


def _with_checksum(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a line with a checksum of them added."""
    digest = blake2b(_line(fields).encode(), digest_size=_DIGEST_BYTES).hexdigest()
    return {**fields, _CHECKSUM: digest}


def _line(fields: Mapping[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False, allow_nan=False) + "\n"
