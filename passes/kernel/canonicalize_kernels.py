# SPDX-License-Identifier: Apache-2.0
"""
Applies each op's own folds and canonicalization patterns, until none applies.

    %sum = scf.for %k = %zero to %one step %one iter_args(%acc = %start) -> (f32) {
      %0 = arith.addf %acc, %v : f32
      scf.yield %0 : f32
    }

becomes

    %sum = arith.addf %start, %v : f32

This pass replaces xDSL's `canonicalize`, which checks for each op in turn whether it is dead, by
the effects of all ops inside it. In this pass dead ops are erased once, after each walk. A walk
visits only ops that have folds or patterns; most ops of a kernel have neither. Patterns of
Tilewright's own ops are left to their own passes: earlier passes have made all accesses canonical.
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
    """
    Return the folding trait of an op class, or None; constants are excluded because they fold to
    themselves, endlessly.
    """
    return None if kind.has_trait(ConstantLike) else kind.get_trait(HasFolder)


@cache
def _patterns_of(kind: type[Operation]) -> tuple[RewritePattern, ...]:
    """
    Return the canonicalization patterns of an op class of xDSL. Classes of Tilewright have none
    here, because earlier passes have made their subscripts and masks canonical.
    """
    if kind.get_traits_of_type(CanonicalizedBy):
        return ()
    traits = kind.get_traits_of_type(HasCanonicalizationPatternsTrait)
    return tuple(pattern for trait in traits for pattern in trait.get_patterns(kind))


@cache
def _may_change(kind: type[Operation]) -> bool:
    return _folder_of(kind) is not None or bool(_patterns_of(kind))


def _walk(scope: Operation, pattern: RewritePattern) -> bool:
    """Apply `pattern` once to each op that it may change; return True if it changed any op."""
    changed = False
    for op in ops_in(scope):
        if not _may_change(type(op)) or op.parent is None:
            continue
        rewriter = PatternRewriter(op)
        pattern.match_and_rewrite(op, rewriter)
        changed |= rewriter.has_done_action
    return changed


class CanonicalizeKernelsPass(ModulePass):
    """Apply each op's folds and canonicalization patterns, and erase unused ops."""

    name = "canonicalize-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Canonicalize all ops of the module."""
        pattern = _Canonicalization(ctx)
        erase_dead(op)
        changed = True
        while changed:
            changed = _walk(op, pattern)
            changed |= erase_dead(op)
