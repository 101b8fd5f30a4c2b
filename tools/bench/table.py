# SPDX-License-Identifier: Apache-2.0
"""Tables of results: the cases, losses first, and their summary."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from tilewright.codegen.timing.verdict import Verdict, verdict
from tilewright.tools.bench.contest import Outcome
from tilewright.tools.bench.contestants import OURS
from tilewright.tools.bench.row import Row
from tilewright.tools.bench.summary import AGAINST, groups, is_same, losses_first, tally
from tilewright.tools.output.terminal import show, table

_NUMBERS = ("us", "eager", "compile", "vs eager", "vs compile", "roofline", "TFLOP/s", "TB/s")
_TALLY = ("cases", "geomean", "wins", "same", "losses", "unknown")


def print_rows(rows: Sequence[Row], out: Console) -> None:
    """Print a line for each case; its last column is the reason for a missing ratio."""
    shown = table("case", *_NUMBERS, "why not", numbers=_NUMBERS)
    for row in losses_first(rows):
        shown.add_row(row["name"], *_cells(row), _reason_against_ratio(row))
    show(out, shown)


def print_summary(rows: Sequence[Row], out: Console) -> None:
    """Print geometric means, wins and losses, for each group and for all cases."""
    for against, name in AGAINST.items():
        out.print(f"\nagainst {name}", markup=False)
        show(out, _tallies(rows, against))


def print_launches(row: Row, out: Console) -> None:
    """
    Print a line for each launch of a case, and the sum of their times beside the time of the case.
    """
    numbers = ("grid", "block", "us", "share", "floor", "roofline")
    shown = table("kernel", *numbers, numbers=numbers)
    for launch in row["launches"]:
        shown.add_row(
            launch["kernel"],
            *(f"{launch[key]}" for key in ("grid", "block")),
            f"{launch['us']:.2f}",
            f"{100 * launch['share']:.0f} %",
            f"{launch['floor_us']:.2f}",
            f"{100 * launch['roofline']:.0f} %",
        )
    alone = sum(launch["us"] for launch in row["launches"])
    together = f"{alone:.2f} us each alone, {row['us']:.2f} us together"
    out.print(f"\n{row['name']}: {len(row['launches'])} launches, {together}", markup=False)
    show(out, shown)


def print_outcome(outcome: Outcome, out: Console) -> None:
    """Print a line for each contestant of one workload."""
    numbers = ("us", "quartiles", "A/A", "ours is", "TFLOP/s", "TB/s", "roofline")
    shown = table("", *numbers, "why not", numbers=numbers)
    floor, ours = outcome.floor_us, outcome.results[OURS]
    for name, result in outcome.results.items():
        found = verdict(ours, result)
        cells = ["-"] * 6
        if result.counted is not None:
            us, quartiles, aa, _ = result.counted
            figures = [f"{value:.2f}" for value in (us, quartiles, aa, *outcome.work.rates(us))]
            cells = [*figures, f"{100 * floor / us:.0f} %"]
        ratio = "" if name == OURS else _verdict(found)
        shown.add_row(name, *cells[:3], ratio, *cells[3:], result.reason_against)
    show(out, shown)
    out.print(
        f"\nroofline: {floor:.2f} us, for {outcome.work.flops} operations and "
        f"{outcome.work.bytes} bytes",
        markup=False,
    )


def _verdict(found: Verdict) -> str:
    if found.is_same:
        return "the same"
    return "-" if found.ratio is None else f"{found.ratio:.2f}x"


def _tallies(rows: Sequence[Row], against: str) -> Table:
    shown = table("group", *_TALLY, numbers=_TALLY)
    for group, members in {**groups(rows), "all": rows}.items():
        found = tally(members, against)
        geomean = "-" if found.geomean is None else f"{found.geomean:.2f}x"
        counts = (found.wins, found.same, found.losses, found.unknown)
        shown.add_row(group, f"{found.cases}", geomean, *map(str, counts))
    return shown


def _cells(row: Row) -> list[str]:
    return [
        *(_number(row[key], "{:.2f}") for key in ("us", "eager_us", "compile_us")),
        *(_ratio(row, against) for against in AGAINST),
        _number(None if row["roofline"] is None else 100 * row["roofline"], "{:.0f} %"),
        *(_number(row[key], "{:.2f}") for key in ("tflops", "tbytes")),
    ]


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else form.format(value)


def _ratio(row: Row, against: str) -> str:
    if is_same(row, against):
        return "same"
    ratio = row[against]
    if ratio is None:
        return "-"
    return f"[red]{ratio:.2f}x[/]" if ratio < 1 else f"{ratio:.2f}x"


def _reason_against_ratio(row: Row) -> str:
    """
    Return the reasons why ratios of a row are missing; empty if none is missing, or only because of
    noise.
    """
    if row["problem"]:
        return row["problem"]
    reasons: list[str] = [row["why"][against] for against in AGAINST if not is_same(row, against)]
    return "; ".join(dict.fromkeys(filter(None, reasons)))
