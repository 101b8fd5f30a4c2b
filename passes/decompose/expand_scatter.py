# SPDX-License-Identifier: Apache-2.0
"""
Expands a scatter into gathers and reductions: every element of the result searches for the updates
that go to it.

    %r = prim.scatter %u to %x[%i] with add by affine_map<(d0, d1)[s0] -> (s0, d1)>
        : (tensor<3x8xf32>, tensor<5x8xf32>, tensor<3x8xi64>) -> tensor<5x8xf32>

becomes, if the index map that defines `%i` repeats `%k : tensor<3xi64>` along d1,

    %valid = prim.gather (0, 1, 2, 3, 4)[%k] : tensor<3x1xi64>
    %hit = prim.elementwise eq(%valid of (row, update), row) : tensor<5x8x3xi1>
    %joins = prim.elementwise select(%hit, %u of (column, update), 0) : tensor<5x8x3xf32>
    %sum = prim.reduce add(%joins) dims [2] : tensor<5x8xf32>
    %r = prim.elementwise add(%x, %sum) : tensor<5x8xf32>

An axis whose subscript is a dimension of the updates is identified with that dimension. Along other
axes, each element compares its coordinate with the subscripts of all updates that remain. The
gather does not change valid subscripts; it makes invalid ones an error.

Without a combiner the last update wins. The largest position that hits is searched first, and only
along axes where subscripts differ. Then one update is read.

No element is written twice, so the result does not depend on an order. The price is a search. A
scatter of U updates for each of C columns to B rows takes `B * U * C` steps with a combiner, and `B
* U + B * C` without. Atomics would be cheaper if all rows search all updates, as in a histogram of
many bins. Short lists of updates cost no more than the copy of the base, for example one position
of a key-value cache (U = 1).
"""

from collections.abc import Mapping, Sequence
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap, AffineSymExpr
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from tilewright.dialects import prim
from tilewright.dialects.element_types import compute_type
from tilewright.dialects.index import delinearize
from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.dialects.prim import ScalarFunction, Source
from tilewright.dialects.types import element_of, shape_of
from tilewright.passes.decompose.elementwise import elementwise
from tilewright.passes.decompose.subscripts import gather
from tilewright.passes.decompose.tensor import Emitter, Tensor
from tilewright.passes.decompose.view import Shape
from tilewright.passes.reporting.trace import Rule, TracedPattern

RULE = Rule("o", 1, "expand_scatter")

_JOINED_BY: Mapping[Monoid, ScalarFunction] = {
    Monoid.ADD: ScalarFunction.ADD,
    Monoid.MUL: ScalarFunction.MUL,
    Monoid.MAX: ScalarFunction.MAXIMUM,
    Monoid.MIN: ScalarFunction.MINIMUM,
    Monoid.AND: ScalarFunction.AND,
    Monoid.OR: ScalarFunction.OR,
}

_ZERO = AffineConstantExpr(0)


