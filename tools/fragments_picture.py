# SPDX-License-Identifier: Apache-2.0
"""
Picture of the fragments of a matrix instruction, `docs/fragments.svg`: the lane that holds each
element of A, B and D, and the number of the element in that lane.

    python -m tilewright.tools.fragments_picture docs/fragments.svg
"""

from argparse import ArgumentParser
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from xdsl.ir.affine import AffineMap

from tilewright.dialects.matrix_instruction import MatrixInstruction
from tilewright.dialects.target import WARP_SIZE
from tilewright.tools.output.output_path import write_text
from tilewright.tools.output.svg import BLUE, GRAY, svg_text

INSTRUCTION = MatrixInstruction.M16N8K16_BF16

_SHOWN_LANE = 5
"""Lane whose elements are coloured."""


class Element(NamedTuple):
    """An element of a matrix: its place, and where a warp holds it."""

    row: int
    column: int
    lane: int
    number: int

    @property
    def label(self) -> str:
        """Lane and number of the element, such as `L5.2`."""
        return f"L{self.lane}.{self.number}"


def elements_of(map: AffineMap, in_lane: int) -> Iterator[Element]:
    """Yield the elements of a matrix, of which each lane holds `in_lane`."""
    for lane, number in product(range(WARP_SIZE), range(in_lane)):
        row, column = map.eval([lane, number], [])
        yield Element(row, column, lane, number)


def picture() -> str:
    """Return the picture as SVG: A at the left, B above D, D at the right."""
    from matplotlib.figure import Figure

    sizes = INSTRUCTION.fragments
    figure = Figure(figsize=(12, 13), layout="constrained")
    axes: Any = figure.subplots(2, 2, width_ratios=(sizes.k, sizes.n))
    axes[0][0].axis("off")
    places = (
        (axes[1][0], "A", sizes.a, sizes.elements_a),
        (axes[0][1], "B", sizes.b, sizes.elements_b),
        (axes[1][1], "D", sizes.d, sizes.elements_d),
    )
    for panel, name, map, in_lane in places:
        _draw(panel, name, [*elements_of(map, in_lane)])
    return svg_text(figure, "fragments")


def _draw(panel: Any, name: str, elements: list[Element]) -> None:
    """Draw a matrix with one square for each element."""
    from matplotlib.patches import Rectangle

    rows, columns = (1 + max(element[at] for element in elements) for at in (0, 1))
    for element in elements:
        color = BLUE if element.lane == _SHOWN_LANE else "white"
        corner = element.column, element.row
        panel.add_patch(Rectangle(corner, 1, 1, facecolor=color, edgecolor=GRAY, linewidth=0.5))
        middle = element.column + 0.5, element.row + 0.5
        panel.text(*middle, element.label, ha="center", va="center", fontsize=7)
    panel.set(xlim=(0, columns), ylim=(rows, 0), aspect="equal", xticks=[], yticks=[])
    panel.set_title(f"{name}: {rows} rows, {columns} columns", fontsize=9)


def main() -> None:
    """Write the picture to the path that the command line gives."""
    parser = ArgumentParser(description="Draw docs/fragments.svg.")
    parser.add_argument("output", type=Path)
    write_text(parser.parse_args().output, picture())


if __name__ == "__main__":
    main()
