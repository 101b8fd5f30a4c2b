# SPDX-License-Identifier: Apache-2.0
"""
Drawing of `docs/architecture.svg`: packages and rooms, with an arrow to each import.

    python -m tilewright.tools.architecture docs

draws it from the rules in `docs/architecture.toml`. Arrows that follow from others are omitted.
"""

import tomllib
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

from tilewright.tools.output.output_path import write_text
from tilewright.tools.output.svg import ARROW, BOX, svg_text

Graph = Mapping[str, Sequence[str]]
"""Names that each name may import."""


def graphs(rules: Mapping[str, Graph]) -> dict[str, Graph]:
    """Return the graph of packages, and for each package that has rooms the graph of its rooms."""
    found: dict[str, Graph] = {"packages": rules["packages"]}
    for package in rules["packages"]:
        inside = {
            room: to for room, to in rules["rooms"].items() if f"{room}.".startswith(f"{package}.")
        }
        if inside:
            found[f"rooms of {package}"] = inside
    return found


def rows_of(graph: Graph) -> list[list[str]]:
    """
    Return the names of `graph` in rows from bottom to top; each name is in a row above all names
    that it imports.
    """
    row: dict[str, int] = {}
    for name in TopologicalSorter(graph).static_order():
        row[name] = max((row[other] + 1 for other in graph[name]), default=0)
    return [[name for name in graph if row[name] == n] for n in range(max(row.values()) + 1)]


def direct(graph: Graph) -> Iterator[tuple[str, str]]:
    """
    Yield the pairs (importing name, imported name) of `graph` that do not follow from two or more
    other pairs.
    """
    for name, others in graph.items():
        indirect = {far for other in others for far in _reached(graph, other)}
        yield from ((name, other) for other in others if other not in indirect)


def _reached(graph: Graph, name: str) -> set[str]:
    return {far for other in graph[name] for far in (other, *_reached(graph, other))}


def picture(rules: Mapping[str, Graph]) -> str:
    """Return the picture as SVG text: the graphs, one below the other."""
    from matplotlib.figure import Figure

    panels = {title: (graph, rows_of(graph)) for title, graph in graphs(rules).items()}
    heights = [0.75 * len(rows) + 0.3 for _, rows in panels.values()]
    figure = Figure(figsize=(11, sum(heights)), layout="constrained")
    areas: Any = figure.subplots(len(panels), height_ratios=heights)
    for axes, (title, (graph, rows)) in zip(areas, panels.items(), strict=True):
        _draw_graph(axes, title, graph, rows)
    return svg_text(figure, "rooms")


def _draw_graph(axes: Any, title: str, graph: Graph, rows: Sequence[Sequence[str]]) -> None:
    columns = max(map(len, rows))
    place = {
        name: ((n + 0.5) * columns / len(row), float(y))
        for y, row in enumerate(rows)
        for n, name in enumerate(row)
    }
    for name, (x, y) in place.items():
        axes.text(x, y, name, ha="center", va="center", fontsize=9, bbox=BOX, zorder=2)
    for name, other in direct(graph):
        axes.annotate("", xy=place[other], xytext=place[name], arrowprops=ARROW, zorder=1)
    axes.set_title(title, fontsize=10, loc="left")
    axes.set_xlim(0, columns)
    axes.set_ylim(-0.4, len(rows) - 0.6)
    axes.axis("off")


def main() -> None:
    """Write the picture to the folder that the command line names."""
    parser = ArgumentParser(description="Draw docs/architecture.svg.")
    parser.add_argument("folder", type=Path, help="the folder docs")
    folder: Path = parser.parse_args().folder
    drawn = picture(tomllib.loads((folder / "architecture.toml").read_text()))
    write_text(str(folder / "architecture.svg"), drawn)


if __name__ == "__main__":
    main()
