# SPDX-License-Identifier: Apache-2.0
"""
Bugs of tensor cores: rows and matrices of other lanes, fragments, steps of a sum, and roundings.
"""

from collections.abc import Iterator
from functools import partial
from math import prod

from xdsl.dialects import arith, math, scf
from xdsl.dialects.builtin import AffineMapAttr, FloatAttr, UnitAttr, f32
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from tilewright.codegen.mutations.accesses import set_result, subscripts
from tilewright.codegen.mutations.mutation import Mutation, Rules, dropped
from tilewright.dialects import kernel
from tilewright.dialects.kernel.matrix import Fragment
from tilewright.dialects.matrix_instruction import MATRIX_ROWS
from tilewright.dialects.types import memref_type

_PARTNERS = {
    1: "rows of two lanes exchanged",
    MATRIX_ROWS: "two matrices exchanged",
    2 * MATRIX_ROWS: "two pairs of matrices exchanged",
}
"""Distances of the lanes of a warp that exchange the rows that they give, with descriptions."""


def _rows(op: kernel.LoadMatrixOp) -> Iterator[Mutation]:
    """Yield loads from other places, of other lanes' rows, and with the other orientation."""
    yield from subscripts("source", "source_map", op)
    if op.element != f32:
        yield Mutation("transposed or not", _transpose)
    for distance, what in _PARTNERS.items():
        if distance < op.addressing_lanes:
            yield Mutation(what, partial(_exchange_lanes, distance=distance))


def _transpose(op: Operation) -> None:
    if op.properties.pop("transposed", None) is None:
        op.properties["transposed"] = UnitAttr()


def _exchange_lanes(op: Operation, *, distance: int) -> None:
    """Exchange the rows that lanes give with those of the lanes at `distance`."""
    assert isinstance(op, kernel.LoadMatrixOp)
    for number, value in enumerate(op.source_indices):
        if isinstance(value.owner, kernel.ThreadIdOp):
            thread, both = AffineExpr.dimension(number), 2 * distance
            _substitute(op, number, thread - thread % both + (thread + distance) % both)


def _same_step(op: kernel.LoadMatrixOp) -> Iterator[Mutation]:
    """Yield loads that repeat the first step of a loop around them."""
    for number, value in enumerate(op.source_indices):
        if isinstance(value, BlockArgument) and isinstance(value.block.parent_op(), scf.ForOp):
            change = partial(_substitute, number=number, by=AffineExpr.constant(0))
            yield Mutation("as in the first step", change)


def _substitute(op: Operation, number: int, by: AffineExpr) -> None:
    """Replace dimension `number` of the source's subscripts of a load by an expression."""
    assert isinstance(op, kernel.LoadMatrixOp)
    old = op.source_map.data
    dims: list[AffineExpr] = [AffineExpr.dimension(dim) for dim in range(old.num_dims)]
    dims[number] = by
    results = tuple(result.replace_dims_and_symbols(dims, ()) for result in old.results)
    op.properties["source_map"] = AffineMapAttr(AffineMap(old.num_dims, 0, results))


def _fragments(op: kernel.MatrixMultiplyOp) -> Iterator[Mutation]:
    """Yield multiplications of another fragment of A or B, or added to another one of D."""
    for name, fragment in zip("abd", op.fragments(), strict=True):
        shape = memref_type(fragment.memref).get_shape()
        for axis in range(_axes_of_fragments(fragment)):
            if shape[axis] > 1:
                after = (fragment.map.data.results[axis] + 1) % shape[axis]
                change = partial(set_result, map=f"{name}_map", number=axis, result=after)
                yield Mutation(f"fragment of {name.upper()} after", change)


def _axes_of_fragments(fragment: Fragment) -> int:
    """Return the number of leading axes of a register array that count fragments."""
    shape, axis = memref_type(fragment.memref).get_shape(), 0
    while prod(shape[axis:]) > fragment.elements:
        axis += 1
    return axis


def _arrays(op: kernel.MatrixMultiplyOp) -> Iterator[Mutation]:
    """
    Yield multiplications with another register array for A, B or D: the first one that differs
    among those of the block's other multiplications.
    """
    assert op.parent is not None
    others = [each for each in op.parent.ops if isinstance(each, kernel.MatrixMultiplyOp)]
    for name in "abd":
        own: SSAValue = getattr(op, name)
        arrays = [getattr(other, name) for other in others]
        if any(array is not own and array.type == own.type for array in arrays):
            yield Mutation(f"another array for {name.upper()}", partial(_exchange_array, name=name))


def _exchange_array(op: Operation, *, name: str) -> None:
    assert op.parent is not None
    own: SSAValue = getattr(op, name)
    others = [each for each in op.parent.ops if isinstance(each, kernel.MatrixMultiplyOp)]
    arrays: list[SSAValue] = [getattr(other, name) for other in others]
    array = next(each for each in arrays if each is not own and each.type == own.type)
    op.operands[[*op.operands].index(own)] = array


def _unrounded(op: kernel.RoundTf32Op) -> Iterator[Mutation]:
    yield Mutation("skipped", _skip_rounding)


def _not_truncated(op: kernel.HalveTf32Op) -> Iterator[Mutation]:
    yield Mutation("not cut off", _halve)


def _halve(op: Operation) -> None:
    assert isinstance(op, kernel.HalveTf32Op)
    half = arith.ConstantOp(FloatAttr(0.5, f32))
    product = arith.MulfOp(op.value, half)
    assert op.parent is not None
    op.parent.insert_ops_before([half, product], op)
    op.result.replace_all_uses_with(product.result)
    op.detach()


def _skip_rounding(op: Operation) -> None:
    assert isinstance(op, kernel.RoundTf32Op)
    op.result.replace_all_uses_with(op.value)
    op.detach()


def _wrong_factor(op: arith.ConstantOp) -> Iterator[Mutation]:
    """Yield a constant factor of a product, doubled."""
    users = [use.operation for use in op.result.uses]
    if isinstance(op.value, FloatAttr) and any(
        isinstance(user, arith.MulfOp | math.FmaOp) and op.result in user.operands[:2]
        for user in users
    ):
        yield Mutation("twice the factor", _double)


def _double(op: Operation) -> None:
    assert isinstance(op, arith.ConstantOp)
    assert isinstance(op.value, FloatAttr)
    op.properties["value"] = FloatAttr(2 * op.value.value.data, op.value.type)


MATRICES: Rules = {
    kernel.LoadMatrixOp: (_rows, _same_step),
    kernel.MatrixMultiplyOp: (dropped, _fragments, _arrays),
    kernel.RoundTf32Op: (_unrounded,),
    kernel.HalveTf32Op: (_not_truncated,),
    arith.ConstantOp: (_wrong_factor,),
}
"""Rules for bugs of tensor cores. They change which values are computed, not what orders lanes."""
