# SPDX-License-Identifier: Apache-2.0
"""
Attention as the planner sees it: the sizes of a softmax reduction and of the product that computes
its scores.

    tile.launch (%h = block 32 batch, %q = block 2048 m, %e = block 128 n) {    m 2048, n 128
      %max, %sum, %out = loop.reduce %k in 2048 with softmax {                  keys 2048
        %x = loop.reduce %d in 128 with add { ... }                             depth 128
        %v = loop.load %values[%h, %k, %e]
        loop.yield %x, %one, %v where [%q - %k]                                 up to a diagonal
"""

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from xdsl.ir import Attribute

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Role
from tilewright.dialects.faster_xdsl.walk import ops_in
from tilewright.dialects.matrix_instruction import MatrixInstruction
from tilewright.dialects.types import size_of
from tilewright.passes.facts.products import factor_of, instructions_of, products_of
from tilewright.passes.tile.contracting_reductions import contracting_reductions
from tilewright.passes.tile.step_bounds import leaves_out_steps


class Attention(NamedTuple):
    """Sizes of attention."""

    batch: int
    m: int
    """Rows: queries of one head."""
    n: int
    """Columns: elements of a value."""
    keys: int
    depth: int
    """Steps of the product that computes a score; 0 if scores are loaded."""
    element: int
    """Bytes of an element of the values."""
    weight: int
    """Bytes of an element of the weights, as threads share them."""
    is_partial: bool
    """True if the mask excludes whole chunks of keys, as above a diagonal."""
    score_element: int
    """Bytes of a staged element of the queries or keys; 4 if they are computed."""
    instruction: MatrixInstruction | None
    """
    Matrix instruction that can add the products of the scores, or None: the scores of a single row
    are no product of two sides.
    """

    def __str__(self) -> str:
        batch = f"batch {self.batch}, " if self.batch > 1 else ""
        partial = ", not all keys" if self.is_partial else ""
        return f"{batch}m {self.m}, n {self.n}, keys {self.keys}, depth {self.depth}{partial}"


def attention_of(launch: tile.LaunchOp) -> Attention | None:
    """
    Return the attention that a launch computes, which `tileify` has made, or None if it computes
    something else.
    """
    reductions = [op for op in launch.body.block.ops if isinstance(op, loop.ReduceOp)]
    if len(reductions) != 1 or not reductions[0].is_softmax:
        return None
    (op,) = reductions
    if op not in contracting_reductions(launch):
        return None
    axes = launch.bound_axes()
    sizes = {role: prod(axis.extent for axis in axes if axis.role is role) for role in Role}
    nested = (inner for inner in ops_in(op) if inner is not op)
    scores = [inner for inner in nested if isinstance(inner, loop.ReduceOp)]
    values = [factor_of(value).type for value in op.yield_op.values[1:]]
    return Attention(
        sizes[Role.BATCH],
        sizes[Role.M],
        sizes[Role.N],
        op.extent.value.data,
        max((inner.extent.value.data for inner in scores), default=0),
        min(map(size_of, values)),
        size_of(op.weights or op.result_types[0]),
        leaves_out_steps(op),
        max((_staged_bytes(inner) for inner in scores), default=0),
        _instruction(scores, op.weights or op.result_types[0], values)
        if sizes[Role.M] > 1
        else None,
    )


def _staged_bytes(op: loop.ReduceOp) -> int:
    """Return the bytes of an element of the wider factor of a product, as it is staged."""
    factors = [f.narrow for product in products_of(op) for f in (product.left, product.right)]
    is_loaded = all(isinstance(factor.owner, loop.LoadOp) for factor in factors)
    types = [f.type for f in factors] if factors and is_loaded else op.result_types
    return max(map(size_of, types))


def _instruction(
    scores: Sequence[loop.ReduceOp], weights: Attribute, values: Sequence[Attribute]
) -> MatrixInstruction | None:
    """
    Return the fastest instruction for the products of the scores, which also multiplies weights of
    the type `weights` by values of the same type; None if there is none.
    """
    products = [product for op in scores for product in products_of(op)]
    if len(products) != len(scores) or not scores:
        return None
    found = instructions_of(products)
    return next((i for i in found if i.fragments.element == weights in values), None)
