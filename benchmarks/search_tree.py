# SPDX-License-Identifier: Apache-2.0
"""
Draws what tree search has looked at:

    python benchmarks/search_tree.py docs/search-tree.svg

The kernel is an RMSNorm of 512 rows, measured by the model of time. Each node is a decision, the
best guess leftmost; the size says how often the search went there, the colour how fast the best
schedule below is. The way to the best schedule is thick, and what is decided on it is written down.
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
"""From left to right, and how many decisions were made."""


def searched(text: str, budget: int) -> tuple[Visit, Node]:
    """Return the root of what was visited, and the best leaf."""
    space = Space(kernel_of(text))
    search, measure = Mcts(space.root), model(DEFAULT_TARGET)
    found = [*trials(search, at_once(lambda leaf: measure(space.kernel(leaf))), Limits(budget))]
    best = next(trial for trial in found if trial.measurement is found[-1].best)
    return search.root, best.leaf


def visited(visit: Visit) -> list[Visit]:
    """
    Return the children that the search went to; none of a leaf, of which nobody asked for children.
    """
    if visit.node.schedule is not None:
        return []
    return [child for child in visit.children if child.rewards.count]


def below(visit: Visit) -> Iterator[Visit]:
    """Yield all that was visited, a node before its children."""
    yield visit
    for child in visited(visit):
        yield from below(child)


def place(visit: Visit, places: Places, depth: int = 0) -> None:
    """Leaves side by side, each node over the middle of its children."""
    children = visited(visit)
    for child in children:
        place(child, places, depth + 1)
    if children:
        across = (places[children[0]][0] + places[children[-1]][0]) / 2
    else:
        across = 1 + max((x for x, _ in places.values()), default=-1)
    places[visit] = across, depth


def draw(root: Visit, best: Node, path: str) -> None:
    """One figure."""
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
    """Search, and draw."""
    parser = argparse.ArgumentParser(description="Draws what tree search has looked at.")
    parser.add_argument("path", help="an .svg or .png")
    parser.add_argument("--budget", type=int, default=80, help="schedules that are measured")
    args = parser.parse_args()
    draw(*searched(KERNELS["rmsnorm"], args.budget), args.path)


if __name__ == "__main__":
    main()