class ExpandScatter(RewritePattern):
    """Pattern that replaces a scatter by a search for each element of its result."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: prim.ScatterOp, rewriter: PatternRewriter) -> None:
        """Expand any scatter; a scatter without updates becomes its base."""
        if 0 in shape_of(op.updates):
            rewriter.replace(op, [], [op.base])
            return
        search = _Search(op)
        result = search.replaced() if op.combiner is None else search.joined(op.combiner)
        value = search.within_base(result).value
        rewriter.replace(op, search.emit.ops, [value])


class _Search:
    """
    Search for the updates of a scatter, from the coordinates of its result. Some dimensions of the
    updates are axes of the result. The others have to be searched, and are combined into one
    dimension.
    """

    def __init__(self, op: prim.ScatterOp):
        self.op = op
        self.emit = Emitter(op, compute_type(element_of(op.base)))
        self.updates = self.emit(op.updates)
        self.sizes = self.updates.shape
        self.axis_of = _axes_of_dims(op.map.data)
        self.left = [dim for dim in range(self.updates.rank) if dim not in self.axis_of]
        self.count = prod(self.sizes[dim] for dim in self.left)
        self.shape = _reached(shape_of(op.base), self.axis_of, self.sizes)

    @property
    def base(self) -> Tensor:
        """Part of the base that updates can reach."""
        axes = [AffineDimExpr(axis) for axis in range(len(self.shape))]
        return self.emit(self.op.base).view(axes, self.shape)

    def joined(self, combiner: MonoidAttr) -> Tensor:
        """
        Return the base, with each element combined by `combiner` with all updates that hit it.
        """
        axes = range(len(self.shape))
        updates = self.seen(self.updates, axes)
        (identity,) = combiner.identities([updates.element])
        hit, nothing = self.hit(axes), identity.value.data
        joins = updates if hit is None else hit.where(updates, nothing)
        total = joins.reduce(combiner.data, [len(self.shape)])
        return elementwise(_JOINED_BY[combiner.data], self.base, total)

    def replaced(self) -> Tensor:
        """Return the last update that hits each element, or the base if none does."""
        axes, owned = self.searched_axes(), sorted(self.axis_of.values())
        shape = (*(self.shape[axis] for axis in axes), self.count)
        position, hit = self.emit.iota(shape, len(axes)), self.hit(axes)
        if hit is not None and self.count == 1:
            update = self.alone(self.seen(self.updates, owned), owned)
            return self.alone(hit, axes).where(update, self.base)
        found = position if hit is None else hit.where(position, -1)
        last = found.reduce(Monoid.MAX, [len(axes)])
        last = last.view([AffineDimExpr(axis) for axis in axes], self.shape)

        updates = self.seen(self.updates, owned)
        subscripts = [*map(AffineDimExpr, owned), last.maximum(0)]
        return (last >= 0).where(gather(updates, subscripts, self.shape), self.base)

    def alone(self, tensor: Tensor, axes: Sequence[int]) -> Tensor:
        """
        Return a view of `tensor` in the shape of the result, with `axes` as its coordinates. Its
        last dimension, the searched updates, must have size 1.
        """
        return tensor.view([*map(AffineDimExpr, axes), _ZERO], self.shape)

    def within_base(self, result: Tensor) -> Tensor:
        """Return `result` where updates can reach, and the base elsewhere."""
        stored, base = result.cast(element_of(self.op.base)), self.emit.stored(self.op.base)
        if stored.shape == base.shape:
            return stored
        axes = [AffineDimExpr(axis) for axis in range(base.rank)]
        sizes = zip(axes, stored.shape, base.shape)
        bounds = [axis * -1 + (reached - 1) for axis, reached, size in sizes if reached < size]
        mask = AffineMap(base.rank, 0, tuple(bounds))
        within = Source(stored.value, AffineMap.identity(base.rank), mask)
        rest = Source.always(base.value, AffineMap.identity(base.rank))
        return self.emit.result(prim.IndexMapOp([within, rest], base.shape))

    def searched_axes(self) -> list[int]:
        """Return the axes of the result along which different updates may hit."""
        compared = {a for a, e in enumerate(self.op.map.data.results) if self.is_compared(a, e)}
        exprs = (self.op.map.data.results[axis] for axis in compared)
        dims = {dim for expr in exprs for dim in self.dims_of(expr)}
        return sorted(compared | {a for dim, a in self.axis_of.items() if dim in dims})

    def is_compared(self, axis: int, subscript: AffineExpr) -> bool:
        """
        True if the subscript of an axis must be compared: it is not the axis's own dimension of the
        updates.
        """
        match subscript:
            case AffineDimExpr(position=dim):
                return self.axis_of[dim] != axis
            case _:
                return True

    def dims_of(self, subscript: AffineExpr) -> set[int]:
        """Return the dimensions of the updates on which a subscript depends."""
        if not isinstance(subscript, AffineSymExpr):
            return {e.position for e in subscript.dfs() if isinstance(e, AffineDimExpr)}
        return _dims_of_index(self.op.indices[subscript.position])

    def hit(self, axes: Sequence[int]) -> Tensor | None:
        """
        Return bools over the coordinates `axes` and all updates that are true where an update hits;
        None if all updates hit.
        """
        shape = (*(self.shape[axis] for axis in axes), self.count)
        hits: Tensor | None = None
        for axis, subscript in enumerate(self.op.map.data.results):
            if not self.is_compared(axis, subscript):
                continue
            value = self.subscript(axis, subscript, axes)
            here = value.equals(self.emit.iota(shape, axes.index(axis), value.element))
            hits = here if hits is None else hits & here
        return hits

    def subscript(self, axis: int, subscript: AffineExpr, axes: Sequence[int]) -> Tensor:
        """
        Return the subscript of each update along `axis`, over the coordinates `axes`. Running it is
        an error if a subscript is invalid.
        """
        shape = (*(self.shape[a] for a in axes), self.count)
        if not isinstance(subscript, AffineSymExpr):
            expr = subscript.replace_dims_and_symbols(self.coordinates(axes), ())
            return self.emit.positions(expr, shape)
        index = self.emit.stored(self.op.indices[subscript.position])
        dims = self.dims_of(subscript)
        kept = [AffineDimExpr(d) if d in dims else _ZERO for d in range(index.rank)]
        sizes = tuple(size if d in dims else 1 for d, size in enumerate(index.shape))
        numbers = self.emit.iota((shape_of(self.op.base)[axis],), 0, index.element)
        valid = gather(numbers, [index.view(kept, sizes)], sizes)
        seen = self.coordinates(axes)
        return valid.view([seen[d] if d in dims else _ZERO for d in range(index.rank)], shape)

    def seen(self, tensor: Tensor, axes: Sequence[int]) -> Tensor:
        """
        Return a tensor of the updates' shape, over the coordinates `axes` and the search position.
        """
        return tensor.view(
            self.coordinates(axes), (*(self.shape[axis] for axis in axes), self.count)
        )

    def coordinates(self, axes: Sequence[int]) -> list[AffineExpr]:
        """
        Return each dimension of the updates as an expression of the coordinates `axes` and, last,
        the search position. A dimension that is another axis is 0, because nothing varies along it.
        """
        sizes = [self.sizes[dim] for dim in self.left]
        left = dict(zip(self.left, delinearize(AffineDimExpr(len(axes)), sizes), strict=True))
        return [
            AffineDimExpr(axes.index(axis))
            if (axis := self.axis_of.get(dim)) in axes and axis is not None
            else left.get(dim, _ZERO)
            for dim in range(len(self.sizes))
        ]


def _axes_of_dims(map: AffineMap) -> dict[int, int]:
    """Return the axis for each dimension of the updates that is the whole subscript of an axis."""
    axes: dict[int, int] = {}
    for axis, subscript in enumerate(map.results):
        if isinstance(subscript, AffineDimExpr):
            axes.setdefault(subscript.position, axis)
    return axes


def _reached(base: Shape, axis_of: Mapping[int, int], sizes: Shape) -> Shape:
    """Return the sizes that updates can reach along each axis of the base."""
    owners = {axis: dim for dim, axis in axis_of.items()}
    return tuple(sizes[owners[a]] if a in owners else size for a, size in enumerate(base))


def _dims_of_index(index: SSAValue) -> set[int]:
    """Return the dimensions on which a tensor of subscripts depends."""
    match index.owner:
        case prim.IndexMapOp(sources=[Source(map=map, mask=mask)]) if not mask.results:
            used = {e for result in map.results for e in result.dfs()}
            return {e.position for e in used if isinstance(e, AffineDimExpr)}
        case _:
            return {*range(len(shape_of(index)))}


class ExpandScatterPass(ModulePass):
    """Expand every scatter into gathers and reductions."""

    name = "expand-scatter"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Expand all scatters of the module."""
        pattern = TracedPattern(RULE, ExpandScatter())
        PatternRewriteWalker(pattern, apply_recursively=False).rewrite_module(op)
