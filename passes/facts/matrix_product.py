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

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import f32
from xdsl.ir import Attribute, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Role
from tilewright.dialects.matrix_instruction import (
    LANES_M,
    LANES_N,
    Fragments,
    MatrixInstruction,
)
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.target import WIDEST_BYTES
from tilewright.dialects.tile import SlabLayoutAttr
from tilewright.dialects.tile.attributes import Axis, Level
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.facts.products import products_of
from tilewright.passes.facts.slab_masks import slab_masks
from tilewright.passes.facts.vector_width import VectorAccess

REGISTER_BYTES = 4
MATRIX_ROWS = 8
"""Rows of 16 bytes in each matrix that `ldmatrix` loads."""


class Factor(NamedTuple):
    """Factor of the product that a reduction adds: a load from a slab, perhaps cast to float32."""

    load: loop.LoadOp

    @property
    def element(self) -> Attribute:
        """Type of the elements in memory."""
        return self.load.result.type

    @property
    def bytes(self) -> int:
        """Size of an element in bytes."""
        return size_of(self.element)


class MatrixOperand(NamedTuple):
    """A or B of a matrix product."""

    load: loop.LoadOp
    digits: Sequence[Axis]
    """Axes that are digits of A's row, or of B's column, in an instruction."""
    k: SSAValue
    """Axis of the reduction."""
    map: AffineMap
    """Map from (lane, element) to the row and the column in A or B."""
    is_left: bool
    """True for A."""
    elements: int
    """Number of elements in a lane's fragment."""
    steps: int
    """Steps of K in a fragment."""
    transposed: bool | None
    """True if rows in memory run across K; None if elements must be read one by one."""

    @property
    def per_register(self) -> int:
        """Number of elements in a register."""
        return REGISTER_BYTES // size_of(self.load.result.type)

    def at(self, lane: AffineExpr, element: AffineExpr) -> Mapping[SSAValue, AffineExpr]:
        """
        Return the value of each digit for an element of a lane's fragment, and the step of K in the
        instruction.
        """
        row, column = (
            expr.replace_dims_and_symbols([lane, element], ()) for expr in self.map.results
        )
        along, k = (row, column) if self.is_left else (column, row)
        outer, inner = self.digits
        return {
            outer.value: along // inner.extent,
            inner.value: along % inner.extent,
            self.k: k,
        }

    def row_at(self, row: AffineExpr, register: AffineExpr) -> Mapping[SSAValue, AffineExpr]:
        """
        Return what `at` returns, for the first element of a row of the matrix that `ldmatrix` loads
        into a register.
        """
        if self.transposed:  # lane c * 4 + r // 2 gets the elements r of column c in pairs
            return self.at(row // 2, register * 2 + row % 2)
        return self.at(row * LANES_N, register * self.per_register)


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


def factors_of(op: loop.ReduceOp) -> Sequence[tuple[Factor, Factor]] | str:
    """Return the factors of each product that `op` adds, or the reason why there are none."""
    products = products_of(op)
    if op.monoid.data is not Monoid.ADD or any(type != f32 for type in op.result_types):
        return "it does not add in float32"
    if len(products) < len(op.results):
        return "it adds values that are no products"
    if op.is_bounded:
        return "the steps of a chunk are bounded"
    pairs: list[tuple[Factor, Factor]] = []
    for product in products:
        left, right = _factor(product.left.narrow), _factor(product.right.narrow)
        if left is None or right is None:
            return "a factor is computed where it is used; stage it (stage-inputs)"
        pairs.append((left, right))
    if slab_masks(op, [factor.load for pair in pairs for factor in pair]) is None:
        return "a mask excludes steps of K for some threads only"
    return pairs


def _factor(value: SSAValue) -> Factor | None:
    """Return a value that is loaded from a slab as a factor, or None."""
    load = value.owner
    if not isinstance(load, loop.LoadOp) or load.mask is not None:
        return None
    return Factor(load) if memref_type(load.memref).memory_space == tile.SHARED else None


def instructions_for(op: loop.ReduceOp) -> list[MatrixInstruction]:
    """
    Return the instructions that multiply elements of the types of the reduction's factors. Factors
    of float32 are rounded to tf32 only if their products have the flag `afn`.
    """
    pairs = factors_of(op)
    if isinstance(pairs, str):
        return []
    types = {factor.element for pair in pairs for factor in pair}
    found = [each for each in MatrixInstruction if types == {each.fragments.element}]
    is_rounded = all(product.is_approximate for product in products_of(op))
    if not is_rounded and MatrixInstruction.M16N8K8_TF32 in found:
        found.remove(MatrixInstruction.M16N8K8_TF32)
    return found


def multiplies_halves(op: loop.ReduceOp) -> bool:
    """True if the reduction adds products of two slabs' elements of one half type."""
    return any(each.fragments.element != f32 for each in instructions_for(op))


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
    digits = _digits(op)
    if digits is None:
        return "the lanes of a warp are not 8 rows by 4 pairs of columns"
    products: list[MatrixProduct] = []
    for pair in pairs:
        product = _product(op, instruction, pair, digits)
        if isinstance(product, str):
            return product
        products.append(product)
    return products


def _product(
    op: loop.ReduceOp, instruction: MatrixInstruction, pair: tuple[Factor, Factor], digits: Digits
) -> MatrixProduct | str:
    """Return a product with its factors as A and B, or the reason why there is none."""
    (left, right), (rows, columns) = pair, digits
    if _differs(right, rows):
        left, right = right, left
    if _differs(left, columns) or _differs(right, rows):
        return "a factor differs along both rows and columns"
    a = _operand(op, instruction, left, rows, is_left=True)
    b = _operand(op, instruction, right, columns, is_left=False)
    if isinstance(a, str):
        return a
    return b if isinstance(b, str) else MatrixProduct(instruction, a, b)


def _operand(
    op: loop.ReduceOp,
    instruction: MatrixInstruction,
    factor: Factor,
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
        return f"rows of %{name} are no multiples of 16 bytes, neither along K nor across it"
    return MatrixOperand(
        factor.load, digits, op.axis, map, is_left, elements, fragments.k, transposed
    )


def matrix_operand(load: loop.LoadOp, layout: SlabLayoutAttr) -> MatrixOperand | None:
    """
    Return the operand of a matrix instruction that `load` is, for a slab in `layout`; None if it is
    none, or if the instruction cannot read that layout.
    """
    op = load.parent_op()
    if not isinstance(op, loop.ReduceOp) or op.instruction is None:
        return None
    digits = _digits(op)
    if digits is None:
        return None
    factor, is_left = Factor(load), _differs(Factor(load), digits[0])
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
        if around.instruction is not None and matrix_operand(load, layout) is None:
            return "is read in rows of 16 bytes by matrix instructions"
    return None


def _differs(factor: Factor, axes: Sequence[Axis]) -> bool:
    return any(axis.value in factor.load.indices for axis in axes)


def _digits(op: loop.ReduceOp) -> Digits | None:
    """
    Return the axes that are digits of an instruction's rows, and those of its columns; None if the
    axes of the launch are not arranged for a matrix instruction.
    """
    launch = _launch_around(op)
    lanes = [*launch.axes_at(Level.LANE)]
    if launch.thread_axes()[-2:] != lanes:
        return None
    pairs = [a for a in launch.axes_at(Level.REGISTER) if a.extent > 1][-2:]
    found = [(axis.extent, axis.role) for axis in (*lanes, *pairs)]
    if found != [(LANES_M, Role.M), (LANES_N, Role.N), (2, Role.M), (2, Role.N)]:
        return None
    return (pairs[0], lanes[0]), (lanes[1], pairs[1])


def _launch_around(op: loop.ReduceOp) -> tile.LaunchOp:
    around = op.parent_op()
    while not isinstance(around, tile.LaunchOp):
        assert around is not None
        around = around.parent_op()
    return around


def _transposed(
    factor: Factor, digits: Sequence[Axis], op: loop.ReduceOp, layout: SlabLayoutAttr | None
) -> bool | None:
    """
    True if rows of 16 bytes in memory run across K, False if they run along it; None if there are
    no such rows.
    """
    access, width = VectorAccess(factor.load), WIDEST_BYTES // factor.bytes
    if access.width(op.axis, op.extent.value.data, layout) == width:
        return False
    if width != MATRIX_ROWS:
        return None  # `ldmatrix` transposes elements of 2 bytes only
    inner = digits[-1:] if digits[-1].extent == width else digits
    is_row = access.width_along([(axis.value, axis.extent) for axis in inner], layout) == width
    return True if is_row else None
