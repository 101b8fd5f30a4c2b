# SPDX-License-Identifier: Apache-2.0
"""Work of reductions by matrix instructions at Tile IR, compared with numbers by hand."""

from functools import cache
from math import prod

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tilewright.dialects import kernel, loop, tile
from tilewright.dialects.matrix_instruction import MatrixInstruction
from tilewright.dialects.schedule import ScheduleAttr
from tilewright.dialects.target import MMA_FLOPS, target
from tilewright.passes.cost.kernel_cost import kernel_cost
from tilewright.passes.cost.launch_cost import KernelCost
from tilewright.passes.cost.matrix_clocks import WarpTile
from tilewright.passes.cost.matrix_work import MATRIX_LATENCY, MatrixWork, matrix_work
from tilewright.passes.driver.levels import Level
from tilewright.passes.driver.lowering import lower
from tilewright.passes.facts.register_axes import register_axes

from ...tuning.kernels import kernel_of

H100 = target("sm_90a")
BF16, TF32X3 = MatrixInstruction.M16N8K16_BF16, MatrixInstruction.M16N8K8_TF32X3
TYPES = {BF16: "bfloat16", TF32X3: "float32"}
SCHEDULE = (
    "tileify,chunk-matmul-k{{bk={bk}}},{split}blockify-launch{{m={m} n={n}}},stage-inputs,"
    "register-tile{{fm={fm} fn={fn} fk=1 min_blocks=1}},tensor-core{{instr={instr}}},"
    "double-buffer{{depth=2}},tma-copy,split-inner-for-swizzle,pipeline-k-outer,mark-unroll"
)


@cache
def nest_of(instr: MatrixInstruction) -> loop.KernelOp:
    """Return a product at Loop IR whose three sizes are 512."""
    factor = f"torch.randn(512, 512, dtype=torch.{TYPES[instr]})"
    return kernel_of(f"{factor} @ {factor}")


def product(instr: MatrixInstruction, **options: object) -> ModuleOp:
    """Return the Tile IR of the product with the options of its schedule."""
    nest = nest_of(instr).clone()
    nest.planned = ScheduleAttr.parse(SCHEDULE.format(instr=instr, **{"split": "", **options}))
    return lower(ModuleOp([nest]), Level.TILE, target="sm_90a")


def cost_of(module: ModuleOp) -> KernelCost:
    (cost,) = (
        kernel_cost(op) for op in module.ops if isinstance(op, loop.KernelOp | kernel.FuncOp)
    )
    return cost


def work_of(module: ModuleOp) -> MatrixWork:
    """Return the work of a warp in the only reduction by matrix instructions."""
    (launch,) = tile.launches_of(module)
    registers = register_axes(launch)

    def copies(value: SSAValue) -> int:
        return prod(registers.extents[axis] for axis in registers.of([value]))

    found = [matrix_work(op, copies) for op in launch.walk() if isinstance(op, loop.ReduceOp)]
    (work,) = [each for each in found if each is not None]
    return work


WARP = {"m": 128, "n": 128, "fm": 8, "fn": 8}


def test_a_warp_of_half_types():
    work = work_of(product(BF16, bk=64, **WARP))
    assert work.tile == WarpTile(64, 32, 64, BF16)
    assert (work.products, work.multiplications) == (1, 64)
    # four registers a load: 4 * 4 fragments of A with four each, 4 * 4 of B with two each
    assert work.loads == 16 + 8
    assert work.registers == 4 * 4 + 4 * 2
    assert (work.instructions, work.float32) == (64 + 24, 0)
    assert work.clocks(H100) == 64 * 6 + 24


def test_a_warp_that_splits_float32():
    work = work_of(product(TF32X3, bk=32, **WARP))
    assert work.tile == WarpTile(64, 32, 32, TF32X3)
    assert work.multiplications == 3 * 64
    # rows of B run across K, and `ldmatrix` cannot transpose float32: one load for each register
    assert work.loads == 4 * 4 + 4 * 4 * 2
    elements, sums = (64 + 32) * 32 // 32, 2 * 64
    assert work.instructions == 192 + work.loads + 4 * elements + 4 * sums
    assert work.float32 == 3 * elements + 4 * sums
    # high and low parts of 16 steps: 4 * 2 fragments of A and of B; main and cross sums
    assert work.registers == 2 * (8 * 4 + 8 * 2 + 4)


def test_steps_wait_for_each_other():
    work = work_of(product(BF16, bk=64, m=16, n=32, fm=2, fn=2))
    assert work.multiplications == 4
    assert work.clocks(H100) == 4 * MATRIX_LATENCY + work.loads


@pytest.mark.parametrize(("instr", "flops"), [(BF16, 2), (TF32X3, 3 * 2)])
def test_levels_agree_about_matrix_instructions(instr: MatrixInstruction, flops: int):
    module = product(instr, bk=32, **WARP)
    at_tile, at_kernel = (
        cost_of(lower(module, level, target="sm_90a")) for level in (Level.TILE, Level.KERNEL)
    )
    assert at_tile.matrix_flops == at_kernel.matrix_flops == flops * 512**3
    assert at_tile.mma == at_kernel.mma
    rest = (at_tile.flops - at_tile.matrix_flops) / (at_kernel.flops - at_kernel.matrix_flops)
    assert 0.8 < rest < 1.25 or instr is BF16


def test_matrix_instructions_have_their_own_rate():
    cost = KernelCost(flops=3e12, matrix_flops=2e12, mma=2e12 / MMA_FLOPS)
    lanes = KernelCost(flops=1e12)
    assert cost.seconds(H100) == lanes.seconds(H100)
    cores = KernelCost(flops=2e12, matrix_flops=2e12, mma=2e12 / MMA_FLOPS)
    assert 5 < lanes.seconds(H100) / cores.seconds(H100) < 10
    split = KernelCost(flops=2e12, matrix_flops=2e12, mma=4e12 / MMA_FLOPS)
    assert split.seconds(H100) == pytest.approx(2 * cores.seconds(H100), rel=0.01)


def test_sums_that_blocks_join_reuse_the_slabs():
    split = {"split": "split-matmul-k{factor=2 join=cluster},"}
    module = product(BF16, bk=64, **WARP, **split)
    at_tile, at_kernel = (
        cost_of(lower(module, level, target="sm_90a")) for level in (Level.TILE, Level.KERNEL)
    )
    assert at_tile.shared_bytes == pytest.approx(at_kernel.shared_bytes, abs=128)


MEASURED = [
    (BF16, 128, 256, 8, 16, 201),
    (BF16, 128, 128, 8, 16, 199),
    (BF16, 128, 128, 8, 8, 127),
    (BF16, 64, 64, 4, 8, 90),
    (BF16, 32, 64, 2, 8, 72),
    (BF16, 32, 32, 2, 4, 56),
    (TF32X3, 128, 128, 8, 8, 246),
    (TF32X3, 64, 64, 4, 8, 146),
    (TF32X3, 64, 64, 2, 8, 101),
    (TF32X3, 64, 64, 8, 4, 165),
]
"""Blocks with a thread's rows and columns, and the registers that NVRTC 13 gives for sm_90a."""


@pytest.mark.parametrize(("instr", "m", "n", "fm", "fn", "registers"), MEASURED)
def test_registers_are_about_those_of_nvrtc(
    instr: MatrixInstruction, m: int, n: int, fm: int, fn: int, registers: int
):
    cost = cost_of(product(instr, bk=64 if instr is BF16 else 32, m=m, n=n, fm=fm, fn=fn))
    assert cost.registers == pytest.approx(registers, rel=0.15)
