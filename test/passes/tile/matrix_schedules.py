# SPDX-License-Identifier: Apache-2.0
"""
Random schedules of products by matrix instructions: tiles, warps, splits of K with every join,
transposed slabs, rings of slots filled in every way, pads and swizzles.
"""

from typing import NamedTuple

from hypothesis import assume, note
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.pattern_rewriter import PatternRewriter

from tilewright.dialects import tile
from tilewright.dialects.matrix_instruction import GROUP_WARPS, LANES_M, LANES_N
from tilewright.interpreters.check import check_pass
from tilewright.interpreters.random_runs import RandomRuns
from tilewright.passes.driver.lowering import context
from tilewright.passes.driver.verification import verify_module
from tilewright.passes.tile.async_copy import AsyncCopyPass
from tilewright.passes.tile.blockify_launch import BlockifyLaunchPass
from tilewright.passes.tile.chunk_matmul_k import ChunkMatmulKPass
from tilewright.passes.tile.double_buffer import DoubleBufferPass
from tilewright.passes.tile.mark_unroll import MarkUnrollPass
from tilewright.passes.tile.pad_smem import PadSmemPass
from tilewright.passes.tile.pipeline_k_outer import PipelineKOuterPass
from tilewright.passes.tile.register_tile import RegisterTilePass
from tilewright.passes.tile.scheduling_decision import Answer, carry_out
from tilewright.passes.tile.scheduling_pass import SchedulingPass
from tilewright.passes.tile.split_inner_for_swizzle import SplitInnerForSwizzlePass
from tilewright.passes.tile.split_matmul_k import SplitMatmulKPass
from tilewright.passes.tile.stage_inputs import StageInputsPass
from tilewright.passes.tile.tensor_core import TensorCorePass
from tilewright.passes.tile.tileify import TileifyPass
from tilewright.passes.tile.tma_copy import TmaCopyPass

from .matrix_products import GROUPED, MatrixProduct
from .schedules.drawing import Draw

OPTIONAL: tuple[type[SchedulingPass], ...] = (
    DoubleBufferPass,
    TmaCopyPass,
    SplitInnerForSwizzlePass,
    AsyncCopyPass,
    PadSmemPass,
    PipelineKOuterPass,
    MarkUnrollPass,
)
"""Passes after `tensor-core`. Each takes a random one of its choices, or is left out."""

FACTORS = ("a", "au", "b", "bu", "c", "cu")
"""Arguments of a product from which its factors are loaded."""

WORK = 1 << 40
"""
Limit of the estimated work of a checked kernel. The estimate counts the work on a slab for each
element of a block.
"""

TRIES = 4
"""Number of random combinations of options, of which the first possible one is taken."""


class Tile(NamedTuple):
    """Rows and columns of a thread, and threads of a block along both."""

    fm: int
    fn: int
    rows: int
    columns: int

    @property
    def is_small(self) -> bool:
        """True if a thread has registers for the sums of two products."""
        return self.fm * self.fn <= 32

    def shape(self) -> tuple[int, int]:
        """Return the rows and columns of a block."""
        return self.fm * self.rows, self.fn * self.columns


TILES = [
    Tile(fm, fn, LANES_M * warps_m, LANES_N * warps_n)
    for fm, fn in ((2, 2), (2, 4), (4, 2), (4, 4), (2, 8), (8, 4), (4, 8), (8, 8))
    for warps_m, warps_n in ((1, 1), (2, 1), (1, 2), (2, 2), (1, 4))
]

GROUP_TILES = [
    Tile(fm, fn, LANES_M * GROUP_WARPS * groups_m, LANES_N * groups_n)
    for fm, fn in ((2, 4), (2, 8), (4, 8), (2, 16), (4, 16), (2, 24), (2, 32), (2, 64))
    for groups_m, groups_n in ((1, 1), (2, 1), (1, 2))
]
"""Tiles whose products warpgroups add."""


