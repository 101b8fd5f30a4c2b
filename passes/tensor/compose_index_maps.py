# SPDX-License-Identifier: Apache-2.0
"""
Reads through index maps: each element comes straight from where it first was.

    %a = prim.index_map %x by affine_map<(d0, d1) -> (d1, d0)> : tensor<8x4xf32> -> tensor<4x8xf32>
    %b = prim.index_map %a by affine_map<(d0) -> (d0 floordiv 8, d0 mod 8)>
        : tensor<4x8xf32> -> tensor<32xf32>

becomes, whoever else uses %a,

    %b = prim.index_map %x by affine_map<(d0) -> (d0 mod 8, d0 floordiv 8)>
        : tensor<8x4xf32> -> tensor<32xf32>

So do maps of positions, predicates and constants. A map that moves nothing is its source.
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
    """Return the source of an index map that reads nothing else."""
    op = value.owner
    return op.only_source if isinstance(op, prim.IndexMapOp) else None


class DropIdentity(RewritePattern):
    """An index map under which every element stays where it is."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.IndexMapOp, rewriter: PatternRewriter) -> None:
        """Match the map."""
        if (source := op.unmoved_source()) is not None:
            rewriter.replace(op, [], [source])


class ComposeSources(RewritePattern):
    """An index map of which a source is another: that one's source is read instead."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.IndexMapOp, rewriter: PatternRewriter) -> None:
        """Match the outer map."""
        if 0 in shape_of(op.result) or all(_view(source.tensor) is None for source in op.sources):
            return
        sources = [_through(source, shape_of(op.result)) for source in op.sources]
        if sources != op.sources:
            rewriter.replace(op, prim.IndexMapOp(sources, shape_of(op.result), op.fill))


def _through(source: Source, shape: Sequence[int]) -> Source:
    """
    Return the source of `source`, unless it can no longer be proved that reads stay within it.
    """
    view = _view(source.tensor)
    if view is None:
        return source
    direct = Source(view.tensor, composed(view.map, source.map, shape), source.mask)
    return direct if _is_proved(direct, shape) else source


def _is_proved(source: Source, shape: Sequence[int]) -> bool:
    """True if reads are known to stay within a source: some do that are not."""
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
"""What takes another map into itself, where it can."""


class MoveIntoSource(RewritePattern):
    """An index map of what is computed from coordinates alone, or of several sources."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.IndexMapOp, rewriter: PatternRewriter) -> None:
        """Match the outer map."""
        view = _view(op.result)
        if view is None or 0 in shape_of(op.result) or not isinstance(view.tensor.owner, Operation):
            return
        inner = view.tensor.owner
        if (make := _MOVED.get(type(inner))) is None or _view(view.tensor) is not None:
            return
        if (moved := make(inner, view.map, op.result)) is not None:
            rewriter.replace(op, moved)


class ComposeIndexMapsPass(ModulePass):
    """Read through chains of index maps."""

    name = "compose-index-maps"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Until every map reads what is no map."""
        patterns: list[RewritePattern] = [DropIdentity(), ComposeSources(), MoveIntoSource()]
        names = ("drop_identity", "compose_sources", "move_into_source")
        traced = [
            TracedPattern(Rule("o", number, name), pattern)
            for number, (name, pattern) in enumerate(zip(names, patterns, strict=True), start=2)
        ]
        PatternRewriteWalker(GreedyRewritePatternApplier([*traced])).rewrite_module(op)
