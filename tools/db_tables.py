# SPDX-License-Identifier: Apache-2.0
"""What a database knows, for people: `tilewright db ls | show | best`."""

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.markup import escape

from tilewright.tools.terminal import show, table
from tilewright.tuning.database import Counts
from tilewright.tuning.key import KernelNote, Key, Record

_DIGITS = 10
"""Of a digest, where it is not alone in its line."""

_NUMBERS = ("measured", "failed", "best us")


def print_counts(counts: Sequence[Counts], notes: Mapping[str, KernelNote], out: Console) -> None:
    """A line for each kernel and device."""
    head = ("kernel", "what it is", "target", "device", "by", "nvrtc")
    rows = table(*head, *_NUMBERS, "latest", numbers=_NUMBERS)
    for key, measured, failed, best_us, latest in counts:
        note = notes.get(key.kernel)
        rows.add_row(
            key.kernel[:_DIGITS],
            escape("" if note is None else note.about),
            key.target,
            escape(key.device),
            key.evaluator,
            key.nvrtc,
            f"{measured}",
            f"{failed}",
            "-" if best_us is None else f"{best_us:.2f}",
            _day(latest),
        )
    show(out, rows)


def print_kernel(
    kernel: str, note: KernelNote | None, found: Mapping[Key, Sequence[Record]], out: Console
) -> None:
    """What the kernel is, and a table of measurements for each device."""
    _print(out, "" if note is None else note.about, style="bold")
    _print(out, f"  digest  {kernel}")
    if note is not None:
        _print(out, f"  origin  {note.origin or 'unknown'}")
        _print(out, f"\n{note.ir}")
    for key, records in found.items():
        _print(out, f"\n{_place(key)}")
        rows = table("us", "spread", "measured", "schedule", numbers=("us", "spread"))
        for record in records:
            rows.add_row(*_times(record), _day(record.measured_at), escape(_said(record)))
        show(out, rows)
    out.print()


def print_best(records: Sequence[Record], notes: Mapping[str, KernelNote], out: Console) -> None:
    """A paragraph each; the schedule is a line that can be pasted."""
    for record in records:
        key, measurement, measured_at = record
        note = notes.get(key.kernel)
        _print(out, key.kernel if note is None else note.about, style="bold")
        _print(out, f"  {measurement.us:.2f} us on {_place(key)}, {_day(measured_at)}")
        _print(out, f"  {measurement.schedule}")


def _print(out: Console, line: str, style: str | None = None) -> None:
    out.print(line, style=style, markup=False, soft_wrap=True)


def _place(key: Key) -> str:
    nvrtc = f", NVRTC {key.nvrtc}" if key.nvrtc else ""
    target = "" if key.device == key.target else f" ({key.target})"
    return f"{key.device}{target} by the {key.evaluator}{nvrtc}"


def _times(record: Record) -> tuple[str, str]:
    _, us, _, spread = record.measurement
    return ("-", "-") if us is None else (f"{us:.2f}", f"{spread:.2f}")


def _said(record: Record) -> str:
    schedule, us, problem, _ = record.measurement
    return f"{schedule}: {problem}" if us is None else schedule


def _day(time: str) -> str:
    return time.partition("T")[0]
