# SPDX-License-Identifier: Apache-2.0
"""
Bounds of reductions that are the same for all threads of a block, which meet at barriers inside.

    loop.reduce %ko in 7 below [(%bm * 32 + %tm) floordiv 16 + 1] with max { ... }

becomes, with `%tm` one of 32 threads,

    loop.reduce %ko in 7 below [%bm * 2 + 2] with max { ... }

The bound is that of the thread that goes furthest. What the others do beyond their own must not
count: often the mask of what is yielded says so already, else it is made to.
"""

from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
)

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Access, canonical_access, range_of_value
from tilewright.dialects.index import Range, Ranges, Sum, range_of_sum, sum_of
from tilewright.dialects.tile_axes import Level
from tilewright.passes.kernel.chunks import chunk_of
from tilewright.passes.substitution import conjunction

Expr = tuple[AffineExpr, Sequence[SSAValue]]
"""An affine expression and the values of its dimensions."""


def make_bounds_uniform(launch: tile.LaunchOp) -> None:
    """Each bound that differs between the threads of a block becomes the largest of theirs."""
    inside = {axis.value for axis in launch.bound_axes() if axis.level is not Level.BLOCK}
    for op in [op for op in launch.walk() if isinstance(op, loop.ReduceOp)]:
        if any(operand in inside for operand in op.bound_operands):
            _make_uniform(op, inside)


def _make_uniform(op: loop.ReduceOp, inside: Container[SSAValue]) -> None:
    assert op.bound is not None
    operands = [*op.bound_operands]
    ranges = [range_of_value(operand) for operand in operands]
    largest = _Largest([operand in inside for operand in operands], ranges)
    bounds = op.bound.data.results
    counted = [bound for bound in bounds if not _is_masked_beyond(op, (bound, operands))]
    if counted:
        axis = AffineExpr.dimension(len(operands))
        _mask(op, ([bound - 1 - axis for bound in counted], [*operands, op.axis]))
    map, uniform = canonical_access([largest.of(sum_of(b)).expr() for b in bounds], operands)
    op.bound, op.operands = AffineMapAttr(map), uniform


class _Largest(NamedTuple):
    """The largest values that expressions have in a block."""

    varies: Sequence[bool]
    """Which dimensions differ between its threads."""
    ranges: Ranges

    def of(self, value: Sum, *, smallest: bool = False) -> Sum:
        """An upper bound of `value`, or a lower one, that no thread decides."""
        found = Sum({}, value.constant)
        for atom, factor in value.terms.items():
            found += self._of_atom(atom, smallest=(factor > 0) is smallest) * factor
        return found

    def _of_atom(self, atom: AffineExpr, *, smallest: bool) -> Sum:
        dims = [dim.position for dim in atom.dfs() if isinstance(dim, AffineDimExpr)]
        if not any(self.varies[dim] for dim in dims):
            return Sum({atom: 1})
        match atom:
            case AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, inner, AffineConstantExpr(d)):
                return sum_of(self.of(sum_of(inner), smallest=smallest).expr() // d, self.ranges)
            case _:
                known = range_of_sum(Sum({atom: 1}), self.ranges)
                assert known is not None, "axes have ranges"
                return Sum({}, known.low if smallest else known.high)


def _mask(op: loop.ReduceOp, mask: Access) -> None:
    """What is yielded where the mask fails does not count."""
    old = op.yield_op
    masks = [mask]
    if old.mask is not None:
        masks.append((old.mask.data.results, old.mask_operands))
    new = loop.YieldOp([*old.values], conjunction(masks))
    new.location = old.location
    op.body.block.insert_op_before(new, old)
    old.detach()
    old.erase()


def _is_masked_beyond(op: loop.ReduceOp, bound: Expr) -> bool:
    """Whether it is masked off, in the chunks that it yields perhaps, from `bound` on."""
    return any(_fails_from(op.axis, bound, mask) for mask in _masks(op))


def _masks(op: loop.ReduceOp) -> Iterator[Expr]:
    """Each condition for the identity not to be all that a step adds."""
    if (mask := op.yield_op.mask) is not None:
        for expr in mask.data.results:
            yield expr, op.yield_op.mask_operands
    if (chunk := chunk_of(op)) is not None:
        yield from _masks(chunk)


def _fails_from(axis: SSAValue, bound: Expr, mask: Expr) -> bool:
    """Whether the mask is negative at `axis := bound + d` for every d from 0 on."""
    steps = range_of_value(axis)
    assert steps is not None
    operands = [*dict.fromkeys((*bound[1], *mask[1]))]
    beyond = AffineExpr.dimension(len(operands))
    least = _over(bound[0], bound[1], operands) + beyond
    at = [least if v is axis else AffineExpr.dimension(operands.index(v)) for v in mask[1]]
    ranges = [*map(range_of_value, operands), Range(0, steps.high)]
    value = sum_of(mask[0].replace_dims_and_symbols(at, ()), ranges)
    known = range_of_sum(_without_quotients(value, ranges), ranges)
    return known is not None and known.high < 0


def _over(expr: AffineExpr, operands: Sequence[SSAValue], others: Sequence[SSAValue]) -> AffineExpr:
    """An expression of `operands` as one of `others`, which has them all."""
    dims = [AffineExpr.dimension(others.index(operand)) for operand in operands]
    return expr.replace_dims_and_symbols(dims, ())


def _without_quotients(value: Sum, ranges: Ranges) -> Sum:
    """`x floordiv c * c` is `x - x mod c`, which cancels what is compared with it."""
    for atom, factor in value.terms.items():
        match atom:
            case AffineBinaryOpExpr(AffineBinaryOpKind.FloorDiv, x, AffineConstantExpr(c)) if (
                factor % c == 0
            ):
                same = sum_of((x - x % c) * (factor // c), ranges)
                return _without_quotients(value + Sum({atom: -factor}) + same, ranges)
            case _:
                pass
    return value
