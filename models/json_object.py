# SPDX-License-Identifier: Apache-2.0
"""JSON files of a model's folder, each of which holds one object."""

import json
from pathlib import Path
from typing import Any, NoReturn, cast

from tilewright.errors import UsageError
from tilewright.text_file import read_text_file


def read_object(path: Path) -> dict[str, Any]:
    """
    Return the object in a file. Raises `UsageError` if the file cannot be read, or holds another
    value.
    """
    try:
        found = as_object(json.loads(read_text_file(path), parse_constant=_refuse))
    except ValueError as error:
        raise UsageError(f"'{path}' is not JSON: {error}") from error
    except RecursionError as error:
        raise UsageError(f"'{path}' is nested too deeply") from error
    if found is None:
        raise UsageError(f"'{path}' holds no JSON object")
    return found


def as_object(value: Any) -> dict[str, Any] | None:
    """Return a JSON value if it is an object; else None."""
    return cast(dict[str, Any], value) if isinstance(value, dict) else None


def _refuse(constant: str) -> NoReturn:
    """
    Raise `ValueError` for `NaN` and `Infinity`, which Python reads as numbers and JSON does not
    have.
    """
    raise ValueError(f"{constant} is no number")
