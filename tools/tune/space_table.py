# SPDX-License-Identifier: Apache-2.0
"""Output of `tune --space`: the size of the space of schedules, and the choices of each pass."""

from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.console import Console

from tilewright.tools.output.terminal import show, table
from tilewright.tools.tune.kernels import Kernel, Program
from tilewright.tuning.fusions import Fusions
from tilewright.tuning.space import Space
from tilewright.tuning.space_sizes import Question, sizes

_PROBES = 20
"""Number of random fusions that the estimated number of fusions is based on."""

_REASONS = 3
"""Maximum number of skip reasons in the output for each pass."""


def print_spaces(kernels: Iterable[Kernel], target: str, seed: int, out: Console) -> None:
    """Print the number of schedules of each kernel, and the choices of each pass."""
    for kernel in kernels:
        space = Space(kernel.op, target)
        found = sizes(space.root, seed=seed)
        out.print(kernel.name, style="bold", markup=False, end="")
        out.print(f": about {_rounded(found.schedules)} schedules", markup=False)
        _print_passes(space, found.questions, out)
        out.print()


def print_fusions(programs: Iterable[Program], target: str, seed: int, out: Console) -> None:
    """
    Print about how many ways there are to fuse each program, and the alternatives to the first
    decision of the default.
    """
    for program in programs:
        root = Fusions(program.module, target).root
        if not (others := root.children[1:]):
            continue
        ways = sizes(root, _PROBES, seed).schedules
        out.print(program.name, style="bold", markup=False, end="")
        out.print(f": about {_rounded(ways)} ways to fuse it", markup=False)
        shown = table("changes to the default")
        for each in others:
            shown.add_row(each.label)
        show(out, shown)
        out.print()


def _rounded(count: float) -> str:
    """Return the number as text with two significant digits: it is an estimate."""
    return f"{float(f'{count:.2g}'):,.0f}" if count < 1e6 else f"{count:.1e}"


def _print_passes(space: Space, questions: Sequence[Question], out: Console) -> None:
    """
    Print a line for each pass: the numbers of answers to its questions on the way to the default,
    and its most frequent skip reasons.
    """
    asked = {
        name: " ".join(f"{len(question.answers)}" for question in group)
        for name, group in groupby(questions, key=_pass_of)
    }
    shown = table("pass", "choices", "skip reasons")
    for step in space.passes:
        reasons = space.reasons[step.name].most_common(_REASONS)
        why = "; ".join(f"{count} x {reason}" for reason, count in reasons)
        shown.add_row(step.name, asked.get(step.name, "-"), why)
    show(out, shown)


def _pass_of(question: Question) -> str:
    """Return the name of the pass whose option the question asks for."""
    return question.answers[0].partition(" ")[0]
