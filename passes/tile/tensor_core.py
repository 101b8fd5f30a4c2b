# SPDX-License-Identifier: Apache-2.0
"""
Adds the products of several steps of K at once, by a matrix instruction of tensor cores.

    tile.launch (..., %tm = thread 16 m, %tn = thread 16 n, %sm = register 8 m,
                 %sn = register 8 n) {
      ... %chunk = loop.reduce %ki in 64 with add {
            ... %as[%sm * 16 + %tm, %ki] ... %bs[%ki, %tn * 8 + %sn] ...

becomes, with `tensor-core{instr=m16n8k16_bf16}`,

    tile.launch (..., %wm = warp 2 m, %wn = warp 4 n, %lm = lane 8 m, %ln = lane 4 n,
                 %sm = register 4 m, %sn = register 4 n, %rm = register 2 m, %vn = register 2 n) {
      ... %chunk = loop.reduce %ki in 64 with add by(m16n8k16_bf16) {
            ... %as[%sm * 32 + %wm * 16 + %rm * 8 + %lm, %ki]
            ... %bs[%ki, %sn * 32 + %wn * 8 + %ln * 2 + %vn] ...

A warp owns tiles of 16 rows by 8 columns. Each lane holds the elements of a tile that the table of
matrix instructions gives it: rows `%lm` and `%lm + 8`, columns `%ln * 2` and `%ln * 2 + 1`. The
sums are those of the loop, in another order. The factors must be slabs (`stage-inputs`), of the
instruction's type. The pass takes the place of `permute-register-tile`.

On sm_90a, `tensor-core{instr=m64nNk16_bf16}` lets four warps multiply together. The tiles of a warp
then lie next to each other, and slabs are swizzled, so that a descriptor can name a whole matrix:

    %as = tile.stage ... : memref<128x64xbf16, #tile.layout<swizzle 128>, 3 : i64>

The default is in `passes/tile/taste/tensor_core.py`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilewright.dialects import loop, tile
from tilewright.dialects.axes import Role
from tilewright.dialects.matrix_instruction import (
    LANES_M,
    LANES_N,
    MatrixInstruction,
    MatrixInstructionAttr,
)
from tilewright.dialects.tile import SlabLayoutAttr
from tilewright.dialects.tile.layout import SWIZZLES
from tilewright.passes.facts.group_products import group_products
from tilewright.passes.facts.matrix_factors import factors_of, instructions_for
from tilewright.passes.facts.matrix_product import matrix_products
from tilewright.passes.facts.memoised import memoised
from tilewright.passes.facts.named_slabs import set_layout
from tilewright.passes.facts.slab_masks import slab_masks
from tilewright.passes.facts.swizzled_layouts import swizzled_layout
from tilewright.passes.reporting.trace import Rule
from tilewright.passes.rewriting.substitution import conjunction
from tilewright.passes.tile.contracting_reductions import NO_CONTRACTION
from tilewright.passes.tile.kernel_schedule import is_scheduled
from tilewright.passes.tile.register_tile_sides import sides_of
from tilewright.passes.tile.register_tile_sizes import innermost
from tilewright.passes.tile.scheduling_decision import Questions
from tilewright.passes.tile.scheduling_pass import SchedulingPass
from tilewright.passes.tile.warp_tiles import arranged


@dataclass(frozen=True)
class TensorCorePass(SchedulingPass, RewritePattern):
    """Add the products of a contraction by a matrix instruction of tensor cores."""

    name = "tensor-core"
    RULE: ClassVar[Rule] = Rule("t", 17, "tensor_core")

    instr: str | None = None
    """Matrix instruction, such as `m16n8k16_bf16`."""

    def reason_against(self, launch: tile.LaunchOp) -> str | None:
        if self.gpu.compute_capability < 80:
            return f"{self.target} has no such matrix instructions (sm_80 on)"
        if is_scheduled(launch.kernel, self.name) or is_scheduled(
            launch.kernel, "permute-register-tile"
        ):
            return "its register tile is arranged already"
        if not (reductions := innermost(launch)):
            return NO_CONTRACTION
        return self._reason_against_sides(launch) or _reason_against_factors(reductions)

    def _reason_against_sides(self, launch: tile.LaunchOp) -> str | None:
        """Reason why warps cannot own tiles of 16 rows by 8 columns, or None."""
        sides = sides_of(launch)
        if not sides:
            return "its threads own no rows and columns in registers (register-tile)"
        for side, lanes in zip(sides, (LANES_M, LANES_N), strict=True):
            kind = {Role.M: "rows", Role.N: "columns"}[side.role]
            if side.is_parted:
                return f"values are joined across %{side.hint} alone"
            if side.thread.extent % lanes or side.elements % 2:
                return (
                    f"{side.thread.extent} threads with {side.elements} {kind} each are no "
                    f"multiple of {lanes} with 2"
                )
        return None

    def questions(self, launch: tile.LaunchOp) -> Questions:
        return {"instr": [str(each) for each in self._instructions(launch)]}

    def reason_not_possible(self, launch: tile.LaunchOp) -> str | None:
        names = [str(each) for each in _instructions(innermost(launch))]
        if self.instr not in names:
            known = " or ".join(names) or "none"
            return f"instructions for its types: {known}; not {self.instr}{_hint(self.instr)}"
        if self.instruction.is_grouped and not self.gpu.has_warpgroups:
            return f"{self.target} has no instructions of warpgroups (sm_90a)"
        with arranged(launch, grouped=self.instruction.is_grouped) as new:
            found = [_products(op, self.instruction) for op in innermost(new)]
        return next((reason for reason in found if isinstance(reason, str)), None)

    def _instructions(self, launch: tile.LaunchOp) -> list[MatrixInstruction]:
        """
        Return the instructions to choose from: those of warpgroups only where they are possible.
        """
        found = _instructions(innermost(launch))
        return [i for i in found if not i.is_grouped or not self._reason_against_group(launch, i)]

    def _reason_against_group(
        self, launch: tile.LaunchOp, instruction: MatrixInstruction
    ) -> str | None:
        return replace(self, instr=str(instruction)).reason_not_possible(launch)

    @property
    def instruction(self) -> MatrixInstruction:
        """The chosen instruction."""
        assert self.instr is not None
        return MatrixInstruction(self.instr)

    @op_type_rewrite_pattern
    def match_and_rewrite(self, launch: tile.LaunchOp, rewriter: PatternRewriter) -> None:
        with arranged(launch, grouped=self.instruction.is_grouped) as new:
            rewriter.replace(launch, new)
        for op in innermost(new):
            _mask_slabs(op, rewriter)
            if self.instruction.is_grouped:
                _swizzle_slabs(op, rewriter)
            op.by = MatrixInstructionAttr(self.instruction)
            rewriter.notify_op_modified(op)


def _mask_slabs(op: loop.ReduceOp, rewriter: PatternRewriter) -> None:
    """Mask the slabs of the factors in place of the yield of a reduction."""
    if op.yield_op.mask is None:
        return
    pairs = factors_of(op)
    assert not isinstance(pairs, str)
    masks = slab_masks(op, [factor.load for pair in pairs for factor in pair])
    assert masks is not None
    for stage, mask in masks.items():
        old = stage.yield_op
        rewriter.replace(old, loop.YieldOp(old.values, conjunction([old.where, mask])))
    rewriter.replace(op.yield_op, loop.YieldOp(op.yield_op.values))


def _hint(name: str | None) -> str:
    """Return a hint for a name that PTX has for an instruction of warpgroups, or nothing."""
    named = re.fullmatch(r"m64n\d+(k16_b?f16)", name or "")
    return f" (write m64nN{named[1]}; N follows from the tile)" if named else ""


@memoised
def _products(op: loop.ReduceOp, instruction: MatrixInstruction) -> Sequence[object] | str:
    """Return the products of a reduction, or the reason why `instruction` cannot do them."""
    if instruction.is_grouped:
        return group_products(op, instruction, _swizzled)
    return matrix_products(op, instruction)


def _swizzled(stage: tile.StageOp) -> SlabLayoutAttr | str:
    """Return a slab's layout in spans that are as wide as they can be, for descriptors."""
    return swizzled_layout(stage, max(SWIZZLES))


def _swizzle_slabs(op: loop.ReduceOp, rewriter: PatternRewriter) -> None:
    """Swizzle the slabs of the factors, as the descriptors of matrices need."""
    pairs = factors_of(op)
    assert not isinstance(pairs, str)
    stages = {factor.load.memref.owner: None for pair in pairs for factor in pair}
    for stage in stages:
        assert isinstance(stage, tile.StageOp)
        if not isinstance(layout := _swizzled(stage), str):  # two reductions may share a slab
            set_layout(stage, layout, rewriter)


def _instructions(reductions: Sequence[loop.ReduceOp]) -> list[MatrixInstruction]:
    """Return the instructions that can multiply the factors of all reductions."""
    found = [instructions_for(op) for op in reductions]
    return [each for each in MatrixInstruction if all(each in some for some in found)]


def _reason_against_factors(reductions: Sequence[loop.ReduceOp]) -> str | None:
    """Reason why no instruction multiplies the factors of the reductions, or None."""
    for op in reductions:
        if isinstance(pairs := factors_of(op), str):
            return pairs
        if not instructions_for(op):
            types = dict.fromkeys(str(factor.element) for pair in pairs for factor in pair)
            return f"no matrix instruction multiplies elements of {' and '.join(types)}"
    return None
