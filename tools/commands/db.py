# SPDX-License-Identifier: Apache-2.0
"""Command `tilewright db`: list, print, export and import the measurements of a tuning database."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tilewright.errors import TilewrightError, UsageError, counted, did_you_mean
from tilewright.stages import stage
from tilewright.tools.db_tables import print_best, print_counts, print_kernel
from tilewright.tools.input.mlir_source import read_bytes
from tilewright.tools.output.output_path import write_text
from tilewright.tools.output.terminal import console
from tilewright.tools.output.written import note_written
from tilewright.tuning.database import Counts, Database
from tilewright.tuning.database_schema import DatabaseError
from tilewright.tuning.goldens import (
    Golden,
    file_name,
    golden_files,
    golden_text,
    goldens_of,
)
from tilewright.tuning.json_lines import as_json, from_lines, to_lines
from tilewright.tuning.key import KernelNote, Record
from tilewright.tuning.operand_names import from_canonical
from tilewright.tuning.own_database import may_be_there, own_database

Notes = Mapping[str, KernelNote]


def run(args: argparse.Namespace) -> int:
    """Run the action on the database that the arguments name; return 0."""
    _ACTIONS[args.action](args, own_database() if args.db is None else Path(args.db))
    return 0


def _ls(args: argparse.Namespace, path: Path) -> None:
    with _reading(path) as database:
        notes, counts = database.notes(), database.counts()
    if args.json:
        _print_json([_counts_json(each, notes) for each in counts])
        return
    out = console(args.color, sys.stdout)
    print_counts(counts, notes, out)
    kernels = len({each.key.kernel for each in counts})
    what = f"{_total(counts)} of {counted(kernels, 'kernel')}"
    out.print(f"{what} in {path}", markup=False, soft_wrap=True)


def _total(counts: Sequence[Counts]) -> str:
    """
    Return a text with the numbers of measurements and of estimates: `3 measurements and 1
    estimate`.
    """
    totals = Counter[str]()
    for each in counts:
        kind = "measurement" if each.key.evaluator == "gpu" else "estimate"
        totals[kind] += each.measured + each.failed
    kinds = [counted(count, kind) for kind, count in sorted(totals.items(), reverse=True)]
    return " and ".join(kinds) or "0 measurements"


def _counts_json(counts: Counts, notes: Notes) -> dict[str, Any]:
    note = notes.get(counts.key.kernel)
    numbers = {name: value for name, value in counts._asdict().items() if name != "key"}
    return {**counts.key._asdict(), "about": note and note.about, **numbers}


def _show(args: argparse.Namespace, path: Path) -> None:
    with _reading(path) as database:
        notes = database.notes()
        kernels = _kernels(args.kernel, notes, database)
        keys = [each.key for each in database.counts() if each.key.kernel in kernels]
        found = {key: _named(database.measurements(key), notes) for key in keys}
    if args.json:
        described = [notes[kernel]._asdict() for kernel in kernels if kernel in notes]
        records = [as_json(record) for records in found.values() for record in records]
        _print_json({"kernels": described, "measurements": records})
        return
    out = console(args.color, sys.stdout)
    for kernel in kernels:
        of_kernel = {key: records for key, records in found.items() if key.kernel == kernel}
        print_kernel(kernel, notes.get(kernel), of_kernel, out)


def _best(args: argparse.Namespace, path: Path) -> None:
    with _reading(path) as database:
        notes = database.notes()
        kernels = None if args.kernel is None else _kernels(args.kernel, notes, database)
        found = _named(database.best_of_each(), notes)
    records = [each for each in found if kernels is None or each.key.kernel in kernels]
    if args.json:
        _print_json([as_json(record) for record in records])
        return
    print_best(records, notes, console(args.color, sys.stdout))


def _kernels(asked: str, notes: Notes, database: Database) -> list[str]:
    """
    Return the digests of the kernels whose name is `asked`, or whose digest begins with it. Raises
    `UsageError` if there are none.
    """
    known = sorted({each.key.kernel for each in database.counts()} | {*notes})
    names = {kernel: notes[kernel].name for kernel in known if kernel in notes}
    found = [k for k in known if asked == names.get(k) or (asked and k.startswith(asked))]
    if not found:
        remedy = did_you_mean(asked, dict.fromkeys(names.values())) or "tilewright db ls lists them"
        raise UsageError(f"the database has no kernel '{asked}'", remedy=remedy)
    return found


def _named(records: Sequence[Record], notes: Notes) -> list[Record]:
    """
    Return the records with schedules that name a kernel's inputs as its note does; stored schedules
    have canonical names.
    """
    return [_with_names(r, notes[r.key.kernel]) if r.key.kernel in notes else r for r in records]


def _with_names(record: Record, note: KernelNote) -> Record:
    schedule = from_canonical(record.measurement.schedule, note.inputs)
    return record._replace(measurement=record.measurement._replace(schedule=schedule))


def _export(args: argparse.Namespace, path: Path) -> None:
    with _reading(path) as database:
        notes = database.notes()
        if args.goldens is not None:
            _write_goldens(Path(args.goldens), notes, database.best_of_each())
            return
        text = "".join(to_lines(notes.values(), database.records()))
    write_text(args.exported, text)


def _write_goldens(folder: Path, notes: Notes, records: Sequence[Record]) -> None:
    """
    Write the best schedules of each GPU in the format of the shipped goldens. Entries of other
    kernels, and files of other GPUs, are kept.
    """
    if not folder.is_dir():
        raise UsageError(f"there is no folder '{folder}'")
    found = goldens_of(notes, records)
    if not found:
        raise TilewrightError(
            "no goldens to write: a golden is a GPU's measurement of an expression",
            remedy="tilewright db ls lists the measurements",
        )
    before = {file.path.name: file.goldens for file in golden_files(folder)}
    for (gpu, target), goldens in found.items():
        name = file_name(gpu)
        kept = _newest([*before.get(name, ()), *goldens])
        write_text(str(folder / name), golden_text(gpu, target, kept))
        note_written(str(folder / name), counted(len(kept), "golden"))


def _newest(goldens: Sequence[Golden]) -> list[Golden]:
    """
    Return one golden for each kernel: the one of the latest schedule semantics, then of the latest
    NVRTC.
    """
    ordered = sorted(goldens, key=lambda golden: (golden.semantics, _version(golden.nvrtc)))
    return [*{golden.kernel: golden for golden in ordered}.values()]


def _version(nvrtc: str) -> list[int]:
    return [int(part) for part in nvrtc.split(".") if part.isdecimal()]


def _import(args: argparse.Namespace, path: Path) -> None:
    with stage(f"read {counted(len(args.files), 'file')}"):
        read = [from_lines((line.decode() for line in read_bytes(f)), f) for f in args.files]
    _add(read, path)  # a mistake in any file leaves the database unchanged


def _merge(args: argparse.Namespace, path: Path) -> None:
    _add([_contents(Path(file)) for file in args.files], path)


def _contents(path: Path) -> tuple[list[KernelNote], list[Record]]:
    with _reading(path) as database:
        return [*database.notes().values()], [*database.records()]


def _add(read: Sequence[tuple[list[KernelNote], list[Record]]], path: Path) -> None:
    """Add all records to the database, and print how many of them are new."""
    with stage(f"write {path}"), Database.writing(path) as database:
        new = sum(database.merge(*each) for each in read)
    total = sum(len(records) for _, records in read)
    verb = "is" if new == 1 else "are"
    what = f"{new} of {counted(total, 'record')} {verb} new, or newer than those in {path}"
    print(what, file=sys.stderr)


def _reading(path: Path) -> Database:
    if not may_be_there(path):
        remedy = "--db names another one; tilewright tune creates one"
        raise DatabaseError(f"there is no database '{path}'", remedy=remedy)
    return Database.reading(path)


def _print_json(content: object) -> None:
    print(json.dumps(content, indent=1))


_ACTIONS: Mapping[str, Callable[[argparse.Namespace, Path], None]] = {
    "ls": _ls,
    "show": _show,
    "best": _best,
    "export": _export,
    "import": _import,
    "merge": _merge,
}
