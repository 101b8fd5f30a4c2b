# SPDX-License-Identifier: Apache-2.0
"""The time model of a launch: each bound by hand, and the bounds of known kernels."""

from dataclasses import replace

import pytest
from machine_code import sass_of

from tilewright.codegen.report.estimate import Work, estimate, roofline_seconds
from tilewright.codegen.report.instruction import Category, Code, Instruction
from tilewright.codegen.report.work import work_of
from tilewright.dialects.target import LAUNCH_SECONDS, target
from tilewright.passes.cost.launch_cost import KernelCost

H100 = target("sm_90a")
CLOCK = 66.9e12 / (2 * 128 * 132)

IDLE = Work(
    blocks=132 * 4,
    resident_blocks=2,
    device_bytes=0,
    sector_bytes=0,
    instructions=0,
    float32=0,
    special=0,
    wavefronts=0,
    path_clocks=0,
)


@pytest.mark.parametrize(
    ("work", "part", "seconds"),
    [
        ({"device_bytes": 3.35e12}, "device memory", 1 / 0.9),
        ({"sector_bytes": 64 * 132 * 1e9}, "L2", 1e9 / CLOCK),
        ({"instructions": 4 * 132 * 1e9}, "issue", 1e9 / CLOCK),
        ({"float32": 4 * 132 * 1e9}, "float32", 1.2e9 / CLOCK),
        ({"mma": 4 * 132 * 1e9}, "tensor cores", 6e9 / CLOCK),
        ({"wgmma": 4 * 132 * 1e9}, "tensor cores", 4e9 / CLOCK),
        ({"special": 132 * 1e9}, "special functions", 2e9 / CLOCK),
        ({"wavefronts": 132 * 1e9}, "shared memory", 1e9 / CLOCK),
        ({"path_clocks": 1e9}, "latency", 2e9 / CLOCK),  # two rounds of 264 blocks
    ],
)
def test_each_part(work: dict[str, float], part: str, seconds: float):
    found = estimate(replace(IDLE, **work), H100)
    assert found.bound == part
    assert found.parts[part] == pytest.approx(seconds)
    assert found.seconds == pytest.approx(seconds + LAUNCH_SECONDS)


def test_the_sm_with_the_most_blocks_decides():
    even = estimate(replace(IDLE, blocks=132, instructions=132e9), H100)
    uneven = estimate(replace(IDLE, blocks=133, instructions=133e9), H100)
    assert uneven.parts["issue"] == pytest.approx(2 * even.parts["issue"])


def test_clusters_leave_multiprocessors_idle():
    """
    An SM has room for one block: 30 clusters of four run at a time, which is 120 of 132 blocks.
    """
    work = replace(IDLE, blocks=132, resident_blocks=1, instructions=132e9)
    alone, in_clusters = (estimate(replace(work, cluster=n), H100) for n in (1, 4))
    assert in_clusters.parts["issue"] == pytest.approx(2 * alone.parts["issue"])


def test_half_the_float_lanes_take_twice_the_clocks():
    a100 = target("sm_80")
    assert a100.clock == pytest.approx(1.41e9, rel=0.01)
    work = replace(IDLE, blocks=108, float32=108 * 4e9)
    assert estimate(work, a100).parts["float32"] == pytest.approx(2e9 / a100.clock)


def test_nothing_is_faster_than_a_launch():
    assert estimate(IDLE, H100).bound == "launch"
    assert estimate(IDLE, H100).seconds == LAUNCH_SECONDS


def test_the_roofline():
    assert roofline_seconds(66.9e12, 0, H100) == pytest.approx(1)
    assert roofline_seconds(0, 3.35e12, H100) == pytest.approx(1)
    assert roofline_seconds(H100.tensor_flops, 0, H100, matrix_bits=16) == pytest.approx(1)
    assert roofline_seconds(H100.tensor_flops, 0, H100, matrix_bits=32) == pytest.approx(2)


