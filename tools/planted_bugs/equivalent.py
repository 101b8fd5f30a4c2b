# SPDX-License-Identifier: Apache-2.0
"""
Equivalent mutants, which are no bugs: `equivalent.toml`, beside the kernels or the suite, lists
them with reasons.

    [[matmul_odd]]
    line = "kernel.copy_async %b[...] to %bs[...] width 1 where [8 - %j] : ..."
    bugs = ["condition 0 lost"]
    why = "it reads the row after, for columns that are not stored"

`line` is the line of Kernel IR or CUDA text that contains the bug. If several lines are equal,
`which` is the number of the line, from 1. Therefore an entry stays valid when its line moves. If
the line changes, the entry matches nothing, which is reported, so that a person checks it again.
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
    """Place of a planted bug: the line, and its number `which` among equal lines."""

    line: str
    bug: str
    which: int = 1

    def __str__(self) -> str:
        number = f" (number {self.which})" if self.which > 1 else ""
        return f"'{self.bug}' in '{self.line}'{number}"


@dataclass(frozen=True)
class Equivalent:
    """Mutants of one line that are equivalent, with the reason."""

    line: str
    bugs: tuple[str, ...]
    why: str
    which: int = 1

    @property
    def places(self) -> Sequence[Place]:
        """Places of the equivalent mutants, one for each bug."""
        return [Place(self.line, bug, self.which) for bug in self.bugs]


def read_equivalent(folder: Path, kernel: str) -> tuple[Equivalent, ...]:
    """Return the entries of a kernel; raises `UsageError` if the file is malformed."""
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
        raise UsageError(f"[[{kernel}]] is not a list of tables: {entries}", where=str(path))
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
        remedy="it has line, bugs, why, and which, the number of the line if several are equal",
    )


def unmatched(entries: Iterable[Equivalent], places: Iterable[Place]) -> Iterator[str]:
    """
    Yield a message for each place in `entries` that is not planted, with the most similar planted
    line.
    """
    known = [*places]
    named = (place for entry in entries for place in entry.places)
    for place in (place for place in named if place not in known):
        lines = {other.line for other in known if other.bug == place.bug}
        nearest = get_close_matches(place.line, lines, n=1, cutoff=0)
        hint = f"; the nearest line with this bug is '{nearest[0]}'" if nearest else ""
        yield f"{EQUIVALENT} names {place}, which is not planted{hint}"
