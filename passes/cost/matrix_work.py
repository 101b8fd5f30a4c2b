# SPDX-License-Identifier: Apache-2.0
"""
Work of a warp in a reduction that matrix instructions do (`by`), counted from Tile IR.

    %sums = loop.reduce %k in 64 with add by(m16n8k16_bf16) {        a thread has 8x8 of 64x32 sums
      ... loop.load %as[%sm * 32 + %wm * 16 + %rm * 8 + %lm, %k]     8 copies: 4 fragments of A
      ... loop.load %bs[%k, %sn * 32 + %wn * 8 + %ln * 2 + %vn]      8 copies: 4 fragments of B

The reduction above takes 4 * 4 matrix instructions for each 16 steps of K.
"""

from collections.abc import Callable
from typing import NamedTuple

from xdsl.ir import SSAValue

from tilewright.dialects import loop
from tilewright.dialects.matrix_instruction import LANES_M, LANES_N, MOST_MATRICES
from tilewright.dialects.target import Target
from tilewright.passes.cost.matrix_clocks import WarpTile
from tilewright.passes.facts.matrix_operand import MatrixOperand, distinct_operands
from tilewright.passes.facts.matrix_product import matrix_products

_IN_FRAGMENT = 2
"""Rows of A, or columns of B, that a thread has in a fragment of D."""

MATRIX_LATENCY = 33
"""Clocks until a matrix instruction can add to the sum of another one."""


class MatrixWork(NamedTuple):
    """Work of a warp for all steps of a reduction."""

    tile: WarpTile
    """Part of a product that the warp computes."""
    products: int
    """Number of products of this size: one per step of register axes that are no side of it."""
    loads: int
    """Number of instructions that load fragments from shared memory."""

    @property
    def multiplications(self) -> int:
        """Number of matrix instructions."""
        return self.products * self.tile.instructions

    @property
    def instructions(self) -> int:
        """Number of all instructions: multiplications, loads, roundings, splits and sums."""
        others = self.products * self.tile.other_instructions
        return self.products * self.tile.issued + self.loads + others

    @property
    def float32(self) -> int:
        """Number of instructions that the float32 lanes execute."""
        return self.products * self.tile.float32_instructions

    @property
    def float32_flops(self) -> int:
        """Number of operations of these instructions."""
        return self.products * self.tile.float32_flops

    @property
    def flops_each(self) -> int:
        """Floating-point operations of one multiplication."""
        shape = self.tile.instruction.fragments
        return 2 * shape.m * shape.n * shape.k

    @property
    def registers(self) -> int:
        """Registers of a thread that hold fragments."""
        return self.products * self.tile.fragment_registers

    def clocks(self, target: Target) -> float:
        """
        Return the clocks of a warp alone. Each step of an instruction adds to the sums of the step
        before. Other instructions do not overlap with multiplications, which need their results.
        """
        shape = self.tile.instruction.fragments
        steps = -(-self.tile.k // shape.k)
        busy = self.multiplications * self.tile.interval(target)
        others = self.instructions - self.products * self.tile.issued
        return max(busy, steps * MATRIX_LATENCY) + others


def matrix_work(op: loop.ReduceOp, copies: Callable[[SSAValue], int]) -> MatrixWork | None:
    """
    Return the work of a warp for one run of `op`, or None if no matrix instruction does it.
    `copies(value)` is the number of copies of a value that a thread holds.
    """
    if op.instruction is None:
        return None
    found = matrix_products(op, op.instruction)
    if isinstance(found, str):
        return None
    first, steps = found[0], op.extent.value.data
    rows, columns = copies(first.a.load.result), copies(first.b.load.result)
    products = max(1, rows * columns // max(1, copies(op.results[0])))
    m, n = (max(1, each // products) for each in (rows, columns))
    tile = WarpTile(m * LANES_M, n * LANES_N, steps, op.instruction)
    if op.instruction.is_grouped:
        return MatrixWork(tile, products * len(found), loads=0)
    operands = distinct_operands(each for product in found for each in (product.a, product.b))
    loads = sum(_loads(each, copies(each.load.result), steps) for each in operands)
    return MatrixWork(tile, products * len(found), loads)


def _loads(operand: MatrixOperand, copies: int, steps: int) -> int:
    """
    Return the instructions that load all fragments of an operand: `ldmatrix` of four registers, or
    one instruction for each register.
    """
    fragments = copies // _IN_FRAGMENT * (steps // operand.steps)
    registers = fragments * operand.elements // operand.per_register
    return registers if operand.transposed is None else -(-registers // MOST_MATRICES)
