# SPDX-License-Identifier: Apache-2.0
"""
What passes report while they work: each rewrite with the text before and after, and each reason
for leaving something alone.

A pass says `with rewriting(RULE, kernel): ...` around a change and `skipped(RULE, kernel, why)`
where it declines. Nobody listens by default, and then both cost next to nothing; a driver that
wants to know runs the passes inside `with listening(listener)`.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, Protocol

from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.traits import SymbolOpInterface


class Rule(NamedTuple):
    """A rewrite's identity in traces: `t:007_stage_inputs`."""

    stage: str
    """One letter: d decompose, o tensor, l lift, f fuse, t tile, k kernel, c cuda."""
    number: int
    name: str

    def __str__(self) -> str:
        return f"{self.stage}:{self.number:03d}_{self.name}"


class Listener(Protocol):
    """Hears what passes do."""

    def rewrote(self, rule: Rule, site: str, before: str, after: str) -> None:
        """`rule` changed the function or kernel called `site`; the texts are the whole of it."""

    def skipped(self, rule: Rule, site: str, reason: str) -> None:
        """`rule` left `site` alone."""


_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener) -> Generator[None]:
    """Tell `listener` of everything that passes do in this block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def rewriting(rule: Rule, site: Operation, name: str | None = None) -> Generator[None]:
    """Report the change that the block makes to `site`, a function, a kernel or the module."""
    listener = _listener.get()
    if listener is None:
        yield
        return
    before, label = str(site), name or site_name(site)
    yield
    if (after := str(site)) != before:
        listener.rewrote(rule, label, before, after)


def skipped(rule: Rule, site: Operation, reason: str) -> None:
    """Report why `rule` left `site` alone."""
    listener = _listener.get()
    if listener is not None:
        listener.skipped(rule, site_name(site), reason)


def site_name(op: Operation) -> str:
    """The symbol of `op`, or of what encloses it."""
    symbol = enclosing_symbol(op)
    return "module" if symbol is None else symbol.properties["sym_name"].data  # pyright: ignore


def enclosing_symbol(op: Operation) -> Operation | None:
    """The function or kernel that `op` is or stands in."""
    scope: Operation | None = op
    while scope is not None and not scope.has_trait(SymbolOpInterface, value_if_unregistered=False):
        scope = scope.parent_op()
    return scope


class TracedPattern(RewritePattern):
    """A rewrite pattern whose every application is reported under its rule."""

    def __init__(self, rule: Rule, pattern: RewritePattern):
        self.rule, self.pattern = rule, pattern

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Apply the pattern, and report it if someone listens."""
        scope = enclosing_symbol(op)
        if _listener.get() is None or scope is None:
            self.pattern.match_and_rewrite(op, rewriter)
            return
        with rewriting(self.rule, scope):
            self.pattern.match_and_rewrite(op, rewriter)
