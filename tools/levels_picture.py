# SPDX-License-Identifier: Apache-2.0
"""
Picture of the six levels, `docs/levels.svg`: each level with one line of the same program.

    python -m tilewright.tools.levels_picture examples/relu_matmul.mlir docs/levels.svg
"""

from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tilewright.tools.output.output_path import write_text
from tilewright.tools.output.svg import ARROW, BOX, GRAY, svg_text
from tilewright.tools.run_lines import run_in_terminal


class PictureRow(NamedTuple):
    """A level as the picture shows it."""

    name: str
    """The level, as `--ir` spells it."""
    subject: str
    """Meaning of its ops, in a few words."""
    marker: str
    """Text by which the line of the program is found."""


LEVELS = (
    PictureRow("torch", "ATen operators, all arguments kept", "torch.matmul"),
    PictureRow("tensor", "elementwise, reduce, index map on tensors", "prim.reduce"),
    PictureRow("loop", "one loop nest per kernel, fused", "loop.reduce"),
    PictureRow("tile", "loops bound to blocks, threads, registers", "tile.launch"),
    PictureRow("kernel", "the program of one thread", "kernel.copy_async"),
    PictureRow("cuda", "C++ statements, as printed", "fmaf("),
)

_LONGEST = 104
"""Characters of a line that the picture has room for."""


def lines_of(program: Path) -> list[str]:
    """Return one line of the program at each level: the first line with the level's marker."""
    return [_line(program, level) for level in LEVELS]


def _line(program: Path, level: PictureRow) -> str:
    text = run_in_terminal(f"tilewright compile --no-db {program} --ir {level.name}").out.decode()
    lines = (line.strip() for line in text.splitlines() if level.marker in line)
    line = next(lines, f"(no {level.marker})")
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 4]} ..."


def picture(lines: Sequence[str]) -> str:
    """Return the picture as SVG, from the first level at the top to CUDA at the bottom."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.2), layout="constrained")
    axes: Any = figure.subplots()
    for row, (level, line) in enumerate(zip(LEVELS, lines, strict=True)):
        _draw_level(axes, float(len(LEVELS) - 1 - row), level, line)
    axes.set_xlim(0, 100)
    axes.set_ylim(-0.5, len(LEVELS) - 0.4)
    axes.axis("off")
    return svg_text(figure, "levels")


def _draw_level(axes: Any, y: float, level: PictureRow, line: str) -> None:
    axes.text(7, y, level.name, ha="center", va="center", fontsize=11, bbox=BOX, zorder=2)
    axes.text(15, y + 0.16, level.subject, va="center", fontsize=9, color=GRAY)
    axes.text(15, y - 0.18, line, va="center", fontsize=9, family="monospace")
    if y > 0:
        axes.annotate("", xy=(7, y - 1), xytext=(7, y), arrowprops=ARROW, zorder=1)


def main() -> None:
    """Draw the program that the command line names into a file."""
    parser = ArgumentParser(description="Draw docs/levels.svg.")
    parser.add_argument("program", type=Path, help="a file of Torch IR")
    parser.add_argument("output", help="the file to write")
    args = parser.parse_args()
    write_text(args.output, picture(lines_of(args.program)))


if __name__ == "__main__":
    main()
