# SPDX-License-Identifier: Apache-2.0
"""Terms of the element that a wrong pass changes, before and after it, side by side."""

from itertools import zip_longest
from textwrap import wrap
from typing import NamedTuple

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects.kernel_like import KernelLikeOp
from tilewright.dialects.work import scalar_operations
from tilewright.errors import TilewrightError
from tilewright.interpreters.check import Programs, is_torch
from tilewright.interpreters.host import interpret_fitting
from tilewright.interpreters.random_runs import Draw
from tilewright.interpreters.term_numbers import term_numbers
from tilewright.interpreters.terms import Terms
from tilewright.interpreters.types import ElementTypes
from tilewright.tools.blame.first_pass import WrongPass

_MOST_WORK = 200_000
"""Limit of the scalar operations of a program whose terms are written."""

_WIDTH = 46
"""Characters of a column."""

_LINES = 8
"""Number of lines of a column."""


class TermPair(NamedTuple):
    """Texts of the term of an element before and after a pass, and of their only difference."""

    before: str
    after: str
    inner_before: str = ""
    """Innermost terms that are the only difference; empty if these are the whole terms."""
    inner_after: str = ""

    def lines(self) -> list[str]:
        """Return the pairs of texts in two columns."""
        lines = _columns("before", "after") + _columns(self.before, self.after)
        if self.inner_before:
            lines += ["the only difference:", *_columns(self.inner_before, self.inner_after)]
        return lines


def differing_terms(found: WrongPass, after: ModuleOp) -> TermPair | None:
    """
    Return the terms of the element that differs most before a wrong pass and `after` it; None if
    they cannot be written, or are equal.
    """
    wrong = found.wrong
    function = _function(found.before, wrong.function)
    if wrong.difference is None or function is None or is_torch(found.before):
        return None
    if scalar_operations(function) > _MOST_WORK:
        return None
    terms = Terms()
    numbers = ElementTypes(np.float64, numbers=term_numbers(terms))
    names = [value.name_hint or f"arg{at}" for at, value in enumerate(function.body.block.args)]
    types = Programs(found.before, after, found.step.name).types(wrong.function)
    try:
        inputs = terms.inputs(names[: len(types)], Draw(types, 0).inputs())
        results = [
            interpret_fitting(module, inputs, wrong.function, numbers)[wrong.difference.result]
            for module in (found.before, after)
        ]
    except TilewrightError:
        return None
    one, other = (float(result[wrong.difference.element]) for result in results)
    if one == other:
        return None
    inner = terms.differing(one, other)
    texts = terms.text(one), terms.text(other)
    if inner == (one, other):
        return TermPair(*texts)
    return TermPair(*texts, *(terms.text(each) for each in inner))


def _function(module: ModuleOp, name: str) -> func.FuncOp | KernelLikeOp | None:
    found = (op for op in module.ops if isinstance(op, func.FuncOp | KernelLikeOp))
    return next((op for op in found if op.sym_name.data == name), None)


def _columns(left: str, right: str) -> list[str]:
    """Return lines with two texts side by side; a bar marks lines that differ."""
    columns = (_wrapped(text) for text in (left, right))
    rows = zip_longest(*columns, fillvalue="")
    return [f"{a:{_WIDTH}} {'|' if a != b else ' '} {b}".rstrip() for a, b in rows]


def _wrapped(text: str) -> list[str]:
    lines = wrap(text, _WIDTH) or [""]
    return lines if len(lines) <= _LINES else [*lines[: _LINES - 1], "..."]
