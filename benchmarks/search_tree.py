# SPDX-License-Identifier: Apache-2.0
"""
Picture of the tree that a search for schedules has visited:

    python benchmarks/search_tree.py docs/search-tree.svg

The kernel is an RMSNorm of 512 rows, whose times the model estimates. Each node is a decision, the
best guess leftmost. A node's size shows how often the search visited it, its colour how fast the
best schedule below it is. The path to the best schedule is thick and labelled with its decisions.
"""

import argparse
from collections.abc import Iterator
from typing import Any

from searches import KERNELS, kernel_of

from tilewright.dialects.target import DEFAULT_TARGET
from tilewright.tuning.evaluators.model import model
from tilewright.tuning.search.frame import Limits, at_once, trials
from tilewright.tuning.search.mcts import Mcts
from tilewright.tuning.search.tree import Node, Visit
from tilewright.tuning.space import Space

Places = dict[Visit, tuple[float, int]]
"""Position of each visited node: from left to right, and its depth in the tree."""


def searched(text: str, budget: int) -> tuple[Visit, Node]:
    """
    Search for a schedule with `budget` evaluations; return the root of the visited tree, and the
    leaf of the best schedule.
    """
    space = Space(kernel_of(text))
    search, measure = Mcts(space.root), model(DEFAULT_TARGET)
    found = [*trials(search, at_once(lambda leaf: measure(space.kernel(leaf))), Limits(budget))]
    best = next(trial for trial in found if trial.measurement is found[-1].best)
    return search.root, best.leaf


def visited(visit: Visit) -> list[Visit]:
    """Return the children that the search visited; none for a leaf."""
    if visit.node.schedule is not None:
        return []
    return [child for child in visit.children if child.rewards.count]


def below(visit: Visit) -> Iterator[Visit]:
    """Yield all visited nodes, each before its children."""
    yield visit
    for child in visited(visit):
        yield from below(child)


def place(visit: Visit, places: Places, depth: int = 0) -> None:
    """
    Add the positions of a node and of all nodes below to `places`: leaves side by side, others
    above the middle of their children.
    """
    children = visited(visit)
    for child in children:
        place(child, places, depth + 1)
    if children:
        across = (places[children[0]][0] + places[children[-1]][0]) / 2
    else:
        across = 1 + max((x for x, _ in places.values()), default=-1)
    places[visit] = across, depth


def draw(root: Visit, best: Node, path: str) -> None:
    """Draw the tree, and write the picture to a file."""
    from matplotlib.figure import Figure

    places: Places = {}
    place(root, places)
    nodes = [*below(root)]
    on_way = {visit for leaf in nodes if leaf.node is best for visit in leaf.lineage()}
    figure = Figure(figsize=(11, 5), layout="constrained")
    axes: Any = figure.subplots()
    for visit in nodes[1:]:
        assert visit.parent is not None
        (x, y), (around, above) = places[visit], places[visit.parent]
        width = 2.4 if visit in on_way else 0.6
        color = "#b3261e" if visit in on_way else "#9a9a9a"
        axes.plot([around, x], [-above, -y], color=color, linewidth=width, zorder=1)
    dots = axes.scatter(
        [places[visit][0] for visit in nodes],
        [-places[visit][1] for visit in nodes],
        s=[14 + 6 * visit.rewards.count for visit in nodes],
        c=[visit.rewards.best / root.rewards.best for visit in nodes],
        cmap="viridis",
        edgecolors="black",
        linewidths=0.4,
        zorder=2,
    )
    for visit in (visit for visit in nodes[1:] if visit in on_way):
        at = places[visit][0], -places[visit][1]
        style: dict[str, Any] = {"fontsize": 8, "xytext": (9, 5), "textcoords": "offset points"}
        box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1}
        axes.annotate(visit.node.label, at, bbox=box, **style)
    axes.axis("off")
    colors: Any = figure
    colors.colorbar(dots, ax=axes, shrink=0.6, label="best reward below")
    figure.savefig(path, metadata={"Date": None})  # pyright: ignore[reportUnknownMemberType]


def main() -> None:
    """Search for a schedule, and draw the visited tree."""
    parser = argparse.ArgumentParser(description="Draw the tree that a search has visited.")
    parser.add_argument("path", help="picture to write: .svg or .png")
    parser.add_argument("--budget", type=int, default=80, help="number of schedules (80)")
    args = parser.parse_args()
    draw(*searched(KERNELS["rmsnorm"], args.budget), args.path)


if __name__ == "__main__":
    main()
