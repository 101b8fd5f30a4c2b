# SPDX-License-Identifier: Apache-2.0
"""What was found about the fusion of a program, for people."""

from rich.console import Console

from tilewright.errors import counted
from tilewright.tools.output.terminal import show, table
from tilewright.tools.tune.differences import differences
from tilewright.tools.tune.fusion_tuning import FusionTuning
from tilewright.tuning.measurement import Measurement

_SHOWN = 5
"""Programs."""
_NUMBERS = ("us", "faster", "launches")


def print_fusion(tuning: FusionTuning, out: Console) -> None:
    """A table of the best programs and the default, and the best one as `opt-tool` takes it."""
    found = tuning.findings
    failed = f", {len(found.failed)} without a time" if found.failed else ""
    out.print(found.title, style="bold", markup=False, end="")
    out.print(f": fused in {counted(len(found.measurements), 'way')}{failed}", markup=False)
    if found.best is not None and found.default is not None:
        _print_best(tuning, found.best, found.default, out)
    out.print()


def _print_best(
    tuning: FusionTuning, best: Measurement, default: Measurement, out: Console
) -> None:
    shown = table(*_NUMBERS, "than the default, with", numbers=_NUMBERS)
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
