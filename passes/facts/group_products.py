# SPDX-License-Identifier: Apache-2.0
"""
Products that warpgroups can multiply: both factors are matrices in swizzled slabs.

    tile.launch (..., %wm = warp 8 m, %lm = lane 8 m, %ln = lane 4 n, %sn = register 32 n,
                 %rm = register 2 m, %vn = register 2 n) {
      ... loop.reduce %k in 64 with add by(m64nNk16_bf16) {
            ... loop.load %as[%wm * 16 + %rm * 8 + %lm, %k]       64 rows of four warps
            ... loop.load %bs[%k, %sn * 8 + %ln * 2 + %vn]        256 columns

The rows of a warpgroup are adjacent in the slab of A: 16 of each warp. Columns are adjacent in the
slab of B, as many as one instruction does. Descriptors give the order of elements in memory
(`dialects/kernel/matrix_descriptor.py`).
"""

from collections.abc import Callable, Container, Mapping, Sequence, Set
from typing import NamedTuple

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineDimExpr

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Role
from tilewright.dialects.index import sum_of
from tilewright.dialects.kernel.matrix_descriptor import descriptor_of
from tilewright.dialects.matrix_instruction import GROUP_WARPS, MOST_COLUMNS, MatrixInstruction
from tilewright.dialects.tile import SlabLayoutAttr
from tilewright.dialects.tile.attributes import Axis, Level
from tilewright.dialects.tile.layout import with_layout
from tilewright.dialects.types import memref_type
from tilewright.passes.facts.matrix_operand import MatrixOperand
from tilewright.passes.facts.matrix_product import launch_around, matrix_products

_QUOTIENTS = (AffineBinaryOpKind.FloorDiv, AffineBinaryOpKind.Mod)

Layouts = Callable[[tile.StageOp], SlabLayoutAttr | str]
"""Function that returns the layout of a slab, or the reason why it has none that is swizzled."""


class GroupFactor(NamedTuple):
    """A or B: where the matrix of a warpgroup lies in its slab."""

    load: loop.LoadOp
    axes: tuple[int, int]
    """Axes of the slab along A's rows (or B's columns) and along K."""


class GroupProduct(NamedTuple):
    """A product that a warpgroup can add."""

    a: GroupFactor
    b: GroupFactor
    columns: int
    """Columns of one instruction."""


def group_products(
    op: loop.ReduceOp, instruction: MatrixInstruction, layouts: Layouts
) -> Sequence[GroupProduct] | str:
    """
    Return the products of a reduction that warpgroups add by `instruction`, or the reason why they
    cannot. `layouts` gives the layouts of the slabs.
    """
    products = matrix_products(op, instruction)
    if isinstance(products, str):
        return products
    launch = launch_around(op)
    warps = [axis for axis in launch.thread_axes() if axis.level is Level.WARP]
    if not warps or warps[-1].role is not Role.M or warps[-1].extent % GROUP_WARPS:
        return f"the rows of a block are not those of {GROUP_WARPS} warps next to each other"
    tiles = _tiles(launch)
    count = tiles.extent if tiles else 1
    together = _together(count)
    rows = _Matrix({warps[-1].value: 16}, 16 * GROUP_WARPS, repeated=True)
    columns = _Matrix({tiles.value: 8} if tiles else {}, 8 * together, together < count)
    digits = {axis.value for axis in (*products[0].a.digits, *products[0].b.digits)}
    found: list[GroupProduct] = []
    for product in products:
        a = _factor(product.a, rows, digits, layouts)
        b = _factor(product.b, columns, digits, layouts)
        if isinstance(a, str):
            return a
        if isinstance(b, str):
            return b
        found.append(GroupProduct(a, b, columns.extent))
    return found


def reads_lines(launch: tile.LaunchOp) -> bool:
    """
    True if a slab is copied from parts of lines of a tensor, such as the window of a convolution.
    TMA fills it only if the slab gets an axis for each axis of the tensor, which descriptors do not
    have.
    """
    loads = [stage.copied_load() for stage in tile.stages_of(launch)]
    subscripts = (expr for load in loads if load is not None for expr in load.map.data.results)
    return any(
        isinstance(expr, AffineBinaryOpExpr) and expr.kind in _QUOTIENTS
        for subscript in subscripts
        for expr in subscript.dfs()
    )


