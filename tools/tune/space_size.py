# SPDX-License-Identifier: Apache-2.0
"""
How many schedules there are, without looking at them all.

A random way from the root to a leaf, on which there were a, b, c, ... choices, stands for a b c ...
leaves, or for none if it ends where nothing is legal. Their mean over many ways is the number of
leaves, as far as chance will have it.

Reference: D. Knuth, "Estimating the Efficiency of Backtrack Programs", Math. Comp. 29, 1975.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from rich.console import Console

from tilewright.tools.terminal import show, table
from tilewright.tools.tune.kernels import Kernel
from tilewright.tuning.aspects import LEFT_OUT
from tilewright.tuning.space import Node, Space

WAYS = 100

_REASONS = 3
"""Why passes had nothing to do, of each pass."""


@dataclass
class Size:
    """What ways through a space have met."""

    ways: int = 0
    leaves: float = 0.0
    """All together stand for these."""
    choices: Mapping[str, list[int]] = field(
        default_factory=lambda: defaultdict[str, list[int]](list)
    )
    """Of each pass: in how many ways it could be done, each time that it was its turn."""

    @property
    def schedules(self) -> float:
        """An estimate."""
        return self.leaves / self.ways if self.ways else 0.0


def size_of(space: Space, seed: int, ways: int = WAYS) -> Size:
    """By so many random ways."""
    random, size = Random(seed), Size()
    for _ in range(ways):
        _go(space.root, random, size)
    return size


def _go(root: Node, random: Random, size: Size) -> None:
    """One way from the root on."""
    node, leaves = root, 1
    asked: dict[str, int] = {}
    while children := node.children:
        name = _pass_of(children)
        asked[name] = asked.get(name, 1) * len(children)
        leaves *= len(children)
        node = random.choice(children)
    size.ways += 1
    size.leaves += leaves if node.schedule is not None else 0
    for name, choices in asked.items():
        size.choices[name].append(choices)


def _pass_of(children: Sequence[Node]) -> str:
    """Whose options are asked for."""
    label = next(child.label for child in children if child.label != LEFT_OUT)
    return label.partition(" ")[0]


def print_spaces(kernels: Sequence[Kernel], target: str, seed: int, out: Console) -> None:
    """The size of each kernel's space, and what the passes add to it."""
    for kernel in kernels:
        space = Space(kernel.op, target)
        size = size_of(space, seed)
        out.print(kernel.name, style="bold", markup=False, end="")
        about = _rounded(size.schedules)
        out.print(f": about {about} schedules, by {size.ways} random ways", markup=False)
        _print_passes(space, size, out)
        out.print()


def _rounded(count: float) -> str:
    """Two digits are more than is known."""
    return f"{float(f'{count:.2g}'):,.0f}" if count < 1e6 else f"{count:.1e}"


def _print_passes(space: Space, size: Size, out: Console) -> None:
    shown = table("pass", "ways", "choices", "was not possible", numbers=("ways", "choices"))
    for step in space.passes:
        met = size.choices.get(step.name, [])
        reasons = space.reasons[step.name].most_common(_REASONS)
        why = "; ".join(f"{count} x {reason}" for reason, count in reasons)
        mean = f"{sum(met) / len(met):.1f}" if met else "-"
        shown.add_row(step.name, f"{len(met)}", mean, why)
    show(out, shown)
