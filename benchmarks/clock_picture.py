# SPDX-License-Identifier: Apache-2.0
"""
Picture of the clock's errors, `docs/clock-errors.svg`: clock over measured time for each stored row
of `clock_error.py`, with a panel for each data set.

    python benchmarks/clock_picture.py docs/clock-errors.svg
"""

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clock_error import stored_rows

from tilewright.tools.output.output_path import write_text
from tilewright.tools.output.svg import svg_text

TITLES = {
    "tilings": "our products",
    "suite84": "our row kernels",
    "sgemm": "cuBLAS, float32",
    "bf16": "cuBLAS, bfloat16",
    "rows": "PyTorch, rows and pointwise",
    "memory": "KernelBench, memory-bound",
}
"""Title of the panel of each data set."""

_COLORS = {"h": "#3b6fb6", "a": "#e08a2c"}
"""Colours of devices, by the first letter of their names."""


def picture() -> str:
    """Return the picture as SVG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 6), layout="constrained")
    panels: Any = figure.subplots(2, 3, sharex=True, sharey=True)
    for panel, (data, title) in zip(panels.flat, TITLES.items(), strict=True):
        _draw(panel, title, [row for row in stored_rows(data) if "clock_us" in row])
    for panel in panels[:, 0]:
        panel.set_ylabel("clock / measured time")
    for panel in panels[1]:
        panel.set_xlabel("measured time, us")
    return svg_text(figure, "clock-errors")


def _draw(panel: Any, title: str, rows: Sequence[dict[str, Any]]) -> None:
    """Draw a point for each row, and a line where both times are equal."""
    panel.axhspan(0.8, 1.25, color="#eeeeee", linewidth=0)
    panel.axhline(1.0, color="black", linewidth=0.8)
    for letter, color in _COLORS.items():
        some = [row for row in rows if row["device"].startswith(letter)]
        ratios = [row["clock_us"] / row["us"] for row in some]
        panel.scatter([row["us"] for row in some], ratios, s=9, color=color)
    panel.set(xscale="log", yscale="log", ylim=(0.2, 5))
    panel.set_yticks([0.25, 0.5, 0.8, 1, 1.25, 2, 4], minor=False)
    panel.set_yticks([], minor=True)
    panel.set_yticklabels(["1/4", "1/2", "4/5", "1", "5/4", "2", "4"])
    panel.set_title(f"{title}: {len(rows)} times", fontsize=9)


def main() -> None:
    """Write the picture to the path that the command line gives."""
    parser = ArgumentParser(description="Draw docs/clock-errors.svg.")
    parser.add_argument("output", type=Path)
    write_text(parser.parse_args().output, picture())


if __name__ == "__main__":
    main()
