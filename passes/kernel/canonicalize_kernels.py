# SPDX-License-Identifier: Apache-2.0
"""
Computes what is known: each op's own folds and canonicalization patterns, until none applies.

    %sum = scf.for %k = %zero to %one step %one iter_args(%acc = %start) -> (f32) {
      %0 = arith.addf %acc, %v : f32
      scf.yield %0 : f32
    }

becomes

    %sum = arith.addf %start, %v : f32

It is used in the place of xDSL's `canonicalize`, which asks of each op in turn what all that it
contains does, to see whether it may go: here what nobody uses goes once after each walk. A walk
stops only at ops that have folds or patterns, which most ops of a kernel have not. Patterns of our
own ops are left to the passes that they stand in: kernels get here with canonical accesses.
"""

from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.folder import Folder
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.traits import ConstantLike, HasCanonicalizationPatternsTrait, HasFolder

from tilewright.dialects.canonicalization import CanonicalizedBy
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.passes.facts.effects import erase_dead


class _Canonicalization(RewritePattern):
    def __init__(self, ctx: Context):
        self._folder = Folder(ctx)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if _folds(op) and (folded := self._folder.try_fold(op)) is not None:
            values, constants = folded
            rewriter.replace(op, constants, values)
            return
        for pattern in _patterns_of(type(op)):
            pattern.match_and_rewrite(op, rewriter)
            if rewriter.has_done_action:
                return


def _folds(op: Operation) -> bool:
    trait = _folder_of(type(op))
    return trait is not None and trait.fold(op) is not None


@cache
def _folder_of(kind: type[Operation]) -> HasFolder | None:
    """What folds ops of that kind; not constants, which fold to themselves, for ever."""
    return None if kind.has_trait(ConstantLike) else kind.get_trait(HasFolder)


@cache
def _patterns_of(kind: type[Operation]) -> tuple[RewritePattern, ...]:
    """Patterns of xDSL's ops; subscripts and masks of our own are as they are to be."""
    if kind.get_traits_of_type(CanonicalizedBy):
        return ()
    traits = kind.get_traits_of_type(HasCanonicalizationPatternsTrait)
    return tuple(pattern for trait in traits for pattern in trait.get_patterns(kind))


@cache
def _may_change(kind: type[Operation]) -> bool:
    return _folder_of(kind) is not None or bool(_patterns_of(kind))


def _walk(scope: Operation, pattern: RewritePattern) -> bool:
    """Apply `pattern` once to each op that it may change; whether it has changed any."""
    changed = False
    for op in ops_in(scope):
        if not _may_change(type(op)) or op.parent is None:
            continue
        rewriter = PatternRewriter(op)
        pattern.match_and_rewrite(op, rewriter)
        changed |= rewriter.has_done_action
    return changed


class CanonicalizeKernelsPass(ModulePass):
    """Apply every op's folds and canonicalization patterns, and erase what nobody uses."""

    name = "canonicalize-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Everywhere in the module."""
        pattern = _Canonicalization(ctx)
        erase_dead(op)
        changed = True
        while changed:
            changed = _walk(op, pattern)
            changed |= erase_dead(op)
