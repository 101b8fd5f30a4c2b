# SPDX-License-Identifier: Apache-2.0
"""
Applications of patterns, counted and limited in one place, without a change of passes.

`limited(n)` lets only the first n applications change the IR. It replaces the method
`match_and_rewrite` of all classes of patterns for a while. An application that changes nothing does
not count; nested patterns count once.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import wraps
from inspect import getmodule
from math import inf
from typing import Any, NamedTuple

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from tilewright.dialects.origin import place_of
from tilewright.errors import shortened
from tilewright.passes.reporting.trace import Rule, TracedPattern
from tilewright.tools.blame.op_lines import lines_of

_Rewrite = Callable[[RewritePattern, Operation, PatternRewriter], None]


class Application(NamedTuple):
    """Application of a rewrite: its rule, the op that it matched, and the op's place."""

    rule: str
    site: str
    place: str = ""


@dataclass
class Applications:
    """Number of applications so far, and the one that the limit is the number of."""

    limit: float = inf
    count: int = 0
    last: Application | None = None
    _patterns: list[RewritePattern] = field(default_factory=list[RewritePattern])
    """Patterns that are being applied, from the outermost to the innermost one."""
    _lines: dict[Operation, str] = field(default_factory=dict[Operation, str])
    """First lines of the ops before the last application."""

    def apply(self, rewrite: _Rewrite, op: Operation, rewriter: PatternRewriter) -> None:
        """Apply the innermost pattern to an op, unless the limit is reached."""
        before, was_changed = self.count, rewriter.has_done_action
        if self.count >= self.limit:
            return
        is_last = self.count + 1 == self.limit
        site = (self._line_of(op), place_of(op)) if is_last else ("", "")
        rewriter.has_done_action = False
        rewrite(self._patterns[-1], op, rewriter)
        if rewriter.has_done_action and self.count == before:
            self.count += 1
            if is_last:
                self.last = Application(_rule(self._patterns), *site)
        rewriter.has_done_action |= was_changed

    def _line_of(self, op: Operation) -> str:
        """Return the first line of an op in its module, which is printed once before the limit."""
        if op not in self._lines:
            self._lines = lines_of(op)
        return shortened(self._lines[op])

    @contextmanager
    def within(self, pattern: RewritePattern) -> Generator[None]:
        """Count applications of other patterns, within the `with` block, as those of `pattern`."""
        self._patterns.append(pattern)
        try:
            yield
        finally:
            self._patterns.pop()


def _rule(patterns: list[RewritePattern]) -> str:
    """Return the rule and the class of the innermost of nested patterns."""
    kind = type(patterns[-1])
    own = getattr(kind, "RULE", getattr(getmodule(kind), "RULE", None))
    traced = [each.rule for each in patterns if isinstance(each, TracedPattern)]
    rules = traced or [rule for rule in [own] if isinstance(rule, Rule)]
    named = f"{kind.__qualname__} of {kind.__module__}"
    return f"{rules[-1]}, {named}" if rules else named


@contextmanager
def limited(limit: float = inf) -> Generator[Applications]:
    """Block all applications of patterns after the first `limit` ones, within this block."""
    counted = Applications(limit)
    originals = [(kind, vars(kind)["match_and_rewrite"]) for kind in _kinds(RewritePattern)]
    for kind, original in originals:
        setattr(kind, "match_and_rewrite", _counting(original, counted))
    try:
        yield counted
    finally:
        for kind, original in originals:
            setattr(kind, "match_and_rewrite", original)


def _kinds(base: type[RewritePattern]) -> Iterator[type[RewritePattern]]:
    """Yield the classes of patterns below `base` that have a rewrite of their own, each once."""
    found = dict.fromkeys(_below(base))
    return (kind for kind in found if "match_and_rewrite" in vars(kind))


def _below(base: type[RewritePattern]) -> Iterator[type[RewritePattern]]:
    for kind in base.__subclasses__():
        yield kind
        yield from _below(kind)


def _counting(original: Any, counted: Applications) -> Any:
    @wraps(original)
    def match_and_rewrite(self: RewritePattern, op: Operation, rewriter: PatternRewriter) -> None:
        with counted.within(self):
            counted.apply(original, op, rewriter)

    return match_and_rewrite
