# SPDX-License-Identifier: Apache-2.0
"""The size of a space of schedules, for people: how much there is to choose, and what is not."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.console import Console

from tilewright.tools.output.terminal import show, table
from tilewright.tools.tune.kernels import Kernel, Program
from tilewright.tuning.fusions import Fusions
from tilewright.tuning.space import Space
from tilewright.tuning.space_sizes import Question, sizes

_PROBES = 20
"""Of the ways to fuse a program; each takes as long as it takes to fuse it a few times."""

_REASONS = 3
"""Why a pass was not run, of each pass."""


def print_spaces(kernels: Iterable[Kernel], target: str, seed: int, out: Console) -> None:
    """The size of each kernel's space, and what the passes add to it."""
    for kernel in kernels:
        space = Space(kernel.op, target)
        found = sizes(space.root, seed=seed)
        out.print(kernel.name, style="bold", markup=False, end="")
        out.print(f": about {_rounded(found.schedules)} schedules", markup=False)
        _print_passes(space, found.questions, out)
        out.print()


def print_fusions(programs: Iterable[Program], target: str, seed: int, out: Console) -> None:
    """In how many ways each program can be fused, and what can be decided of the default."""
    for program in programs:
        root = Fusions(program.module, target).root
        if not (others := root.children[1:]):
            continue
        ways = sizes(root, _PROBES, seed).schedules
        out.print(program.name, style="bold", markup=False, end="")
        out.print(f": about {_rounded(ways)} ways to fuse it", markup=False)
        shown = table("than the default, with")
        for each in others:
            shown.add_row(each.label)
        show(out, shown)
        out.print()


def _rounded(count: float) -> str:
    """More than two digits nobody knows."""
    return f"{float(f'{count:.2g}'):,.0f}" if count < 1e6 else f"{count:.1e}"


def _print_passes(space: Space, questions: Sequence[Question], out: Console) -> None:
    """What each pass asks on the way to the default, and why others had no turn anywhere."""
    asked = {
        name: " ".join(f"{len(question.answers)}" for question in group)
        for name, group in groupby(questions, key=_pass_of)
    }
    shown = table("pass", "choices", "was not possible")
    for step in space.passes:
        reasons = space.reasons[step.name].most_common(_REASONS)
        why = "; ".join(f"{count} x {reason}" for reason, count in reasons)
        shown.add_row(step.name, asked.get(step.name, "-"), why)
    show(out, shown)


def _pass_of(question: Question) -> str:
    """Whose option is asked for."""
    return question.answers[0].partition(" ")[0]
