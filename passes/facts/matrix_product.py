# SPDX-License-Identifier: Apache-2.0
"""
Reductions that a matrix instruction can do, and where each lane of a warp finds its operands.

    loop.reduce %k in 64 with add by(m16n8k16_bf16) {
      %0 = loop.load %as[%sm * 32 + %rm * 8 + %lm, %k]       A: rows are the digits %rm, %lm
      %1 = arith.extf %0 : bf16 to f32
      %2 = loop.load %bs[%k, %sn * 8 + %ln * 2 + %vn]        B: columns are the digits %ln, %vn
      %3 = arith.extf %2 : bf16 to f32
      %4 = arith.mulf %1, %3 : f32
      loop.yield %4 : f32
    }

The lanes of a warp are 8 rows (%lm) by 4 pairs of columns (%ln). Register axes of 2 rows (%rm) and
of 2 columns (%vn) complete the 16x8 elements of D, as in the table of instructions. Any 16 rows of
memory can be the rows of D. The instruction's fragments of A and B
are read from slabs, 16 bytes of a row at a time (`ldmatrix`): along K, or across it if the other
axis is the innermost one in memory (`transposed`). Operands of 4 bytes may also be read one by one.
"""

from collections.abc import Sequence
from typing import NamedTuple

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Role
from tilewright.dialects.matrix_instruction import (
    LANES_M,
    LANES_N,
    MATRIX_ROWS,
    REGISTER_BYTES,
    Fragments,
    MatrixInstruction,
)
from tilewright.dialects.target import WIDEST_BYTES
from tilewright.dialects.tile import SlabLayoutAttr, layout_of
from tilewright.dialects.tile.attributes import Axis, Level
from tilewright.dialects.types import memref_type
from tilewright.passes.facts.matrix_bodies import reason_against_body
from tilewright.passes.facts.matrix_factors import SlabFactor, factors_of, instructions_for
from tilewright.passes.facts.matrix_operand import MatrixOperand
from tilewright.passes.facts.memoised import memoised
from tilewright.passes.facts.vector_width import VectorAccess

Digits = tuple[Sequence[Axis], Sequence[Axis]]
"""Axes that are digits of an instruction's rows, and those of its columns."""


class MatrixProduct(NamedTuple):
    """Both operands of a product that a matrix instruction can add."""

    instruction: MatrixInstruction
    a: MatrixOperand
    b: MatrixOperand

    @property
    def fragments(self) -> Fragments:
        """Row of the instruction in the table."""
        return self.instruction.fragments


def matrix_products(
    op: loop.ReduceOp, instruction: MatrixInstruction
) -> Sequence[MatrixProduct] | str:
    """
    Return the operands of each product of a reduction for the instruction, or the reason why it
    cannot do them. The reduction's launch has its axes arranged for the instruction
    (`tensor-core`).
    """
    pairs = factors_of(op)
    if isinstance(pairs, str):
        return pairs
    if op.instruction is not None and op.yield_op.mask is not None:
        return "its yield is masked; mask the slabs instead"
    if instruction not in instructions_for(op):
        types = dict.fromkeys(str(factor.element) for pair in pairs for factor in pair)
        return f"{instruction} multiplies no elements of {' and '.join(types)}"
    if op.extent.value.data % instruction.fragments.k:
        return f"{op.extent.value.data} steps of K are not divisible by {instruction.fragments.k}"
    loads = [factor.load for pair in pairs for factor in pair]
    together = "warpgroup" if instruction.is_grouped else "warp"
    if reason := reason_against_body(op, loads, together):
        return reason
    digits = digits_of(op)
    if isinstance(digits, str):
        return digits
    products: list[MatrixProduct] = []
    for pair in pairs:
        product = _product(op, instruction, pair, digits)
        if isinstance(product, str):
            return product
        products.append(product)
    return products


def _product(
    op: loop.ReduceOp,
    instruction: MatrixInstruction,
    pair: tuple[SlabFactor, SlabFactor],
    digits: Digits,
) -> MatrixProduct | str:
    """Return a product with its factors as A and B, or the reason why there is none."""
    (left, right), (rows, columns) = pair, digits
    if right.has_all(rows):
        left, right = right, left
    if any(factor.differs_along(rows) and factor.differs_along(columns) for factor in pair):
        return "a factor differs along both rows and columns"
    for factor, axes, kind in ((left, rows, "rows"), (right, columns, "columns")):
        if not factor.has_all(axes):
            names = ", ".join(f"%{axis.value.name_hint}" for axis in axes)
            return f"no factor has both axes of the {kind} ({names}) in its subscripts"
    a = _operand(op, instruction, left, rows, is_left=True)
    b = _operand(op, instruction, right, columns, is_left=False)
    if isinstance(a, str):
        return a
    return b if isinstance(b, str) else MatrixProduct(instruction, a, b)


