# SPDX-License-Identifier: Apache-2.0
"""
Trace of passes: each rewrite with the IR before and after, and a remark with the reason for each
skip. `tools/output/trace_printer.py` prints it.

A pass wraps a change in `with rewriting(RULE, kernel): ...`. The pass calls `skipped(RULE, kernel,
why)` where it declines, and `decided(RULE, kernel, why)` where it changes a kernel after weighing
the cost. Without a listener all of these cost next to nothing. A driver that needs the trace runs
the passes inside `with listening(listener)`.
"""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple, Protocol, TypeVar

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern


class Rule(NamedTuple):
    """A rewrite's identity in traces: `t:007_stage_inputs`."""

    stage: str
    """One letter: d decompose, o tensor, l lift, f fuse, t tile, k kernel, c cuda."""
    number: int
    name: str

    def __str__(self) -> str:
        return f"{self.stage}:{self.number:03d}_{self.name}"

    @property
    def pass_name(self) -> str:
        """Name of the pass that applies the rule: `stage-inputs`."""
        return self.name.replace("_", "-")

    @property
    def schedules(self) -> bool:
        """True if the rule is a step in the schedules of kernels."""
        return self.stage == "t"


Seen = TypeVar("Seen")


class Listener(Protocol[Seen]):
    """Receiver of reports from passes; the methods that a subclass does not override do nothing."""

    def look(self, scope: Operation) -> Seen:
        """
        Return what to keep of a function, kernel or module that may change: its text, its cost.
        """
        ...

    def rewrote(self, rule: Rule, site: str, before: Seen, after: Seen) -> None:
        """
        Receive a match of `rule` in the function or kernel `site`; `look` returned `before` and
        `after`.
        """

    def matched_without_change(self, rule: Rule, site: str) -> None:
        """Receive a match of `rule` in the function or kernel `site` that changed nothing there."""

    def skipped(self, rule: Rule, site: str, reason: str) -> None:
        """Receive the reason why `rule` skipped `site`."""

    def decided(self, rule: Rule, site: str, reason: str) -> None:
        """Receive the reason why `rule` is about to change `site`."""

    def weighed(self, decision: str, fuses: bool, ratio: float) -> None:
        """
        Receive a decision about fusion (`loop.fusion`) and its outcome. `ratio` is the estimated
        time of the fused kernels relative to separate kernels, or infinity if times were not
        compared.
        """


_listener: ContextVar[Listener[Any] | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Listener[Any] | None) -> Generator[None]:
    """Send all reports of passes in this block to `listener`; None discards them."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def is_listening() -> bool:
    """True if a listener receives the reports of passes."""
    return _listener.get() is not None


@contextmanager
def rewriting(rule: Rule, site: Operation, *, whole_module: bool = False) -> Generator[None]:
    """
    Report the change that the block makes at `site`, a function, a kernel or the module. The report
    covers the whole module if `whole_module` is true.
    """
    listener = _listener.get()
    if listener is None:
        yield
        return
    scope, label = _root(site) if whole_module else site, site_name(site)
    before = listener.look(scope)
    yield
    if (after := listener.look(scope)) != before:
        listener.rewrote(rule, label, before, after)
    else:
        listener.matched_without_change(rule, label)


def skipped(rule: Rule, site: Operation, reason: str) -> None:
    """Report why `rule` skipped `site`."""
    listener = _listener.get()
    if listener is not None:
        listener.skipped(rule, site_name(site), reason)


def decided(rule: Rule, site: Operation, reason: str) -> None:
    """Report why `rule` will change `site`."""
    listener = _listener.get()
    if listener is not None:
        listener.decided(rule, site_name(site), reason)


def weighed(decision: str, fuses: bool, ratio: float) -> None:
    """Report the estimate of the cost model for a decision about fusion."""
    listener = _listener.get()
    if listener is not None:
        listener.weighed(decision, fuses, ratio)


def _root(op: Operation) -> Operation:
    while (parent := op.parent_op()) is not None:
        op = parent
    return op


def site_name(op: Operation) -> str:
    """Return the symbol of `op`, or of the function or kernel that encloses it."""
    symbol = enclosing_symbol(op)
    name = None if symbol is None else symbol.properties["sym_name"]
    return name.data if isinstance(name, StringAttr) else "module"


def enclosing_symbol(op: Operation) -> Operation | None:
    """Return the function or kernel that `op` is or that encloses it."""
    scope: Operation | None = op
    while scope is not None and "sym_name" not in scope.properties:
        scope = scope.parent_op()
    return scope


class TracedPattern(RewritePattern):
    """
    A rewrite pattern that reports each application under its rule. The pattern may change only the
    function or kernel that it matches in; one that reaches further uses `rewriting` itself.
    """

    def __init__(self, rule: Rule, pattern: RewritePattern):
        self.rule, self.pattern = rule, pattern

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Apply the pattern, and report the change if there is a listener."""
        scope = enclosing_symbol(op)
        if _listener.get() is None or scope is None:
            self.pattern.match_and_rewrite(op, rewriter)
            return
        with rewriting(self.rule, scope):
            self.pattern.match_and_rewrite(op, rewriter)
