# SPDX-License-Identifier: Apache-2.0
"""
Results of `tilewright simcheck` for each kernel, as a table and as a JSON file.

The file is written after each kernel. Kernels in it are not run again if seed, target and sources
are the same.
"""

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from tilewright.errors import UsageError
from tilewright.text_file import read_text_file
from tilewright.tools.output.output_path import write_text
from tilewright.tools.output.terminal import show, table

SCHEMA = 1
"""Version of the JSON's schema."""

_NUMBERS = ("mutants", "found", "no effect", "seconds")


@dataclass
class Result:
    """Bugs planted in a kernel, with counts of the findings."""

    name: str
    planted: int = 0
    found: Counter[str] = field(default_factory=Counter[str])
    problems: list[str] = field(default_factory=list[str])
    """Messages on false alarms and on missed bugs."""
    without_effect: list[str] = field(default_factory=list[str])
    """Places of mutants without effect, which are therefore no bugs."""
    refused: int = 0
    """Number of mutants that the verifier or the lowering rejects."""
    seconds: float = 0
    facts: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Kernel's schedule and shapes, and the names of equal kernels."""


def print_results(results: Sequence[Result], out: Console) -> None:
    """Print a line for each kernel, problems on stderr, and the verdict."""
    rows = table("kernel", *_NUMBERS, "as", numbers=_NUMBERS)
    for result in results:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(result.found.items()))
        counts = result.planted, result.found.total(), len(result.without_effect)
        rows.add_row(result.name, *map(str, counts), f"{result.seconds:.1f}", escape(kinds))
    show(out, rows)
    problems = [problem for result in results for problem in result.problems]
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    out.print(f"\n{_verdict(results, problems)}")


def _verdict(results: Sequence[Result], problems: Sequence[str]) -> str:
    planted = sum(result.planted for result in results)
    if not problems:
        return f"[bold green]{planted} bugs planted, all found; no false alarms[/]"
    found = sum(result.found.total() for result in results)
    return f"[bold red]{planted} bugs planted, {found} found; problems: {len(problems)}[/]"


class ResultFile:
    """
    Results for one seed, target and state of the sources; without a path they are kept only in
    memory.
    """

    def __init__(self, path: str | None, environment: Mapping[str, Any]):
        self._path = None if path in (None, "-") else Path(path)
        self._environment = dict(environment)
        self._rows: dict[str, dict[str, Any]] = {}
        stored = {} if self._path is None else _stored(self._path)
        if stored.get("environment") == self._environment:
            self._rows = {row["name"]: row for row in stored["kernels"]}
        elif stored:
            print(f"note: '{path}' has other settings: all kernels are run", file=sys.stderr)

    def known(self, name: str, facts: Mapping[str, Any]) -> Result | None:
        """Return the stored result of a kernel if its facts are the same, or None."""
        row = self._rows.get(name)
        if row is None or row["facts"] != json.loads(json.dumps(facts)):
            return None
        result = Result(**row)
        result.found = Counter(result.found)
        return result

    def write(self, results: Sequence[Result], refused: Sequence[str]) -> None:
        """Write the results so far to the file."""
        if self._path is not None:
            write_text(str(self._path), self.text(results, refused))

    def text(self, results: Sequence[Result], refused: Sequence[str]) -> str:
        """Return the JSON text with these results and their totals."""
        totals = {
            "kernels": len(results),
            "planted": sum(result.planted for result in results),
            "found": sum(result.found.total() for result in results),
            "without effect": sum(len(result.without_effect) for result in results),
            "problems": sum(len(result.problems) for result in results),
        }
        content = {
            "schema": SCHEMA,
            "date": datetime.now(UTC).date().isoformat(),
            "environment": self._environment,
            "totals": totals,
            "not reduced": list(refused),
            "kernels": [{**vars(result), "found": dict(result.found)} for result in results],
        }
        return json.dumps(content, indent=1) + "\n"


def _stored(path: Path) -> dict[str, Any]:
    """
    Return the content of a file; empty if there is no file. Raises `UsageError` if it has another
    format.
    """
    if not path.exists():
        return {}
    try:
        stored = json.loads(read_text_file(path))
        _ = (
            stored["environment"].items(),
            [(row["name"], row["facts"]) for row in stored["kernels"]],
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as err:
        raise UsageError(
            f"'{path}' is not a file of results", remedy="name another file with --json"
        ) from err
    return stored
