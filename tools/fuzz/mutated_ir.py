# SPDX-License-Identifier: Apache-2.0
"""
Mutated IR in opt-tool: each mutant must end well or in a diagnostic, within limits.

A mutant counts as reached if it gets to a pass or to the printer.
"""

import os
import shlex
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from xdsl.universe import Universe

from tilewright.passes.driver.lowering import context
from tilewright.tools.fuzz.forked import Lost, forked
from tilewright.tools.fuzz.mutants import Mutant, mutant, vocabulary
from tilewright.tools.fuzz.tool_outcome import FAILURES, Outcome, escaped_with, run_opt_tool
from tilewright.universe import UNIVERSE

_SECONDS = 20.0
"""Limit of a mutant's CPU seconds."""

_BYTES = 4 << 30
"""Limit of the memory of a process."""

_NO_TEXT = Mutant("", "", ())


class Mutated(NamedTuple):
    """Mutant, by its number and the seed, with its outcome."""

    number: int
    mutant: Mutant
    outcome: Outcome

    @property
    def failure(self) -> str:
        """Kind and place of the failure; empty if the mutant succeeded or was diagnosed."""
        outcome = self.outcome
        return f"{outcome.kind}: {outcome.says}" if outcome.kind in FAILURES else ""

    def file(self) -> str:
        """Return the text of the mutant with its command line."""
        options = shlex.join(self.mutant.options)
        return f"// {self.outcome.says}\n// opt-tool %s {options}\n{self.mutant.text}"


def mutated_ir(seed: int, numbers: range, jobs: int, expressions: bool) -> Iterator[Mutated]:
    """
    Yield the mutants of a seed with these numbers, as they end in `jobs` processes. They are made
    of the tests' files and, with `expressions`, of compiled expressions.
    """
    _prepare(expressions)
    with TemporaryDirectory() as temporary:

        def call(number: int) -> tuple[Mutant, Outcome]:
            folder = Path(temporary) / str(os.getpid())
            folder.mkdir(exist_ok=True)
            try:
                each = mutant(seed, number, expressions)
            except BaseException as escaped:  # raised by the verifier
                return _NO_TEXT, escaped_with(escaped)
            return each, run_opt_tool(each.text, each.options, folder)

        for number, answer in forked(call, numbers, jobs=jobs, seconds=_SECONDS, bytes=_BYTES):
            yield Mutated(number, *_answered(answer))


def _answered(answer: Lost | tuple[Mutant, Outcome]) -> tuple[Mutant, Outcome]:
    if isinstance(answer, Lost):
        return _NO_TEXT, Outcome("lost", True, answer.reason)
    return answer


def _prepare(expressions: bool) -> None:
    """Import and build everything that all mutants need, before processes are forked."""
    Universe.get_multiverse = staticmethod(cache(Universe.get_multiverse))
    vocabulary(expressions)
    ctx = context()
    for name in sorted(ctx.registered_dialect_names):
        ctx.get_optional_dialect(name)
    for load in UNIVERSE.all_passes.values():
        load()
    import_module("tilewright.interpreters.check")
