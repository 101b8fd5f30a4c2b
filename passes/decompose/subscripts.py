# SPDX-License-Identifier: Apache-2.0
"""Reading and writing of elements of tensors at subscripts that other tensors give."""

from collections.abc import Sequence

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from tilewright.dialects import prim
from tilewright.dialects.monoid import Monoid, MonoidAttr
from tilewright.passes.decompose.tensor import Tensor
from tilewright.passes.decompose.view import Shape


def gather(source: Tensor, subscripts: Sequence[Tensor | AffineExpr], shape: Shape) -> Tensor:
    """
    Return the elements of `source` at `subscripts`, one for each dimension. Subscripts are affine
    expressions of the result's coordinates, or tensors of i32 or i64 that broadcast to `shape`.
    """
    indices, map = _indexed(subscripts, shape)
    return source.emit.result(prim.GatherOp(source.value, indices, map, shape))


def scatter(
    base: Tensor,
    subscripts: Sequence[Tensor | AffineExpr],
    updates: Tensor,
    combiner: Monoid | None = None,
) -> Tensor:
    """
    Return `base` with `updates` written at `subscripts`, which are given as in `gather`. With a
    combiner, each element there is combined with its updates; otherwise an update replaces it.
    """
    indices, map = _indexed(subscripts, updates.shape)
    attribute = None if combiner is None else MonoidAttr(combiner)
    op = prim.ScatterOp(updates.value, base.value, indices, map, attribute)
    return base.emit.result(op)


def _indexed(
    subscripts: Sequence[Tensor | AffineExpr], shape: Shape
) -> tuple[list[SSAValue], AffineMap]:
    """
    Return the subscripts that are tensors, and a map of all subscripts. Symbol i of the map stands
    for the value of tensor i.
    """
    indices: list[SSAValue] = []
    exprs: list[AffineExpr] = []
    for subscript in subscripts:
        if isinstance(subscript, Tensor):
            exprs.append(AffineExpr.symbol(len(indices)))
            indices.append(subscript.broadcast(shape).value)
        else:
            exprs.append(subscript)
    return indices, AffineMap(len(shape), len(indices), tuple(exprs))
