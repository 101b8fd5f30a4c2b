# SPDX-License-Identifier: Apache-2.0
"""
The known schedules of a kernel, from a database and from the goldens.

For a kernel compiled for a target, sources have this order of precedence:

1. measurements on the GPU that is present, if it matches the target;
2. measurements on other GPUs of the target, by name;
3. estimates for the target from machine code, and then those of a model.

For each GPU, the database precedes the goldens, and a newer NVRTC precedes an older one. If the
default schedule is as fast as the fastest in a database within noise, the default is used.
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

_EVALUATORS = ("gpu", "clock", "evidence", "model")
"""Evaluators in the order of their precedence."""

Db = str | Path | bool
"""Path of a database; True for the user's own, if there is one, and False for none."""


_MOST_TRIED = 4
"""Most schedules of one key to try, the fastest first."""


class Known(NamedTuple):
    """A schedule with a measured or estimated time."""

    schedule: str
    """Schedule with canonical names (`operand_names`)."""
    us: float
    device: str
    """Name of the GPU, or the target if a model computed the time."""
    evaluator: str
    nvrtc: str
    measured_at: str
    source: str
    """Source of the schedule: `database /home/me/tuning.sqlite`."""
    as_fast: tuple["Known", ...] = ()
    """Schedules of the same source that are as fast within noise."""

    def or_default(self, default: Callable[[], str]) -> "Known":
        """
        Return the default schedule, with canonical names, if it is among `as_fast`; otherwise
        `self`.
        """
        if not self.as_fast:
            return self
        schedule = default()
        return next((each for each in self.as_fast if each.schedule == schedule), self)

    def __str__(self) -> str:
        day = self.measured_at.partition("T")[0]
        return f"{self.us:.2f} us on {self.device} by the {self.evaluator}, {day}, {self.source}"


class Knowledge:
    """
    Known schedules for `target`. Queries raise `DatabaseError` for a path that is not a database;
    for the user's own database, which was not requested, they warn instead.
    """

    def __init__(self, target: str, db: Db):
        self.target = target
        self._db = db
        self._path = path_of(db)
        self._goldens = [] if db is False else [*_goldens_for(target)]
        self._gpu = _gpu_of(target)

    @property
    def is_empty(self) -> bool:
        """True if there are neither a database nor goldens to read."""
        return self._path is None and not self._goldens

    def best(self, kernels: Iterable[str]) -> dict[str, list[Known]]:
        """Return the known schedules of kernels, by digest, in order of precedence."""
        digests = [*dict.fromkeys(kernels)]
        measured = self._measured(digests)
        found: dict[str, list[Known]] = {}
        for kernel in digests:
            goldens = (known for digest, known in self._goldens if digest == kernel)
            parts = (measured.get(kernel, ()), goldens)
            ranked = [(*self._rank(k), at, _age(k), k) for at, p in enumerate(parts) for k in p]
            found[kernel] = [known for *_, known in sorted(ranked, key=lambda each: each[:-1])]
        return found

    def _rank(self, known: Known) -> tuple[int, bool, str]:
        return _EVALUATORS.index(known.evaluator), known.device != self._gpu, known.device

    def _measured(self, kernels: Iterable[str]) -> dict[str | None, list[Known]]:
        records = timed_records(self._db, kernels)
        return {kernel: [*self._of_records(found)] for kernel, found in records.items()}

    def _of_records(self, records: Iterable[Sequence[Record]]) -> Iterator[Known]:
        """
        Yield for each key the fastest schedule, with those as fast; then the next fastest ones.
        """
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
                source_fields = key.device, key.evaluator, key.nvrtc
                yield Known(schedule, us, *source_fields, measured_at, source)


def fastest_records(db: Db, kernels: Iterable[str | None]) -> dict[str | None, list[list[Record]]]:
    """
    Return for each key of these kernels, or of all kernels for None, the fastest record and those
    as fast within noise. Raises `DatabaseError` as `Knowledge` does.
    """
    timed = timed_records(db, kernels)
    return {kernel: [*map(as_fast, found)] for kernel, found in timed.items()}


def timed_records(db: Db, kernels: Iterable[str | None]) -> dict[str | None, list[list[Record]]]:
    """
    Return the records with a time of each key of these kernels, the fastest first. Raises
    `DatabaseError` as `Knowledge` does.
    """
    if (path := path_of(db)) is None:
        return {}
    # SQLite is imported only if there is a file to read.
    from tilewright.tuning.database import Database

    try:
        with Database.reading(path) as database:
            return {kernel: database.timed_of_each(kernel) for kernel in kernels}
    except TilewrightError as err:
        if db is not True:
            raise
        warnings.warn(f"{err}; it is ignored", stacklevel=2)
        return {}


def path_of(db: Db) -> Path | None:
    """Return the path of the database to read, or None."""
    if not isinstance(db, bool):
        return Path(db)
    path = own_database() if db else None
    return path if path is not None and may_be_there(path) else None


def _gpu_of(target: str) -> str | None:
    """Return the name of the GPU that is present, if it matches the target."""
    gpu = present_gpu()
    return gpu.name if gpu is not None and gpu.target == target else None


def _age(known: Known) -> tuple[int, ...]:
    """Return a sort key that is smaller for newer versions of NVRTC."""
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
