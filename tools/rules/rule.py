# SPDX-License-Identifier: Apache-2.0
"""Rewrite rules: a pattern with its name, the classes of ops that it matches, and its sites."""

import inspect
import os
import sys
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from itertools import islice
from traceback import extract_tb
from types import UnionType
from typing import Any, get_args, get_origin

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from tilewright.errors import one_line
from tilewright.passes.driver.verification import InvalidOpError, verify_module
from tilewright.passes.reporting.trace import TracedPattern


class BrokenRuleError(Exception):
    """Error of a rule that is no rewrite: the text says what the rule does."""


@dataclass(frozen=True)
class Rule:
    """Rewrite pattern that is checked by itself."""

    name: str
    pattern: RewritePattern
    roots: tuple[type[Operation], ...]
    """Classes of ops that the pattern matches; empty for any class."""

    @property
    def pass_name(self) -> str:
        """Name of the pass in the pattern's file; a pass has the name of its file."""
        return type(self.pattern).__module__.rpartition(".")[2].replace("_", "-")

    def may_match(self, op: Operation) -> bool:
        """True if the pattern is tried at an op."""
        return isinstance(op, self.roots or Operation) and not isinstance(op, ModuleOp)

    def apply(self, op: Operation) -> bool:
        """
        Try the pattern once at an op; return True if it changed the IR. Raises `BrokenRuleError` if
        the pattern raises any exception, or changes the op and does not tell its rewriter.
        """
        rewriter, before = PatternRewriter(op), _state(op)
        try:
            self.pattern.match_and_rewrite(op, rewriter)
        except Exception as err:  # the rule is the user's code
            where = line_in(file_of(self.pattern), err)
            where = where and f" at {where}"
            raise BrokenRuleError(f"raises {type(err).__name__}{where}: {one_line(err)}") from err
        if not rewriter.has_done_action and _state(op) != before:
            raise BrokenRuleError(
                "changes an op without its rewriter; call rewriter.notify_op_modified(op)"
            )
        return rewriter.has_done_action

    def sites(self, module: ModuleOp) -> Iterator[int]:
        """Yield the position of each op of a module at which the pattern is tried."""
        return iter([at for at, op in enumerate(module.walk()) if self.may_match(op)])


def _state(op: Operation) -> Hashable:
    """Return what a pattern may change of an op by itself."""
    named = [*op.properties.items()], [*op.attributes.items()]
    return (*(frozenset(each) for each in named), *op.operands, *op.result_types, op.parent)


def reason_not_valid(module: ModuleOp) -> str | None:
    """Reason why the verifiers of a module refuse it, also by other exceptions, or None."""
    try:
        verify_module(module)
    except InvalidOpError as err:
        return one_line(err)
    except Exception as err:  # a verifier that expects other properties
        return f"{type(err).__name__}: {one_line(err)}"
    return None


def op_at(module: ModuleOp, site: int) -> Operation:
    """Return the op at a position in the order of `walk`."""
    return next(islice(module.walk(), site, None))


def file_of(pattern: RewritePattern) -> str:
    """Return the file in which the class of a pattern is defined; empty if there is none."""
    module = sys.modules.get(type(pattern).__module__)
    return getattr(module, "__file__", None) or ""


def line_in(file: str, err: BaseException) -> str:
    """Return the last line of a file that an exception passed, as `FILE:LINE`; empty if none."""
    full = os.path.abspath(file)
    lines = [each.lineno for each in extract_tb(err.__traceback__) if each.filename == full]
    if isinstance(err, SyntaxError) and err.filename == full:
        lines.append(err.lineno)
    return f"{_shown(full)}:{lines[-1]}" if lines else ""


def _shown(file: str) -> str:
    """Return the path of a file as users write it: relative in the working folder."""
    relative = os.path.relpath(file)
    return file if relative.startswith("..") else relative


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