def _operand(
    op: loop.ReduceOp,
    instruction: MatrixInstruction,
    factor: SlabFactor,
    digits: Sequence[Axis],
    *,
    is_left: bool,
    layout: SlabLayoutAttr | None = None,
) -> MatrixOperand | str:
    """
    Return a factor as A or B, or the reason why its rows in memory cannot be loaded. A given
    `layout` replaces that of the slab.
    """
    fragments = instruction.fragments
    map, elements = (
        (fragments.a, fragments.elements_a) if is_left else (fragments.b, fragments.elements_b)
    )
    transposed = _transposed(factor, digits, op, layout)
    if transposed is None and factor.bytes < REGISTER_BYTES:
        name = factor.load.memref.name_hint or "slab"
        if pieces := (layout or layout_of(memref_type(factor.load.memref))).inner.data:
            return f"rows of %{name} are cut into pieces (inner {pieces})"
        return f"rows of %{name} are no multiples of 16 bytes, neither along K nor across it"
    return MatrixOperand(
        factor.load, digits, op.axis, map, is_left, elements, fragments.k, transposed
    )


@memoised
def matrix_operand(load: loop.LoadOp, layout: SlabLayoutAttr) -> MatrixOperand | None:
    """
    Return the operand of a matrix instruction that `load` is, for a slab in `layout`; None if it is
    none, or if the instruction cannot read that layout.
    """
    op = load.parent_op()
    if not isinstance(op, loop.ReduceOp) or op.instruction is None:
        return None
    digits = digits_of(op)
    if isinstance(digits, str):
        return None
    factor = SlabFactor(load)
    is_left = factor.differs_along(digits[0])
    found = _operand(
        op, op.instruction, factor, digits[not is_left], is_left=is_left, layout=layout
    )
    return None if isinstance(found, str) else found


def reason_against_layout(stage: tile.StageOp, layout: SlabLayoutAttr) -> str | None:
    """
    Reason why matrix instructions could not read the slab in `layout`, worded to follow its name,
    or None.
    """
    for use in stage.slab.uses:
        load, around = use.operation, use.operation.parent_op()
        if not isinstance(load, loop.LoadOp) or not isinstance(around, loop.ReduceOp):
            continue
        if around.instruction is not None and around.instruction.is_grouped:
            return "is read by warpgroups in the layout that it has"
        if around.instruction is not None and matrix_operand(load, layout) is None:
            return "is read in rows of 16 bytes by matrix instructions"
    return None


@memoised
def digits_of(op: loop.ReduceOp) -> Digits | str:
    """
    Return the axes that are digits of an instruction's rows, and those of its columns; or the
    reason why the axes of the launch are not arranged for a matrix instruction.
    """
    launch = launch_around(op)
    lanes = [*launch.axes_at(Level.LANE)]
    shape = [(axis.extent, axis.role) for axis in lanes]
    if launch.thread_axes()[-2:] != lanes or shape != [(LANES_M, Role.M), (LANES_N, Role.N)]:
        return "the lanes of a warp are not 8 rows by 4 pairs of columns"
    pairs = [a for a in launch.axes_at(Level.REGISTER) if a.extent > 1][-2:]
    if [(axis.extent, axis.role) for axis in pairs] != [(2, Role.M), (2, Role.N)]:
        return "the last two register axes are not 2 rows and 2 columns"
    return (pairs[0], lanes[0]), (lanes[1], pairs[1])


def launch_around(op: loop.ReduceOp) -> tile.LaunchOp:
    """Return the launch in which a reduction is."""
    around = op.parent_op()
    while not isinstance(around, tile.LaunchOp):
        assert around is not None
        around = around.parent_op()
    return around


def _transposed(
    factor: SlabFactor, digits: Sequence[Axis], op: loop.ReduceOp, layout: SlabLayoutAttr | None
) -> bool | None:
    """
    True if rows of 16 bytes in memory run across K, False if they run along it; None if there are
    no such rows.
    """
    access, width = VectorAccess(factor.load), WIDEST_BYTES // factor.bytes
    is_along = access.width(op.axis, op.extent.value.data, layout) == width
    if is_along and not (layout or layout_of(memref_type(factor.load.memref))).inner.data:
        return False
    if width != MATRIX_ROWS:  # `ldmatrix` transposes elements of 2 bytes only
        return False if access.is_adjacent(op.axis, op.extent.value.data, width, layout) else None
    inner = digits[-1:] if digits[-1].extent == width else digits
    is_row = access.width_along([(axis.value, axis.extent) for axis in inner], layout) == width
    return True if is_row else None