def parsed(product: MatrixProduct) -> ModuleOp:
    """Return the verified kernel of a product."""
    module = Parser(context(), product.text).parse_module()
    verify_module(module)
    return module


def scheduled(product: MatrixProduct, draw: Draw, target: str, *, checked: bool) -> ModuleOp:
    """
    Return the product with a random schedule. With `checked`, raise if a step changes its results.
    """
    note(f"\n{product.text}\n{target}")
    return _Schedule(product, draw, target, checked).module


class _Schedule:
    def __init__(self, product: MatrixProduct, draw: Draw, target: str, checked: bool):
        self.draw, self.target = draw, target
        self.module = parsed(product)
        self.before = self.module.clone() if checked else None
        self.runs = RandomRuns()
        TileifyPass(columns=True).apply(context(), self.module)
        least = 8 if "tf32" in product.instruction else 16
        chunks = [bk for bk in (8, 16, 32, 64) if least <= bk < 2 * max(product.steps, 8)]
        self._take(ChunkMatmulKPass(target, bk=draw.one(chunks)))
        self._choose(SplitMatmulKPass(target), out_of=2)
        self._assign(product)
        step = TensorCorePass(target, instr=product.instruction)
        if product.instruction in GROUPED:  # not every slab has a swizzle
            assume(step.reason_not_possible(self.launch) is None)
        self._take(step)
        for step in OPTIONAL:
            self._choose(step(target), out_of=4)

    @property
    def launch(self) -> tile.LaunchOp:
        """The only launch of the module."""
        (launch,) = tile.launches_of(self.module)
        return launch

    def _assign(self, product: MatrixProduct) -> None:
        """Assign tiles to blocks and to threads, whose factors come from slabs."""
        tiles = GROUP_TILES if product.instruction in GROUPED else TILES
        tiles = [each for each in tiles if each.is_small or not product.is_double]
        own = self.draw.one(tiles)
        m, n = own.shape()
        self._take(BlockifyLaunchPass(self.target, m=m, n=n))
        self._take(self._staged(), checked=False)  # each thread alone would be long to interpret
        vm, vn = (self.draw.one([v for v in (1, 2, 4) if f % v == 0]) for f in (own.fm, own.fn))
        step = RegisterTilePass(self.target, fm=own.fm, fn=own.fn, vm=vm, vn=vn, fk=1, min_blocks=0)
        if product.instruction in GROUPED:  # 128 sums may be too many
            assume(step.reason_not_possible(self.launch) is None)
        self._take(step)

    def _staged(self) -> SchedulingPass:
        """Return a random way to stage the factors, and perhaps other operands."""
        step, answers = StageInputsPass(self.target), dict[str, Answer]()
        for question, ways in step.questions(self.launch).items():
            computed = [way for way in ways if str(way).startswith("computed")]
            is_factor = question.removeprefix("operand ").split("-")[0] in FACTORS
            needed = [way for way in computed or ways if way != "none"]
            answers[question] = self.draw.one(needed if is_factor else [*ways])
        return step.with_answers(answers)

    def _choose(self, step: SchedulingPass, *, out_of: int) -> None:
        """Carry out a step with random options, or leave it out once `out_of` times."""
        if step.reason_against(self.launch) is not None or self.draw.chance(out_of):
            return
        questions = step.questions(self.launch)
        for _ in range(TRIES):
            chosen = step.with_answers({q: self.draw.one([*a]) for q, a in questions.items()})
            if chosen.reason_not_possible(self.launch) is None:
                return self._take(chosen)
        return None

    def _take(self, step: SchedulingPass, *, checked: bool = True) -> None:
        """Carry out a step, which must be possible, and check the module."""
        note(step.step())
        assert step.reason_against(self.launch) is None
        assert step.reason_not_possible(self.launch) is None
        carry_out(step, self.launch, PatternRewriter(self.launch))
        verify_module(self.module)
        if self.before is None or not checked:
            return
        before, name = self.before, step.name
        assert check_pass(before, self.module, name, runs=self.runs, max_work=WORK).compared
        self.before = self.module.clone()
