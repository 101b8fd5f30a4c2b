# SPDX-License-Identifier: Apache-2.0
"""
JSON file of a suite's results, written after each case; cases in it are not measured again.

    {"schema": 1, "environment": {...}, "cases": [{"name": ..., "us": ..., ...}, ...]}

A file holds the results of one environment; results of another environment are discarded.
"""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tilewright.errors import UsageError
from tilewright.text_file import read_text_file
from tilewright.tools.bench.request import AnyCase
from tilewright.tools.bench.row import SCHEMA, Row, head
from tilewright.tools.bench.row_check import wrong_field
from tilewright.tools.output.output_path import write_text

_REMEDY = "name another file with --json"


class ResultsFile:
    """
    Results of one environment, by case; without a path they are kept only in memory. `wrong` names
    the first wrong field of a stored row.
    """

    def __init__(
        self,
        path: str | None,
        environment: dict[str, Any],
        wrong: Callable[[object], str] = wrong_field,
    ):
        self._path = None if path in (None, "-") else Path(path)
        self.environment = environment
        self._rows: dict[str, Row] = {}
        stored = {} if self._path is None else _stored(self._path, wrong)
        if not stored:
            return
        before = stored["environment"]
        changed = [k for k in {**before, **environment} if before.get(k) != environment.get(k)]
        if stored["schema"] == SCHEMA and not changed:
            self._rows = {row["name"]: row for row in stored["cases"]}
        elif stored["cases"]:
            what = ", ".join(sorted(changed)) or "schema"
            print(f"note: '{path}' has another {what}: all cases are measured", file=sys.stderr)

    def row(self, case: AnyCase) -> Row | None:
        """Return the stored row of a case, or None if expression or shapes differ."""
        return self.row_of(head(case))

    def row_of(self, known: Row) -> Row | None:
        """Return the stored row with the name in `known`, or None if another field differs."""
        row = self._rows.get(known["name"])
        return row if row is not None and {**row, **known} == row else None

    def add(self, row: Row) -> None:
        """Add a row, or replace the older one of the case, and write the file."""
        self._rows[row["name"]] = row
        if self._path is None:
            return
        write_text(str(self._path), self.text(list(self._rows.values())))

    def text(self, rows: Sequence[Row]) -> str:
        """Return the JSON text of a results file with these rows."""
        content = {"schema": SCHEMA, "environment": self.environment, "cases": rows}
        return json.dumps(content, indent=1, allow_nan=False) + "\n"


def _stored(path: Path, wrong: Callable[[object], str]) -> dict[str, Any]:
    """
    Return the content of a file; empty if there is no file. Raises `UsageError` if it has another
    format.
    """
    if not path.exists():
        return {}
    try:
        stored = json.loads(read_text_file(path))
        _ = stored["schema"], stored["environment"].items(), [*stored["cases"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as err:
        raise UsageError(f"'{path}' is not a file of results", remedy=_REMEDY) from err
    if stored["schema"] == SCHEMA:
        _check_rows(stored["cases"], path, wrong)
    return stored


def _check_rows(rows: Sequence[object], path: Path, wrong: Callable[[object], str]) -> None:
    for number, row in enumerate(rows):
        if field := wrong(row):
            message = f"'{path}' is not a file of results: {field} of case {number} is wrong"
            raise UsageError(message, remedy=_REMEDY)
