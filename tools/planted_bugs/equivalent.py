# SPDX-License-Identifier: Apache-2.0
"""
Mutants that are no bugs: `equivalent.toml`, beside the kernels or the suite, names them, and says
why.

    [[matmul_odd]]
    line = "kernel.copy_async %b[...] to %bs[...] width 1 where [8 - %j] : ..."
    bugs = ["condition 0 lost"]
    why = "it reads the row after, for columns that are not stored"

`line` is the line of Kernel IR or of the CUDA text that the bug is planted in, and `which` says
which of several such lines, from 1. So an entry goes with its line wherever that moves; if the line
changes, the entry fits nothing any more, which is a problem of its own: somebody has to look again.
"""

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple, cast

from tilewright.errors import UsageError

EQUIVALENT = "equivalent.toml"


class Place(NamedTuple):
    """What is planted where: in the line of that text, or number `which` of several."""

    line: str
    bug: str
    which: int = 1

    def __str__(self) -> str:
        number = f" (number {self.which})" if self.which > 1 else ""
        return f"'{self.bug}' in '{self.line}'{number}"


@dataclass(frozen=True)
class Equivalent:
    """Mutants of one line that are right, and why."""

    line: str
    bugs: tuple[str, ...]
    why: str
    which: int = 1

    @property
    def places(self) -> Sequence[Place]:
        """What it names."""
        return [Place(self.line, bug, self.which) for bug in self.bugs]


def read_equivalent(folder: Path, kernel: str) -> tuple[Equivalent, ...]:
    """Return the entries of a kernel; raises `UsageError` for a file that cannot be understood."""
    path = folder / EQUIVALENT
    if not path.exists():
        return ()
    try:
        entries = tomllib.loads(path.read_text()).get(kernel, [])
    except OSError as err:
        raise UsageError(f"cannot read '{path}': {err.strerror}") from err
    except ValueError as err:
        raise UsageError(str(err), where=str(path)) from err
    if not isinstance(entries, list):
        raise UsageError(f"[[{kernel}]] is no list of tables: {entries}", where=str(path))
    return tuple(_entry(entry, path, kernel) for entry in cast(list[Any], entries))


def _entry(entry: Any, path: Path, kernel: str) -> Equivalent:
    match entry:
        case {"line": str(line), "bugs": [*bugs], "why": str(why), "which": int(which)}:
            return Equivalent(line, tuple(map(str, bugs)), why, which)
        case {"line": str(line), "bugs": [*bugs], "why": str(why)}:
            return Equivalent(line, tuple(map(str, bugs)), why)
        case _:
            pass
    raise UsageError(
        f"cannot understand an entry of [[{kernel}]]: {entry}",
        where=str(path),
        remedy="it has a line, bugs, why, and which of several such lines, if not the first",
    )


def unmatched(entries: Iterable[Equivalent], places: Iterable[Place]) -> Iterator[str]:
    """What each entry names that is not planted, and the most similar of what is."""
    known = [*places]
    named = (place for entry in entries for place in entry.places)
    for place in (place for place in named if place not in known):
        lines = {other.line for other in known if other.bug == place.bug}
        nearest = get_close_matches(place.line, lines, n=1, cutoff=0)
        hint = f"; the nearest line with such a bug is '{nearest[0]}'" if nearest else ""
        yield f"{EQUIVALENT} names {place}, which is not planted{hint}"
