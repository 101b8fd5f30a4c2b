# SPDX-License-Identifier: Apache-2.0
"""
Contraction as the planner sees it: the sizes of its axes, and the bytes that each step reads.

    tile.launch (%i = block 512 m, %j = block 2048 n) {     m 512, n 2048, batch 1
      %s = loop.reduce %k in 2048 with add {                k 2048
        %0 = loop.load %a[%i, %k]                           read along m
        %1 = loop.load %b[%k, %j]                           read along n
"""

from collections.abc import Iterator, Sequence, Set
from math import gcd, prod
from typing import NamedTuple

from xdsl.dialects import arith
from xdsl.dialects.builtin import f32
from xdsl.ir import BlockArgument, Operation, SSAValue

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Role
from tilewright.dialects.matrix_instruction import MatrixInstruction
from tilewright.dialects.monoid import Monoid
from tilewright.dialects.target import Target
from tilewright.dialects.tile import varies_along
from tilewright.dialects.types import memref_type, size_of
from tilewright.passes.facts.nest import quotients_of
from tilewright.passes.facts.products import instructions_of, products_of
from tilewright.passes.facts.roles import element_sources
from tilewright.passes.facts.slab_masks import is_masked_by
from tilewright.passes.facts.windowed_operand import has_window
from tilewright.passes.tile.contracting_reductions import contracting_reductions
from tilewright.passes.tile.planner.group_trial import multiplies_by_groups
from tilewright.passes.tile.planner.image_boxes import ImageBoxes, image_boxes_of
from tilewright.passes.tile.planner.needed_block_tiles import (
    Diagonal,
    diagonals_of,
    needed_block_tiles,
)


