# SPDX-License-Identifier: Apache-2.0
"""
The JSON file of what was found, written after each check: what is in it is not done again.

    {"schema": 1, "device": ..., "gpu": ..., "sources": ..., "checks": {STAGE: {ITEM: {...}}},
     "disagreements": [...]}

A file holds what was found for one state of the sources; that of another is not mixed with it.
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
"""The version of the JSON's shape."""

_OUR_FILES = Path(__file__).parent


def state() -> str:
    """
    Return a digest of the compiler's files and of the checks; it names a state as a commit does.
    """
    digest = sha256(sources().encode())
    for path in sorted(each for each in _OUR_FILES.iterdir() if each.suffix in (".py", ".cu")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


class Record:
    """What was found so far, on one device, with one state of the sources."""

    def __init__(self, path: Path, head: Mapping[str, Any]):
        self._path = path
        self._head = {"schema": SCHEMA, **head}
        self._lock = Lock()
        self._checks: dict[str, dict[str, Outcome]] = {}

    def take(self, path: Path) -> None:
        """Begin with what a file has, if it is of the same device and sources."""
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
            raise UsageError(f"'{path}' holds something else than checks") from err
        if changed := [key for key in head if head[key] != self._head[key]]:
            print(f"note: '{path}' is of another {', '.join(changed)}", file=sys.stderr)
            return
        self._checks = checks

    def has(self, stage: str, item: str, and_right: bool = False) -> bool:
        """True if a check was done, `and_right`."""
        outcome = self._checks.get(stage, {}).get(item)
        return outcome is not None and (outcome.verdict is Verdict.RIGHT or not and_right)

    def add(self, stage: str, item: str, outcome: Outcome) -> None:
        """Put an outcome in, and write the file."""
        with self._lock:
            self._checks.setdefault(stage, {})[item] = outcome
            self._write()

    def __iter__(self) -> Iterator[tuple[str, str, Outcome]]:
        """Yield all that was found: stage, item and outcome."""
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
