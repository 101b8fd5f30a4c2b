# SPDX-License-Identifier: Apache-2.0
"""
Search within a wrong pass: the application of a rewrite after which the program is first wrong.

The pass runs again with fewer applications, and their number is bisected. Programs in between may
be impossible to run, as are those in which only some ops are lowered. Several applications remain
then.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from math import inf
from typing import NamedTuple

from xdsl.dialects.builtin import ModuleOp

from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.verification import verify_module
from tilewright.tools.blame.applications import Application, Applications, limited
from tilewright.tools.blame.comparison import Comparison
from tilewright.tools.blame.first_pass import WrongPass
from tilewright.tools.blame.reported_rewrites import rewritten

_Counting = Callable[[ModuleOp, float], AbstractContextManager[Applications]]
"""Function that limits the applications of a pass that runs over a module."""

_NEIGHBOURS = 8
"""Number of programs to try near one that cannot run."""

_SHOWN = 3
"""Most applications that are listed if bisection cannot separate them."""


class Guilty(NamedTuple):
    """First wrong application of a pass; several if programs in between cannot run."""

    first: int
    last: int
    """Numbers of the applications."""
    total: int
    applications: Sequence[Application]
    """Matches of the numbered applications; of many, the last ones."""


def guilty(found: WrongPass) -> Guilty | None:
    """Return the first wrong application of a pass; None if the pass is one walk."""
    if not _is_wrong(found, _patterns, 0) and (culprit := _guilty(found, _patterns)) is not None:
        return culprit
    return _guilty(found, rewritten)


def _patterns(module: ModuleOp, limit: float) -> AbstractContextManager[Applications]:
    return limited(limit)


def _guilty(found: WrongPass, counting: _Counting) -> Guilty | None:
    """Return the first wrong application; None if the pass is right after the last one."""
    total = _run(found, counting, inf)[1].count
    if total == 0 or not _is_wrong(found, counting, total):
        return None
    first, last = _bisected(total, lambda number: _is_wrong(found, counting, number))
    shown = range(max(first, last - _SHOWN + 1), last + 1)
    applications = [_run(found, counting, number)[1].last for number in shown]
    return Guilty(first, last, total, [each for each in applications if each is not None])


def _bisected(total: int, is_wrong: Callable[[int], bool | None]) -> tuple[int, int]:
    """Return the numbers of the first and the last application that may be the first wrong one."""
    right, wrong = 0, total
    while wrong - right > 1:
        middle = (right + wrong) // 2
        near = sorted(range(right + 1, wrong), key=lambda number: abs(number - middle))
        answers = ((number, is_wrong(number)) for number in near[:_NEIGHBOURS])
        known = next((each for each in answers if each[1] is not None), None)
        if known is None:
            break
        right, wrong = (right, known[0]) if known[1] else (known[0], wrong)
    return right + 1, wrong


def _is_wrong(found: WrongPass, counting: _Counting, limit: float) -> bool | None:
    """
    Return whether the program is wrong after so many applications, or None if it cannot run or is
    wrong in another way.
    """
    after, _ = _run(found, counting, limit)
    if after is None:
        return None
    comparison = Comparison()
    try:
        verify_module(after)
        wrong = comparison(found.before, after, found.step.name)
    except Exception:  # any: a program that is only half rewritten
        return None
    if wrong is None:
        return None if comparison.notes else False
    return True if wrong.kind == found.wrong.kind else None


def _run(
    found: WrongPass, counting: _Counting, limit: float
) -> tuple[ModuleOp | None, Applications]:
    """
    Return the module after so many applications, and their count. The module is None if the pass
    cannot end then.
    """
    module = found.before.clone()
    counted = Applications()
    try:
        with counting(module, limit) as counted:
            found.step.apply(context(), module)
    except Exception:  # any: a pass may expect that all of its patterns were applied
        return None, counted
    return module, counted
