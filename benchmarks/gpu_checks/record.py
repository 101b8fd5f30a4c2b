# SPDX-License-Identifier: Apache-2.0
"""
JSON file of the results, written after each check; checks in it are not repeated.

    {"schema": 1, "device": ..., "gpu": ..., "sources": ..., "checks": {STAGE: {ITEM: {...}}},
     "disagreements": [...]}

A file holds the results for one state of the sources; results of another state are ignored.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any

from gpu_checks.disagreements import disagreements
from gpu_checks.outcome import Outcome, Verdict, outcome_of
from tilewright.codegen.whole_file import write_whole
from tilewright.errors import UsageError
from tilewright.tools.bench.environment import sources

SCHEMA = 1
"""Version of the JSON's schema."""

_OUR_FILES = Path(__file__).parent


def state() -> str:
    """
    Return a digest of the sources of the compiler and of the checks, which identifies their state.
    """
    digest = sha256(sources().encode())
    for path in sorted(each for each in _OUR_FILES.iterdir() if each.suffix in (".py", ".cu")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


class Record:
    """Results so far, for one device and one state of the sources."""

    def __init__(self, path: Path, head: Mapping[str, Any]):
        self._path = path
        self._head = {"schema": SCHEMA, **head}
        self._lock = Lock()
        self._checks: dict[str, dict[str, Outcome]] = {}

    def take(self, path: Path) -> None:
        """Load the results in a file, if they are of the same device and sources."""
        if not path.exists():
            return
        try:
            stored = json.loads(path.read_text())
            head = {key: stored[key] for key in self._head}
            checks = {
                stage: {item: outcome_of(found) for item, found in items.items()}
                for stage, items in stored["checks"].items()
            }
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as err:
            raise UsageError(f"'{path}' is not a file of checks") from err
        if changed := [key for key in head if head[key] != self._head[key]]:
            print(f"note: '{path}' has another {', '.join(changed)}", file=sys.stderr)
            return
        self._checks = checks

    def has(self, stage: str, item: str, and_right: bool = False) -> bool:
        """True if the result of a check is recorded and, with `and_right`, is right."""
        outcome = self._checks.get(stage, {}).get(item)
        return outcome is not None and (outcome.verdict is Verdict.RIGHT or not and_right)

    def add(self, stage: str, item: str, outcome: Outcome) -> None:
        """Add an outcome, and write the file."""
        with self._lock:
            self._checks.setdefault(stage, {})[item] = outcome
            self._write()

    def __iter__(self) -> Iterator[tuple[str, str, Outcome]]:
        """Yield all results: stage, item and outcome."""
        for stage, items in self._checks.items():
            for item, outcome in items.items():
                yield stage, item, outcome

    def _write(self) -> None:
        checks = {
            stage: {item: outcome.json for item, outcome in items.items()}
            for stage, items in self._checks.items()
        }
        ranked = [each.json for each in disagreements(self)]
        content = {**self._head, "checks": checks, "disagreements": ranked}
        text = json.dumps(content, indent=1) + "\n"
        write_whole(self._path, text.encode())
