# SPDX-License-Identifier: Apache-2.0
"""Tables of the database's contents for people: `tilewright db ls | show | best`."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.markup import escape

from tilewright.tools.output.terminal import show, table
from tilewright.tuning.database import Counts
from tilewright.tuning.key import SEMANTICS, KernelNote, Key, Record

_DIGITS = 6
"""Minimum number of digits of a digest in a table; more are shown if two digests share them."""

_ORIGIN = 60
"""Maximum number of characters of an expression in a table; longer ones are cut."""

_NUMBERS = ("schedules", "failed", "best us")


def print_counts(counts: Sequence[Counts], notes: Mapping[str, KernelNote], out: Console) -> None:
    """
    Print a table with a line for each kernel and device, ordered by the kernels' names and shapes.
    """
    names, origins = short_keys(each.key.kernel for each in counts), _origins(counts, notes)
    head = ("key", "kernel", *(["expression"] if origins else []))
    rows = table(
        *head, "target", "device", "evaluator", "nvrtc", *_NUMBERS, "latest", numbers=_NUMBERS
    )
    for key, timed, failed, best_us, latest in sorted(counts, key=lambda c: _order(c.key, notes)):
        rows.add_row(
            names[key.kernel],
            escape(_about(key, notes)),
            *([escape(origins.get(key.kernel, ""))] if origins else []),
            key.target,
            escape(key.device),
            _evaluator(key),
            key.nvrtc,
            f"{timed}",
            f"{failed}",
            "-" if best_us is None else f"{best_us:.2f}",
            _day(latest),
        )
    show(out, rows)


def short_keys(kernels: Iterable[str]) -> dict[str, str]:
    """
    Map each digest to a prefix that is unique among `kernels`; `db show` accepts these prefixes.
    """
    digests = {*kernels}
    lengths = range(_DIGITS, max(map(len, digests), default=0))
    are_apart = (n for n in lengths if len({digest[:n] for digest in digests}) == len(digests))
    length = next(are_apart, None)
    return {digest: digest[:length] for digest in digests}


def _origins(counts: Sequence[Counts], notes: Mapping[str, KernelNote]) -> dict[str, str]:
    """
    Return the shortened expressions of kernels, by digest, for kernels whose description another
    kernel shares.
    """
    kernels = {each.key.kernel for each in counts} & notes.keys()
    alike = Counter(notes[kernel].about for kernel in kernels)
    found = {k: notes[k].origin for k in kernels if alike[notes[k].about] > 1}
    return {k: o if len(o) <= _ORIGIN else f"{o[: _ORIGIN - 3]}..." for k, o in found.items()}


def _order(key: Key, notes: Mapping[str, KernelNote]) -> tuple[object, ...]:
    """Return the sort key of a line: the kernel's name, its description, and the key."""
    note = notes.get(key.kernel)
    return ("" if note is None else note.name, "" if note is None else note.about, key)


def _about(key: Key, notes: Mapping[str, KernelNote]) -> str:
    """Return a kernel's description with its arguments, or only its dtype if it has no note."""
    note = notes.get(key.kernel)
    return f"a kernel of {key.dtype}" if note is None else note.about


def _evaluator(key: Key) -> str:
    """
    Return the evaluator's name, and the version of the schedules' semantics if it is not the
    current one.
    """
    version = "" if key.semantics == SEMANTICS else f", semantics {key.semantics}"
    return f"{key.evaluator}{version}"


def print_kernel(
    kernel: str, note: KernelNote | None, found: Mapping[Key, Sequence[Record]], out: Console
) -> None:
    """Print a kernel's description and IR, and a table of its measurements for each device."""
    _print(out, "" if note is None else note.about, style="bold")
    _print(out, f"  digest  {kernel}")
    if note is not None:
        _print(out, f"  origin  {note.origin or 'unknown'}")
        _print(out, f"\n{note.ir}")
    for key, records in found.items():
        _print(out, f"\n{_place(key)}")
        rows = table("us", "spread", "date", "schedule", numbers=("us", "spread"))
        for record in records:
            rows.add_row(*_times(record), _day(record.measured_at), escape(_schedule_text(record)))
        show(out, rows)
    out.print()


def print_best(records: Sequence[Record], notes: Mapping[str, KernelNote], out: Console) -> None:
    """Print a paragraph for each record; the schedule is on a line of its own, for copying."""
    names = short_keys(record.key.kernel for record in records)
    for key, measurement, measured_at in records:
        _print(out, f"{names[key.kernel]}  {_about(key, notes)}", style="bold")
        _print(out, f"  {measurement.us:.2f} us on {_place(key)}, {_day(measured_at)}")
        _print(out, f"  {measurement.schedule}")


def _print(out: Console, line: str, style: str | None = None) -> None:
    out.print(line, style=style, markup=False, soft_wrap=True)


def _place(key: Key) -> str:
    nvrtc = f", NVRTC {key.nvrtc}" if key.nvrtc else ""
    target = "" if key.device == key.target else f" ({key.target})"
    return f"{key.device}{target} by the {_evaluator(key)}{nvrtc}"


def _times(record: Record) -> tuple[str, str]:
    _, us, _, spread = record.measurement
    return ("-", "-") if us is None else (f"{us:.2f}", f"{spread:.2f}")


def _schedule_text(record: Record) -> str:
    schedule, us, problem, _ = record.measurement
    return f"{schedule}: {problem}" if us is None else schedule


def _day(time: str) -> str:
    return time.partition("T")[0]