def _product(size: int) -> KernelCost:
    """Return the cost of `sgemm` for square matrices: a wavefront for each quarter of 128 bits."""
    blocks, steps = (size // 128) ** 2, size // 16
    accesses = blocks * 8 * steps * (64 + 4)
    return KernelCost(
        blocks=blocks,
        threads=256,
        flops=2 * size**3,
        global_bytes=12 * size**2,
        accessed_bytes=4 * (2 * size**3 // 128 + size**2),
        wavefronts=4 * accesses,
    )


def test_loops_run_as_often_as_their_work_needs():
    size, cost = 4096, _product(4096)
    work = work_of(sass_of("sgemm.cu")["sgemm"], cost, 1, cost.accessed_bytes, cost.wavefronts)
    multiply_adds = size**3 / 32
    assert work.float32 == pytest.approx(multiply_adds, rel=0.01)
    assert work.instructions == pytest.approx(multiply_adds / 0.91, rel=0.02)


def test_a_large_product_is_bound_by_its_arithmetic_and_not_by_memory():
    cost = _product(4096)
    code = sass_of("sgemm.cu")["sgemm"]
    work = work_of(code, cost, 1, cost.accessed_bytes, cost.wavefronts)
    found = estimate(work, H100)
    assert found.seconds > roofline_seconds(cost.flops, cost.global_bytes, H100)
    assert found.seconds < 1.5 * roofline_seconds(cost.flops, cost.global_bytes, H100)
    assert found.parts["device memory"] < 0.1 * found.seconds


def _half_product(size: int) -> KernelCost:
    """Return the cost of `mma_bf16` for square matrices: blocks stage 256 rows of each chunk."""
    blocks, chunks = (size // 128) ** 2, size // 64
    return KernelCost(
        blocks=blocks,
        threads=256,
        flops=2 * size**3,
        global_bytes=8 * size**2,
        accessed_bytes=blocks * chunks * 256 * 64 * 2 + 4 * size**2,
    )


def test_a_product_on_tensor_cores():
    """
    A block of 8 warps does a chunk of 64 by 64 `mma.sync` a warp, 768 clocks of 4 tensor cores, and
    by 24 `ldmatrix` a warp, 768 wavefronts.
    """
    size, cost = 4096, _half_product(4096)
    code = sass_of("tensor.cu")["mma_bf16"]
    work = work_of(code, cost, 1, cost.accessed_bytes, 0)
    chunks = cost.blocks * size / 64
    assert work.mma == pytest.approx(chunks * 8 * 64, rel=0.01)
    assert work.wavefronts == pytest.approx(chunks * 8 * 24 * 4, rel=0.01)
    found = estimate(work, H100)
    clocks = 8 * 64 * 768  # the busiest SM has 8 of 1024 blocks
    assert found.parts["tensor cores"] == pytest.approx(clocks / CLOCK, rel=0.01)
    assert found.parts["shared memory"] == pytest.approx(clocks / CLOCK, rel=0.01)
    assert found.seconds > roofline_seconds(cost.flops, cost.global_bytes, H100, 16)


def test_counted_wavefronts_include_conflicts_of_matrix_loads():
    cost = _half_product(512)
    code = sass_of("tensor.cu")["mma_bf16"]
    free = work_of(code, cost, 1, cost.accessed_bytes, 0).wavefronts
    assert work_of(code, cost, 1, cost.accessed_bytes, 2 * free).wavefronts == 2 * free
    assert work_of(code, cost, 1, cost.accessed_bytes, 0.5 * free).wavefronts == free


def _copy(elements: int, blocks: int) -> KernelCost:
    moved = 8 * elements
    return KernelCost(
        blocks=blocks, threads=256, flops=elements, global_bytes=moved, accessed_bytes=moved
    )


@pytest.mark.parametrize("kernel", ["scalar_copy", "vector_copy"])
def test_a_large_copy_is_bound_by_memory(kernel: str):
    cost = _copy(1 << 28, 132 * 8)
    work = work_of(sass_of("copies.cu")[kernel], cost, 8, cost.accessed_bytes, 0)
    found = estimate(work, H100)
    assert found.parts["device memory"] == pytest.approx(cost.global_bytes / 3.35e12 / 0.9)
    assert found.seconds < 2 * found.parts["device memory"]


def test_wide_accesses_wait_less_often():
    cost = _copy(1 << 24, 132)
    codes = sass_of("copies.cu")
    scalar, vector = (
        work_of(codes[name], cost, 1, cost.accessed_bytes, 0).path_clocks
        for name in ("scalar_copy", "vector_copy")
    )
    assert vector < scalar / 3


def test_code_without_loops_runs_once():
    cost = KernelCost(blocks=10, threads=64, flops=640, global_bytes=5120, accessed_bytes=7680)
    work = work_of(sass_of("odd.cu")["division"], cost, 1, cost.accessed_bytes, 0)
    assert work.instructions == 10 * 2 * 24


@pytest.mark.parametrize("elementwise", [1, 40])
def test_an_outer_loop_runs_as_often_as_its_loads_need(elementwise: int):
    def step(category: Category, bits: int = 0, target: int | None = None) -> Instruction:
        return Instruction("X", "", category, bits, target=target)

    start = 1 + elementwise
    inner = [*[step(Category.FFMA)] * 16, step(Category.CONTROL, target=start)]
    chunks = [
        step(Category.LDG, 128),
        *[step(Category.FLOAT)] * elementwise,
        *inner,
        step(Category.CONTROL, target=0),
    ]
    end = Instruction("EXIT", "", Category.CONTROL, falls_through=False)
    code = Code("SASS", (*chunks, end))
    flops = 32 * 10 * (8 * 32 + elementwise)
    cost = KernelCost(
        blocks=1, threads=32, flops=flops, accessed_bytes=32 * 10 * 16, global_bytes=1
    )
    work = work_of(code, cost, 1, cost.accessed_bytes, 0)
    assert work.float32 == 10 * (8 * 16 + elementwise)
    assert work.instructions == 10 * (8 * 17 + elementwise + 2) + 1
