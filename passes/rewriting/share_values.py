# SPDX-License-Identifier: Apache-2.0
"""
Eliminates common subexpressions, within a body and with the bodies around it.

    loop.for %i in 16 {
      %0 = loop.load %scale[%i] ...
      %sum = loop.reduce %k in 64 with add {
        %1 = loop.load %scale[%i] ...
        %2 = loop.load %x[%i, %k] ...
        %3 = arith.mulf %1, %2 : f32

becomes

    loop.for %i in 16 {
      %0 = loop.load %scale[%i] ...
      %sum = loop.reduce %k in 64 with add {
        %1 = loop.load %x[%i, %k] ...
        %2 = arith.mulf %0, %1 : f32

The pass replaces xDSL's `cse`, which does not compare the types of results inside loops: two loops
that differ in the type of a conversion are equal to it. Operands of commutative ops may be in
either order. A read of writable memory is shared only within one block, with no write in between.
Unused ops are erased.
"""

from collections.abc import Hashable
from functools import cache

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint
from xdsl.traits import EffectInstance, IsolatedFromAbove, IsTerminator, MemoryEffectKind

from tilewright.dialects.kernel.comment import TEXT
from tilewright.dialects.structure import structure
from tilewright.passes.facts.effects import erase_dead, is_pure, only_has, only_reads

Known = dict[Hashable, Operation]
"""
Ops that were computed before and are in scope, by structure. If several have one structure, the
last one counts.
"""


def _visit_regions(op: Operation, known: Known, rewriter: PatternRewriter) -> None:
    inside = {} if _is_isolated(type(op)) else known
    for region in op.regions:
        if len(region.blocks) == 1:
            _visit_block(region.block, inside, rewriter)


def _visit_block(block: Block, known: Known, rewriter: PatternRewriter) -> None:
    """
    Replace ops in a block, and in bodies inside it, by equal ops in `known`. Ops of the block are
    added to `known` and removed at the end.
    """
    hidden: list[tuple[Hashable, Operation | None]] = []
    for op in tuple(block.ops):
        if op.regions:
            _visit_regions(op, known, rewriter)
        if not _may_be_shared(op):
            continue
        key = structure(op)
        first = known.get(key)
        if first is not None and (is_pure(op) or _reads_the_same(first, op)):
            _replace(op, first, rewriter)
            continue
        hidden.append((key, first))
        known[key] = op
    for key, before in reversed(hidden):
        if before is None:
            del known[key]
        else:
            known[key] = before


def _may_be_shared(op: Operation) -> bool:
    if _is_terminator(type(op)) or not only_reads(op):
        return False
    return not op.regions or all(len(region.blocks) <= 1 for region in op.regions)


@cache
def _is_terminator(kind: type[Operation]) -> bool:
    return kind.has_trait(IsTerminator)


@cache
def _is_isolated(kind: type[Operation]) -> bool:
    return kind.has_trait(IsolatedFromAbove, value_if_unregistered=True)


def _replace(op: Operation, first: Operation, rewriter: PatternRewriter) -> None:
    """Replace `op` by `first`, which computes the same."""
    for old, new in zip(op.results, first.results, strict=True):
        rewriter.replace_all_uses_with(old, new)
    rewriter.erase(op)


def _reads_the_same(first: Operation, second: Operation) -> bool:
    """True if both ops are in one block, and no op between them may write."""
    if first.parent is not second.parent:
        return False
    between = first.next_op
    while between is not None and between is not second:
        if not only_has(between, _does_not_write):
            return False
        between = between.next_op
    return True


def _does_not_write(effect: EffectInstance) -> bool:
    return effect.kind is not MemoryEffectKind.WRITE or effect.resource == TEXT


def share_values(scope: Operation, rewriter: PatternRewriter) -> None:
    """Share values everywhere in a module or a kernel."""
    erase_dead(scope, rewriter)
    _visit_regions(scope, {}, rewriter)


class ShareValuesPass(ModulePass):
    """Eliminate common subexpressions, loads and reductions."""

    name = "share-values"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Share values everywhere in the module."""
        share_values(op, PatternRewriter(InsertPoint.at_end(op.body.block)))
