# SPDX-License-Identifier: Apache-2.0
"""
Which schedules are known of a kernel: those of a database, and the goldens.

They count in this order, where a kernel is compiled for a target:

1. what was measured on the GPU that is present, if it is of the target;
2. what was measured on other GPUs of the target, by name;
3. what was estimated for the target of machine code, and after that what a model has computed.

For each GPU the database comes before the goldens, and a newer NVRTC before an older one. Where the
fastest of a database is faster than the default by noise at most, the default counts.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from tilewright.codegen.gpu import present_gpu
from tilewright.errors import TilewrightError
from tilewright.tuning.goldens import Golden, GoldenFile, shipped_goldens
from tilewright.tuning.key import SEMANTICS, Record, as_fast
from tilewright.tuning.operand_names import to_canonical
from tilewright.tuning.own_database import may_be_there, own_database

_EVALUATORS = ("gpu", "evidence", "model")
"""Who is believed rather than the next."""

Db = str | Path | bool
"""The path of a database; or True for the user's own, if there is one, and False for nothing."""


_MOST_TRIED = 4
"""Schedules of one key that are tried, the fastest first."""


class Known(NamedTuple):
    """A schedule that someone has measured."""

    schedule: str
    """With canonical names (`operand_names`)."""
    us: float
    device: str
    """The GPU, or the target where a model has computed the time."""
    evaluator: str
    nvrtc: str
    measured_at: str
    source: str
    """Who says so: `database /home/me/tuning.sqlite`."""
    as_fast: tuple["Known", ...] = ()
    """What differs from it by noise, as far as the same source knows."""

    def or_default(self, default: Callable[[], str]) -> "Known":
        """Return the default schedule instead, with canonical names, if that is as fast."""
        if not self.as_fast:
            return self
        schedule = default()
        return next((each for each in self.as_fast if each.schedule == schedule), self)

    def __str__(self) -> str:
        day = self.measured_at.partition("T")[0]
        return f"{self.us:.2f} us on {self.device} by the {self.evaluator}, {day}, {self.source}"


class Knowledge:
    """
    What is known for `target`. Raises `DatabaseError` for a path that is no database; if it is the
    user's own, which nobody has asked for, that is a warning.
    """

    def __init__(self, target: str, db: Db):
        self.target = target
        self._db = db
        self._path = path_of(db)
        self._goldens = [] if db is False else [*_goldens_for(target)]
        self._gpu = _gpu_of(target)

    @property
    def is_empty(self) -> bool:
        """True if there is nothing to look at."""
        return self._path is None and not self._goldens

    def best(self, kernels: Iterable[str]) -> dict[str, list[Known]]:
        """What is known of kernels, by their digests, in the order in which it counts."""
        asked = [*dict.fromkeys(kernels)]
        measured = self._measured(asked)
        found: dict[str, list[Known]] = {}
        for kernel in asked:
            goldens = (known for digest, known in self._goldens if digest == kernel)
            parts = (measured.get(kernel, ()), goldens)
            ranked = [(*self._rank(k), at, _oldness(k), k) for at, p in enumerate(parts) for k in p]
            found[kernel] = [known for *_, known in sorted(ranked, key=lambda each: each[:-1])]
        return found

    def _rank(self, known: Known) -> tuple[int, bool, str]:
        return _EVALUATORS.index(known.evaluator), known.device != self._gpu, known.device

    def _measured(self, kernels: Iterable[str]) -> dict[str | None, list[Known]]:
        records = timed_records(self._db, kernels)
        return {kernel: [*self._of_records(found)] for kernel, found in records.items()}

    def _of_records(self, records: Iterable[Sequence[Record]]) -> Iterator[Known]:
        """Yield for each key the fastest with others as fast; then those that come next."""
        for of_key in records:
            for best in self._known(of_key[:1]):
                yield best._replace(as_fast=tuple(self._known(as_fast(of_key)[1:])))
            yield from self._known(of_key[1:_MOST_TRIED])

    def _known(self, records: Iterable[Record]) -> Iterator[Known]:
        source = f"database {self._path}"
        for key, measurement, measured_at in records:
            schedule, us = measurement.schedule, measurement.us
            is_ours = key.target == self.target and key.semantics == SEMANTICS
            if is_ours and key.evaluator in _EVALUATORS and us is not None:
                who = key.device, key.evaluator, key.nvrtc
                yield Known(schedule, us, *who, measured_at, source)


def fastest_records(db: Db, kernels: Iterable[str | None]) -> dict[str | None, list[list[Record]]]:
    """
    Of each key of these kernels, or of all for None, the fastest and what is as fast but for noise.
    Raises as `Knowledge` does.
    """
    timed = timed_records(db, kernels)
    return {kernel: [*map(as_fast, found)] for kernel, found in timed.items()}


def timed_records(db: Db, kernels: Iterable[str | None]) -> dict[str | None, list[list[Record]]]:
    """
    Return the records with a time of each key of these kernels, the fastest first; raises the same.
    """
    if (path := path_of(db)) is None:
        return {}
    # SQLite is loaded where there is something to read, and nowhere else.
    from tilewright.tuning.database import Database

    try:
        with Database.reading(path) as database:
            return {kernel: database.timed_of_each(kernel) for kernel in kernels}
    except TilewrightError as err:
        if db is not True:
            raise
        warnings.warn(f"{err}; it is left out", stacklevel=2)
        return {}


def path_of(db: Db) -> Path | None:
    """Where to look; None for nowhere."""
    if not isinstance(db, bool):
        return Path(db)
    path = own_database() if db else None
    return path if path is not None and may_be_there(path) else None


def _gpu_of(target: str) -> str | None:
    """Return the GPU that is present, if it is one of the target."""
    gpu = present_gpu()
    return gpu.name if gpu is not None and gpu.target == target else None


def _oldness(known: Known) -> tuple[int, ...]:
    """Less for newer versions of NVRTC."""
    return tuple(-int(part) for part in known.nvrtc.split(".") if part.isdecimal())


def _goldens_for(target: str) -> Iterator[tuple[str, Known]]:
    for file in shipped_goldens():
        for golden in file.goldens:
            if file.target == target and golden.semantics == SEMANTICS:
                yield golden.kernel, _of_golden(file, golden)


def _of_golden(file: GoldenFile, golden: Golden) -> Known:
    schedule = to_canonical(golden.schedule, golden.inputs)
    source = f"golden {file.path.name}"
    return Known(schedule, golden.us, file.gpu, "gpu", golden.nvrtc, golden.measured_at, source)