class Contraction(NamedTuple):
    """Sizes of the axes by role, and the bytes that one step reads along each side."""

    batch: int
    m: int
    n: int
    k: int
    """Steps of the longest reduction."""
    sums: int
    """Number of sums for one element of the result; each has its own accumulator."""
    m_bytes: int
    """Bytes that a step reads for one row: loads that vary along m, and not along n."""
    n_bytes: int
    """Bytes that a step reads for one column: loads that vary along n, and not along m."""
    diagonals: tuple[Diagonal, ...] = ()
    """Conditions under which elements of the result are needed; empty if all are."""
    m_operands: int = 1
    """
    Distinct factors along m in the products of all sums; sums that share a factor count it once.
    """
    n_operands: int = 1
    """Distinct factors along n in the products of all sums."""
    instruction: MatrixInstruction | None = None
    """Matrix instruction that can add all products, or None."""
    is_masked: bool = False
    """True if rows or columns mask steps of K, which matrix instructions cannot."""
    period: int = 0
    """
    Steps of K that lie in one step of a window, so that their subscripts are linear; 0 without a
    window.
    """
    boxes: ImageBoxes | None = None
    """Images of a convolution whose blocks can read boxes, or None."""
    by_groups: bool = False
    """True if warpgroups can add all products (`group_trial.py`)."""

    def __str__(self) -> str:
        batch = f"batch {self.batch}, " if self.batch > 1 else ""
        sums = f", {self.sums} sums" if self.sums > 1 else ""
        needed = ", needed up to a diagonal" if self.diagonals else ""
        return f"{batch}m {self.m}, n {self.n}, k {self.k}{sums}{needed}"

    @property
    def operand_bytes(self) -> int:
        """Bytes of the operands, each once."""
        return self.batch * self.k * (self.m * self.m_bytes + self.n * self.n_bytes)

    @property
    def result_bytes(self) -> int:
        """Bytes of the result."""
        return self.batch * 4 * self.m * self.n

    def rows_of_blocks(self, m: int) -> int:
        """Return the number of blocks of `m` rows along the rows."""
        rectangles = None if self.boxes is None else self.boxes.blocks(m)
        return -(-self.m // m) if rectangles is None else rectangles

    def is_scattered(self, m: int) -> bool:
        """True if blocks of `m` rows read parts of lines, although others can read boxes."""
        return self.boxes is not None and self.boxes.width_for(m) is None

    def needed_block_tiles(self, m: int, n: int) -> int:
        """Return the number of tiles of `m` by `n` elements in which any element is needed."""
        if not self.diagonals:
            return self.batch * self.rows_of_blocks(m) * -(-self.n // n)
        return self.batch * needed_block_tiles(self.diagonals, (self.m, self.n), (m, n))


def contraction_of(launch: tile.LaunchOp, target: Target) -> Contraction | None:
    """Return the contraction of a launch that `tileify` has made, or None if it has none."""
    reductions = contracting_reductions(launch)
    if not reductions:
        return None
    axes = launch.bound_axes()
    sizes = {role: prod(axis.extent for axis in axes if axis.role is role) for role in Role}
    rows, columns = (
        {axis.value for axis in axes if axis.role is role} for role in (Role.M, Role.N)
    )
    is_masked = any(is_masked_by(op, rows | columns) for op in reductions)
    instruction = None if is_masked else _instruction(reductions)
    period = gcd(*(steps for op in reductions for steps in _divisors(op)))
    return Contraction(
        sizes[Role.BATCH],
        sizes[Role.M],
        sizes[Role.N],
        max(op.axis_extents()[0] for op in reductions),
        sum(len(op.results) for op in reductions),
        _bytes_along(reductions, rows, columns),
        _bytes_along(reductions, columns, rows),
        diagonals_of(launch, reductions),
        _operands_along(reductions, rows, columns),
        _operands_along(reductions, columns, rows),
        instruction,
        is_masked,
        period,
        image_boxes_of(launch, instruction, period, target) if period else None,
        multiplies_by_groups(launch, instruction, target),
    )


def _divisors(op: loop.ReduceOp) -> Iterator[int]:
    """Yield the divisors by which subscripts divide the axis of a reduction over windows."""
    loads = [inner for inner in op.body.walk() if isinstance(inner, loop.LoadOp)]
    if any(has_window(load, op.axis) for load in loads):
        quotients = (quotient for load in loads for quotient in quotients_of(load))
        yield from (divisor for index, divisor in quotients if index is op.axis)


def _instruction(reductions: Sequence[loop.ReduceOp]) -> MatrixInstruction | None:
    """
    Return the fastest instruction for all products of the reductions, if they add nothing else.
    """
    products = [product for op in reductions for product in products_of(op)]
    sums = [result.type for op in reductions for result in op.results]
    if len(products) != len(sums) or any(type != f32 for type in sums):
        return None
    if any(op.monoid.data is not Monoid.ADD for op in reductions):
        return None
    return next(iter(instructions_of(products)), None)


def _bytes_along(
    reductions: Sequence[loop.ReduceOp], axes: Set[SSAValue], others: Set[SSAValue]
) -> int:
    """
    Return the bytes of the distinct loads of a step that vary along `axes` and not along `others`.
    """
    found: dict[object, int] = {}
    steps = {op.axis for op in reductions}
    for load in (op for r in reductions for op in r.body.walk() if isinstance(op, loop.LoadOp)):
        sources = element_sources(load, steps, axes | others)
        if sources & axes and not sources & others:
            place = load.memref, load.map, *load.indices
            found[place] = size_of(memref_type(load.memref).element_type)
    return sum(found.values())


def _operands_along(
    reductions: Sequence[loop.ReduceOp], axes: Set[SSAValue], others: Set[SSAValue]
) -> int:
    """
    Return the number of distinct factors that vary along `axes` and not `others`; at least one.
    """
    known: dict[Operation, frozenset[BlockArgument]] = {}
    products = [value.owner for op in reductions for value in op.yield_op.values]
    factors = {f for op in products if isinstance(op, arith.MulfOp) for f in op.operands}
    varies = [varies_along(f.owner, known) for f in factors if isinstance(f.owner, Operation)]
    return max(1, sum(bool(found & axes) and not found & others for found in varies))
