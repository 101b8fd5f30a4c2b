# SPDX-License-Identifier: Apache-2.0
"""Rewrite rules: a pattern with its name, the classes of ops that it matches, and its sites."""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from types import UnionType
from typing import Any, get_args, get_origin

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from tilewright.passes.reporting.trace import TracedPattern


@dataclass(frozen=True)
class Rule:
    """Rewrite pattern that is checked by itself."""

    name: str
    pattern: RewritePattern
    roots: tuple[type[Operation], ...]
    """Classes of ops that the pattern matches; empty for any class."""

    def may_match(self, op: Operation) -> bool:
        """True if the pattern is tried at an op."""
        return isinstance(op, self.roots or Operation) and not isinstance(op, ModuleOp)

    def apply(self, op: Operation) -> bool:
        """Try the pattern once at an op; return True if it changed the IR."""
        rewriter = PatternRewriter(op)
        self.pattern.match_and_rewrite(op, rewriter)
        return rewriter.has_done_action

    def sites(self, module: ModuleOp) -> Iterator[int]:
        """Yield the position of each op of a module at which the pattern is tried."""
        return iter([at for at, op in enumerate(module.walk()) if self.may_match(op)])


def op_at(module: ModuleOp, site: int) -> Operation:
    """Return the op at a position in the order of `walk`."""
    return next(islice(module.walk(), site, None))


def rule_of(name: str, pattern: RewritePattern) -> Rule:
    """Return the rule of a pattern, whose ops are those of its annotation."""
    pattern = pattern.pattern if isinstance(pattern, TracedPattern) else pattern
    return Rule(name, pattern, _roots(pattern))


def _roots(pattern: RewritePattern) -> tuple[type[Operation], ...]:
    method: Any = type(pattern).match_and_rewrite
    closed = inspect.getclosurevars(method).nonlocals
    annotated = closed.get("expected_type") or _annotation(method)
    types = get_args(annotated) if get_origin(annotated) is not None else (annotated,)
    types = get_args(annotated) if isinstance(annotated, UnionType) else types
    found = [each for each in types if isinstance(each, type) and issubclass(each, Operation)]
    return () if Operation in found else tuple(found)


def _annotation(method: Any) -> Any:
    """Return the type of the op that an undecorated method takes, if it can be evaluated."""
    try:
        parameters = [*inspect.signature(method, eval_str=True).parameters.values()]
    except NameError:
        return Operation
    return parameters[1].annotation if len(parameters) > 1 else Operation
