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
contains does, to see whether it may go: here what nobody uses goes once after each walk.
"""

from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.folder import Folder
from xdsl.ir import Operation, Region
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriterListener,
    PatternRewriteWalker,
    RewritePattern,
)
from xdsl.traits import ConstantLike, HasCanonicalizationPatternsTrait, HasFolder

from tilewright.passes.effects import erase_dead


class _Canonicalization(RewritePattern):
    def __init__(self, ctx: Context):
        self._folder = Folder(ctx)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if _folds(type(op)) and (folded := self._folder.try_fold(op)) is not None:
            values, constants = folded
            rewriter.replace(op, constants, values)
            return
        for pattern in _patterns_of(type(op)):
            pattern.match_and_rewrite(op, rewriter)
            if rewriter.has_done_action:
                return


@cache
def _folds(kind: type[Operation]) -> bool:
    """Not constants: they fold to themselves, for ever."""
    return kind.has_trait(HasFolder) and not kind.has_trait(ConstantLike)


@cache
def _patterns_of(kind: type[Operation]) -> tuple[RewritePattern, ...]:
    traits = kind.get_traits_of_type(HasCanonicalizationPatternsTrait)
    return tuple(pattern for trait in traits for pattern in trait.get_patterns(kind))


def _erase_dead(region: Region, listener: PatternRewriterListener) -> bool:
    return erase_dead(region)


class CanonicalizeKernelsPass(ModulePass):
    """Apply every op's folds and canonicalization patterns, and erase what nobody uses."""

    name = "canonicalize-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Everywhere in the module."""
        erase_dead(op)
        walker = PatternRewriteWalker(_Canonicalization(ctx), post_walk_func=_erase_dead)
        walker.rewrite_module(op)
