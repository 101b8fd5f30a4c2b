# SPDX-License-Identifier: Apache-2.0
"""Bar chart of results, by matplotlib, which only this module of `bench` imports."""

from collections.abc import Sequence
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any

from tilewright.errors import TilewrightError, UsageError
from tilewright.tools.bench.row import Row
from tilewright.tools.bench.summary import AGAINST, is_same, losses_first
from tilewright.tools.output.output_path import write_bytes

_COLORS = {"vs_eager": "#3b6fb6", "vs_compile": "#e08a2c"}
_INCHES_A_CASE = 0.22
_BAR = 0.4
"""Height of a bar, as a share of the room for a case."""


def need_matplotlib(path: str) -> None:
    """Raise an error, before anything is measured, unless a chart can be drawn into this file."""
    if find_spec("matplotlib") is None:
        raise TilewrightError(
            "drawing a chart needs matplotlib", remedy="pip install 'tilewright[plot]'"
        )
    if Path(path).suffix not in (".png", ".svg", ".pdf"):
        raise UsageError(f"'{path}': a chart is a .png, .svg or .pdf")


def draw(rows: Sequence[Row], title: str, path: str) -> None:
    """Draw the speedups of Tilewright, case by case, in the order of `losses_first`."""
    from matplotlib.figure import Figure

    ordered = losses_first(rows)
    figure = Figure(figsize=(9, 1.5 + _INCHES_A_CASE * len(ordered)), layout="constrained")
    axes: Any = figure.subplots()
    for number, against in enumerate(AGAINST):
        _draw_bars(axes, ordered, against, (number - 0.5) * _BAR)
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(_times)
    axes.set_yticks(range(len(ordered)), [row["name"] for row in ordered], fontsize=7)
    axes.set_ylim(len(ordered) - 0.5, -0.5)
    axes.set_xlabel("times as fast (log scale); ~ within the noise, ? unknown")
    axes.set_title(title, fontsize=9)
    axes.legend(loc="upper right", fontsize=8)
    drawn = BytesIO()
    form = Path(path).suffix[1:]
    figure.savefig(drawn, format=form, dpi=120)  # pyright: ignore[reportUnknownMemberType]
    write_bytes(path, drawn.getvalue())


def _times(value: float, position: int) -> str:
    return f"{value:g}x"


def _draw_bars(axes: Any, rows: Sequence[Row], against: str, shift: float) -> None:
    known = [(y + shift, row[against]) for y, row in enumerate(rows) if row[against] is not None]
    places, ratios = [y for y, _ in known], [ratio - 1 for _, ratio in known]
    label = f"against {AGAINST[against]}"
    axes.barh(places, ratios, _BAR, left=1.0, color=_COLORS[against], label=label)
    for y, row in enumerate(rows):
        if row[against] is None:
            mark = "~" if is_same(row, against) else "?"
            style: dict[str, Any] = {"color": _COLORS[against], "fontsize": 8, "weight": "bold"}
            axes.text(1.01, y + shift, mark, va="center", **style)