def tiles_of(op: loop.ReduceOp) -> Axis | None:
    """
    Return the register axis that counts the tiles of eight columns of a thread; None if there is
    one tile.
    """
    return _tiles(launch_around(op))


def _tiles(launch: tile.LaunchOp) -> Axis | None:
    *outer, _, _ = [axis for axis in launch.axes_at(Level.REGISTER) if axis.extent > 1]
    return outer[-1] if outer and outer[-1].role is Role.N else None


def _together(tiles: int) -> int:
    """Return how many of a thread's tiles one instruction does: the largest possible divisor."""
    return next(n for n in range(MOST_COLUMNS // 8, 0, -1) if tiles % n == 0)


class _Matrix(NamedTuple):
    """Rows of A, or columns of B, that one instruction multiplies."""

    outer: Mapping[SSAValue, int]
    """Axis that continues the digits of the rows of a warp, with its factor."""
    extent: int
    repeated: bool
    """True if other matrices of the slab begin at multiples of the extent."""


class _Terms(NamedTuple):
    """A subscript: the factor of each axis, and a constant."""

    factors: Mapping[SSAValue, int]
    constant: int

    def begins_at_multiples(self, of: int, apart: Container[SSAValue]) -> bool:
        """True if the subscript, without the axes `apart`, is a multiple of a number."""
        rest = [factor for axis, factor in self.factors.items() if axis not in apart]
        return all(each % of == 0 for each in (self.constant, *rest))


def _factor(
    operand: MatrixOperand, matrix: _Matrix, digits: Set[SSAValue], layouts: Layouts
) -> GroupFactor | str:
    """Return a factor, or the reason why its slab cannot be read by descriptors."""
    load, name = operand.load, f"%{operand.load.memref.name_hint or 'slab'}"
    stage, subscripts = load.memref.owner, _subscripts(load)
    if not isinstance(stage, tile.StageOp):
        return f"{name} is no slab that is staged"
    if subscripts is None:
        return f"a subscript of {name} is no sum of multiples of axes"
    outer, inner = operand.digits
    within = {outer.value: inner.extent, inner.value: 1, **matrix.outer}
    row, k = _axis_with(subscripts, within), _axis_with(subscripts, {operand.k: 1})
    if row is None or k is None or row == k:
        kind = "rows" if operand.is_left else "columns"
        return f"{kind} of {name} that are multiplied together do not lie next to each other"
    moved = {axis for at, each in enumerate(subscripts) for axis in each.factors if at != row}
    if moved & (digits | {*within}):
        return f"several subscripts of {name} have axes of its rows"
    layout = layouts(stage)
    if isinstance(layout, str):
        return f"{name} {layout}"
    type = with_layout(memref_type(stage.slab), layout)
    descriptor = descriptor_of(type, (row, k), (matrix.extent, operand.steps))
    if isinstance(descriptor, str):
        return f"{name} {descriptor}"
    multiple = descriptor.first_multiple
    is_whole = subscripts[row].begins_at_multiples(multiple, within)
    is_whole &= subscripts[k].begins_at_multiples(operand.steps, {operand.k})
    if not is_whole or (matrix.repeated and matrix.extent % multiple):
        return f"matrices in {name} do not begin where its swizzle begins"
    return GroupFactor(load, (row, k))


def _subscripts(load: loop.LoadOp) -> list[_Terms] | None:
    """Return the subscripts of a load; None if one is no sum of multiples of its operands."""
    found: list[_Terms] = []
    for expr in load.map.data.results:
        sum = sum_of(expr)
        factors = {
            load.indices[atom.position]: factor
            for atom, factor in sum.terms.items()
            if isinstance(atom, AffineDimExpr)
        }
        if len(factors) < len(sum.terms):
            return None
        found.append(_Terms(factors, sum.constant))
    return found


def _axis_with(subscripts: Sequence[_Terms], factors: Mapping[SSAValue, int]) -> int | None:
    """Return the one axis of a slab in whose subscript axes have these factors, or None."""
    found = [at for at, each in enumerate(subscripts) if factors.items() <= each.factors.items()]
    return found[0] if len(found) == 1 else None
