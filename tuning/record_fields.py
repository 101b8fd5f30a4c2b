# SPDX-License-Identifier: Apache-2.0
"""
Parsing of measurements and notes from named fields, as in files and databases.

Each field is checked; a `FieldError` names it: `us is "fast"; expected a number of ...`.
"""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from math import inf
from typing import Any, cast

from tilewright.tuning.key import KernelNote, Key, Record
from tilewright.tuning.measurement import Measurement

_LARGEST = 2**63 - 1
"""Largest whole number that a database holds."""

_SHOWN = 40
"""Most characters of a wrong value that an error shows."""


class FieldError(ValueError):
    """Error about a field that is missing, unknown, or has an invalid value."""


def record_of(fields: Mapping[str, Any]) -> Record:
    """Return the measurement of these fields. Raises `FieldError`."""
    checked = _checked(fields, _RECORD)
    key = Key(**{name: checked[name] for name in Key._fields})
    measurement = Measurement(**{name: checked[name] for name in Measurement._fields})
    return Record(key, measurement, checked["measured_at"])


def note_of(fields: Mapping[str, Any]) -> KernelNote:
    """Return the note of these fields. Raises `FieldError`."""
    checked = _checked(fields, _NOTE)
    checked["inputs"] = tuple(checked["inputs"])
    return KernelNote(**checked)


def in_utc(moment: str) -> str:
    """Return the ISO 8601 time `moment` in the form of databases: in UTC, to the microsecond."""
    return datetime.fromisoformat(moment).astimezone(UTC).isoformat(timespec="microseconds")


def _checked(fields: Mapping[str, Any], kinds: Mapping[str, "_Kind"]) -> dict[str, Any]:
    for name in fields:
        if name not in kinds:
            raise FieldError(f"{_shown(name)} is an unknown field")
    for name, (is_valid, description) in kinds.items():
        if name not in fields:
            raise FieldError(f"{name} is missing")
        if not is_valid(fields[name]):
            raise FieldError(f"{name} is {_shown(fields[name])}; expected {description}")
    return {name: fields[name] for name in kinds}


def _shown(value: object) -> str:
    try:
        text = json.dumps(value, default=repr)
    except (ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _is_text(value: Any) -> bool:
    """True if it is a text without lone surrogates, which cannot be encoded."""
    return isinstance(value, str) and not any("\ud800" <= each <= "\udfff" for each in value)


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, cast(list[Any], value)))


def _is_whole(value: Any) -> bool:
    return type(value) is int and 0 <= value <= _LARGEST


def _is_time(value: Any) -> bool:
    return type(value) in (int, float) and 0 <= value < inf and value <= _LARGEST


def _is_moment(value: Any) -> bool:
    try:
        return _is_text(value) and bool(in_utc(value))
    except (ValueError, OverflowError):
        return False


_Kind = tuple[Callable[[Any], bool], str]
"""Predicate that a field's values satisfy, and its description."""

_TEXT: _Kind = (_is_text, "a text")
_MICROSECONDS = "a number of microseconds, at least 0"

_RECORD: Mapping[str, _Kind] = {
    **dict.fromkeys(Key._fields, _TEXT),
    "semantics": (_is_whole, "a whole number, at least 0"),
    "schedule": _TEXT,
    "us": (lambda value: value is None or _is_time(value), f"{_MICROSECONDS}, or null"),
    "problem": _TEXT,
    "spread_us": (_is_time, _MICROSECONDS),
    "measured_at": (_is_moment, "a time as ISO 8601 has it"),
}

_NOTE: Mapping[str, _Kind] = {
    **dict.fromkeys(KernelNote._fields, _TEXT),
    "inputs": (_is_list_of_texts, "a list of texts"),
}
