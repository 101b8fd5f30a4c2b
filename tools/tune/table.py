# SPDX-License-Identifier: Apache-2.0
"""
Tables of the best schedules of each kernel and the best fusions, with their differences from the
default.
"""

from collections import Counter
from collections.abc import Sequence

from rich.console import Console

from tilewright.errors import counted
from tilewright.tools.output.terminal import show, table
from tilewright.tools.tune.differences import differences
from tilewright.tools.tune.findings import Findings
from tilewright.tools.tune.fusion_tuning import FusionTuning
from tilewright.tuning.confidence import CONFIDENCE
from tilewright.tuning.measurement import Measurement

_SHOWN = 5
"""Maximum number of schedules of a kernel, or of fusions of a program, in a table."""
_PROBLEMS = 3
"""Maximum number of reasons in the output why schedules have no time."""
_NUMBERS = ("us", "quartiles", "faster")
_OF_FUSION = ("us", "faster", "launches")
_SUMMARY = ("default us", "best us", "faster")


def print_findings(found: Findings, out: Console, *, is_estimate: bool) -> None:
    """Print the best schedules as a table, and the best one as text for `--schedule`."""
    known = len(found.measurements) - found.measured
    verb = "estimated" if is_estimate else "measured"
    counts = [f"{counted(found.measured, 'schedule')} {verb}", f"{known} known" if known else ""]
    failed = found.failed
    counts.append(f"{len(failed)} without a time" if failed else "")
    out.print(found.title, style="bold", markup=False, end="")
    out.print(f": {', '.join(filter(None, counts))}", markup=False)
    if found.kernel.pinned:
        out.print(f"pinned: {found.kernel.pinned}", markup=False, soft_wrap=True)
    if found.best is not None:
        _print_best(found, out)
    for problem, count in _problems(failed):
        out.print(f"  {count} x {problem}", markup=False, soft_wrap=True)
    out.print()


def _print_best(found: Findings, out: Console) -> None:
    assert found.best is not None
    assert found.default is not None
    shown = table(*_NUMBERS, "changes to the default", numbers=_NUMBERS)
    for measurement in found.leading(_SHOWN):
        shown.add_row(*_cells(measurement, found.default))
    show(out, shown)
    out.print(f"best: {found.best.schedule}", markup=False, soft_wrap=True)
    if found.worst_regret is not None and len(found.ranking) > 1:
        out.print(_confidence(found.worst_regret), markup=False, soft_wrap=True)


def _confidence(regret: float) -> str:
    """Return a line on how much slower than the truly fastest schedule the best one may be."""
    return (
        f"at most {100 * regret:.0f} % slower than the fastest of these schedules, "
        f"with {100 * CONFIDENCE:.0f} % (error of the model: docs/tuning.md)"
    )


def _cells(measurement: Measurement, default: Measurement) -> tuple[str, ...]:
    assert measurement.us is not None
    ratio = "-" if default.us is None else f"{default.us / measurement.us:.2f}x"
    other = differences(measurement.schedule, default.schedule)
    is_default = measurement.schedule == default.schedule
    says = "the default" if is_default else other or "the same passes in another order"
    return f"{measurement.us:.2f}", f"{measurement.spread_us:.2f}", ratio, says


def _problems(failed: Sequence[Measurement]) -> list[tuple[str, int]]:
    """Return the most frequent problems, with their counts."""
    return Counter(measurement.problem for measurement in failed).most_common(_PROBLEMS)


def print_summary(findings: Sequence[Findings], out: Console) -> None:
    """Print a table with a line for each kernel."""
    shown = table("kernel", *_SUMMARY, numbers=_SUMMARY)
    for found in findings:
        speedup = "-" if found.speedup is None else f"{found.speedup:.2f}x"
        shown.add_row(found.title, _us(found.default), _us(found.best), speedup)
    show(out, shown)


def _us(measurement: Measurement | None) -> str:
    return "-" if measurement is None or measurement.us is None else f"{measurement.us:.2f}"


def print_fusion(tuning: FusionTuning, out: Console) -> None:
    """Print the best fusions of a program as a table, and the best one as text for `opt-tool`."""
    found = tuning.findings
    failed = f", {len(found.failed)} without a time" if found.failed else ""
    out.print(found.title, style="bold", markup=False, end="")
    out.print(f": fused in {counted(len(found.measurements), 'way')}{failed}", markup=False)
    if found.best is not None and found.default is not None:
        _print_best_fusion(tuning, found.best, found.default, out)
    out.print()


def _print_best_fusion(
    tuning: FusionTuning, best: Measurement, default: Measurement, out: Console
) -> None:
    shown = table(*_OF_FUSION, "changes to the default", numbers=_OF_FUSION)
    for measurement in tuning.findings.leading(_SHOWN):
        faster = f"{default.us / measurement.us:.2f}x" if default.us and measurement.us else "-"
        shown.add_row(
            f"{measurement.us:.2f}",
            faster,
            f"{tuning.launches(measurement)}",
            differences(measurement.schedule, default.schedule) or "the default",
        )
    show(out, shown)
    out.print(f"best: {best.schedule}", markup=False, soft_wrap=True)
