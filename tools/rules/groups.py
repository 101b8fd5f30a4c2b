# SPDX-License-Identifier: Apache-2.0
"""
Groups of rules that are applied together: the patterns of a pass, of `canonicalize`, or of a file.

A pass hands its patterns to xDSL's `GreedyRewritePatternApplier`. They are collected by a run of
each pass over an empty module.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import GreedyRewritePatternApplier, RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait

from tilewright.dialects import get_all_dialects
from tilewright.passes import get_all_passes
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.pipelines import expanded
from tilewright.passes.reporting.trace import TracedPattern
from tilewright.tools.rules.rule import Rule, rule_of


@dataclass(frozen=True)
class Group:
    """Rules in the order in which they are tried at an op."""

    name: str
    rules: Sequence[Rule]


def own_groups() -> Iterator[Group]:
    """Yield the groups of at least two rules in Tilewright's passes, and `canonicalize`."""
    for name, factory in get_all_passes().items():
        if len(found := _patterns_of(factory)) > 1:
            yield Group(name, [rule_of(_name(each), each) for each in found])
    yield Group("canonicalize", [*_canonicalizations()])


def _patterns_of(factory: Callable[[], type[ModulePass]]) -> list[RewritePattern]:
    """Return the patterns that a pass with its default options applies together."""
    with _collecting() as found:
        try:
            step = factory()()
            if [*expanded([step])] != [step]:
                return []  # a pipeline
            step.apply(context(), ModuleOp([]))
        except Exception:  # a pass may need options, or a program
            return []
    return found


@contextmanager
def _collecting() -> Generator[list[RewritePattern]]:
    """Collect the patterns of appliers that are constructed within the block."""
    found: list[RewritePattern] = []
    kind: Any = GreedyRewritePatternApplier
    construct = kind.__init__

    def collect(self: Any, patterns: list[RewritePattern], *args: Any, **kwargs: Any) -> None:
        found.extend(patterns)
        construct(self, patterns, *args, **kwargs)

    kind.__init__ = collect
    try:
        yield found
    finally:
        kind.__init__ = construct


def _canonicalizations() -> Iterator[Rule]:
    """Yield the canonicalization patterns of Tilewright's ops, with the ops that name them."""
    ops: dict[RewritePattern, list[type[Operation]]] = {}
    for factory in get_all_dialects().values():
        for op in factory().operations:
            for trait in op.get_traits_of_type(HasCanonicalizationPatternsTrait):
                for pattern in trait.get_patterns(op):
                    ops.setdefault(pattern, []).append(op)
    for pattern, named in ops.items():
        yield replace(rule_of(_name(pattern), pattern), roots=tuple(named))


def _name(pattern: RewritePattern) -> str:
    named = isinstance(pattern, TracedPattern)
    return pattern.rule.name if named else type(pattern).__name__
