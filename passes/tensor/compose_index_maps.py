# SPDX-License-Identifier: Apache-2.0
"""
Composes chains of index maps, so that each element is read directly from its first source.

    %a = prim.index_map %x by affine_map<(d0, d1) -> (d1, d0)> : tensor<8x4xf32> -> tensor<4x8xf32>
    %b = prim.index_map %a by affine_map<(d0) -> (d0 floordiv 8, d0 mod 8)>
        : tensor<4x8xf32> -> tensor<32xf32>

becomes, even if other ops use %a,

    %b = prim.index_map %x by affine_map<(d0) -> (d0 mod 8, d0 floordiv 8)>
        : tensor<8x4xf32> -> tensor<32xf32>

Maps of positions, predicates and constants are composed, too. A map that moves no element is
replaced by its source.
"""

from collections.abc import Callable, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects import prim
from tilewright.dialects.prim import Source
from tilewright.dialects.prim.index_map import composed, verify_subscripts_within
from tilewright.dialects.types import shape_of, tensor_type
from tilewright.passes.reporting.trace import Rule, TracedPattern


def _view(value: SSAValue) -> Source | None:
    """Return the source of an index map that reads only one source, without a mask; else None."""
    op = value.owner
    return op.only_source if isinstance(op, prim.IndexMapOp) else None


class DropIdentity(RewritePattern):
    """Pattern that drops an index map under which every element stays in its place."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.IndexMapOp, rewriter: PatternRewriter) -> None:
        """Replace the map by its source, if it moves no element."""
        if (source := op.unmoved_source()) is not None:
            rewriter.replace(op, [], [source])


class ComposeSources(RewritePattern):
    """
    Pattern that composes an index map with index maps among its sources: it reads their sources
    instead.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.IndexMapOp, rewriter: PatternRewriter) -> None:
        """Compose the sources of the outer map."""
        if 0 in shape_of(op.result) or all(_view(source.tensor) is None for source in op.sources):
            return
        sources = [_through(source, shape_of(op.result)) for source in op.sources]
        if sources != op.sources:
            rewriter.replace(op, prim.IndexMapOp(sources, shape_of(op.result), op.fill))


def _through(source: Source, shape: Sequence[int]) -> Source:
    """
    Return the source that the index map behind `source` reads. Return `source` itself if the
    composed reads cannot be proved to stay within bounds.
    """
    view = _view(source.tensor)
    if view is None:
        return source
    direct = Source(view.tensor, composed(view.map, source.map, shape), source.mask)
    return direct if _is_proved(direct, shape) else source


def _is_proved(source: Source, shape: Sequence[int]) -> bool:
    """True if reads provably stay within a source; not all valid reads are provable."""
    try:
        verify_subscripts_within(source, shape)
    except VerifyException:
        return False
    return True


Make = Callable[[Operation, AffineMap, SSAValue], Operation | None]


def _overlay(op: Operation, map: AffineMap, result: SSAValue) -> Operation | None:
    assert isinstance(op, prim.IndexMapOp)
    shape = shape_of(result)
    sources = [
        Source(s.tensor, composed(s.map, map, shape), composed(s.mask, map, shape))
        for s in op.sources
    ]
    if not all(_is_proved(source, shape) for source in sources):
        return None
    return prim.IndexMapOp(sources, shape, op.fill)


def _iota(op: Operation, map: AffineMap, result: SSAValue) -> Operation:
    assert isinstance(op, prim.IotaOp)
    return prim.IotaOp(composed(op.map.data, map, shape_of(result)), tensor_type(result))


def _predicate(op: Operation, map: AffineMap, result: SSAValue) -> Operation:
    assert isinstance(op, prim.PredicateOp)
    return prim.PredicateOp(composed(op.map.data, map, shape_of(result)), shape_of(result))


def _constant(op: Operation, map: AffineMap, result: SSAValue) -> Operation:
    assert isinstance(op, prim.ConstantOp)
    return prim.ConstantOp(op.value, tensor_type(result))


_MOVED: dict[type[Operation], Make] = {
    prim.IndexMapOp: _overlay,
    prim.IotaOp: _iota,
    prim.PredicateOp: _predicate,
    prim.ConstantOp: _constant,
}
"""Function that moves an index map into an op of each class, if possible."""


class MoveIntoSource(RewritePattern):
    """
    Pattern that moves an index map into the op that it reads: one that computes from coordinates
    alone, or an index map of several sources.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.IndexMapOp, rewriter: PatternRewriter) -> None:
        """Move the outer map into its source."""
        view = _view(op.result)
        if view is None or 0 in shape_of(op.result) or not isinstance(view.tensor.owner, Operation):
            return
        inner = view.tensor.owner
        if (make := _MOVED.get(type(inner))) is None or _view(view.tensor) is not None:
            return
        if (moved := make(inner, view.map, op.result)) is not None:
            rewriter.replace(op, moved)


class ComposeIndexMapsPass(ModulePass):
    """Compose chains of index maps."""

    name = "compose-index-maps"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Apply the patterns until none applies."""
        patterns: list[RewritePattern] = [DropIdentity(), ComposeSources(), MoveIntoSource()]
        names = ("drop_identity", "compose_sources", "move_into_source")
        traced = [
            TracedPattern(Rule("o", number, name), pattern)
            for number, (name, pattern) in enumerate(zip(names, patterns, strict=True), start=2)
        ]
        PatternRewriteWalker(GreedyRewritePatternApplier([*traced])).rewrite_module(op)
