# SPDX-License-Identifier: Apache-2.0
"""
Assignment of rows and elements to blocks and threads: the problem that the planner reads, and its
choice.
"""

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import loop
from tilewright.dialects.target import TARGETS, target
from tilewright.dialects.tile import Join
from tilewright.passes.cost.time_models import reached_bandwidth
from tilewright.passes.tile.planner.element_assignment import (
    ApartLoads,
    ElementProblem,
    element_assignments,
)
from tilewright.passes.tile.planner.plan_schedules import Weighed, launched, weighed
from tilewright.passes.tile.planner.row_assignment import RowAssignment
from tilewright.passes.tile.planner.row_assignment_choice import row_assignments
from tilewright.passes.tile.planner.row_problem import RowProblem

Parse = Callable[[str], ModuleOp]

H100 = target("sm_90a")

SUM = RowProblem(
    rows=1,
    length=10_000_000,
    vector=4,
    are_columns=False,
    read=4,
    reread=4,
    written=0,
    loops=1,
    work=1,
    joins=1,
)
"""Sum of ten million elements."""

SOFTMAX = SUM._replace(length=131072, reread=12, written=4, loops=3, work=40, joins=2)


def best(problem: RowProblem, name: str = "sm_90a") -> RowAssignment:
    """Return the planner's first choice for `problem` on the target `name`."""
    return row_assignments(problem, target(name))[0]


@pytest.mark.parametrize("name", TARGETS)
def test_a_full_sum_gives_every_sm_work(name: str):
    assignment = best(SUM, name)
    assert assignment.blocks(SUM) >= target(name).sms
    assert assignment.vector == 4
    assert assignment.join is Join.LAST_BLOCK


def test_blocks_that_go_along_a_row_in_steps_fill_the_multiprocessors():
    # Few threads would have too few bytes in flight: the clock of 256 threads on each SM is 1.6
    # times that of 2048 threads, for a mean of squared differences.
    losses = SUM._replace(length=2**30, vector=1, read=8, reread=8, work=5)
    assignment = best(losses)
    assert assignment.block_threads * assignment.resident(losses, H100) == H100.max_threads_per_sm
    assert assignment.blocks(losses) == H100.sms * assignment.resident(losses, H100)
    few = RowAssignment(256, 1, 1, split=H100.sms)
    assert few.seconds(losses, H100) > 1.5 * assignment.seconds(losses, H100)


def test_a_row_that_no_block_shares_has_the_most_threads():
    # All of the few rows are in flight together, or not enough is.
    rows = SUM._replace(rows=H100.sms, vector=1)
    assert best(rows).blocks(rows) >= 2 * H100.sms


@pytest.mark.parametrize(
    ("kib", "measured"), [(4, 1.246), (8, 2.12), (16, 2.686), (32, 2.932), (64, 2.978)]
)
def test_the_bandwidth_by_bytes_in_flight_is_the_measured_one(kib: int, measured: float):
    # TB/s on an H100: benchmarks/results/nvidia-h100-80gb-hbm3/2026-11-26-e81d8f7/check.txt
    share = reached_bandwidth(kib * 1024, H100)
    assert share == pytest.approx(measured / 3.009, rel=0.1)


def test_a_short_row_is_left_to_one_block():
    # The join would take longer than the part of the row that each of several blocks would get.
    row = SUM._replace(length=2048, work=4)
    assert best(row).split == 1
    two = RowAssignment(128, 2, 4, split=2, join=Join.CLUSTER)
    assert two.seconds(row, H100) > best(row).seconds(row, H100)


def test_rows_used_after_the_join_join_in_a_cluster_or_not_at_all():
    few = SOFTMAX._replace(rows=4, length=1_000_000)
    assert best(few).split > 1
    assert best(few).join is Join.CLUSTER
    assert {assignment.split for assignment in row_assignments(few, target("sm_80"))} == {1}


def test_rows_too_long_for_a_block_are_in_the_registers_of_a_cluster():
    # Otherwise three loops over the row would each read it from device memory.
    many = SOFTMAX._replace(rows=512)
    assert best(many).in_registers(many)
    assert not best(many, "sm_80").in_registers(many)


def test_large_blocks_have_as_many_registers_as_the_model_assumes():
    # Without a limit, ptxas gives 33 registers to a thread: one block of 1,024 threads on an SM.
    rows = SOFTMAX._replace(rows=4096, length=16384)
    assert (best(rows).threads, best(rows).resident(rows, H100)) == (1024, 2)
    assert best(rows).min_blocks(rows, H100) == 2
    assert any("min_blocks=2" in step for step in best(rows).pipeline(rows, H100))
    few = rows._replace(rows=H100.sms)
    assert best(few).min_blocks(few, H100) == 0  # one block for each SM
    short = rows._replace(length=1024)
    assert best(short).min_blocks(short, H100) == 0  # small blocks


def test_rows_without_a_reduction_are_not_split():
    plain = SUM._replace(joins=0, written=4)
    assert {assignment.split for assignment in row_assignments(plain, H100)} == {1}


def test_odd_rows_are_accessed_one_by_one():
    assert best(SUM._replace(length=50257, rows=64, vector=1)).vector == 1


def test_elements_are_accessed_widely_where_all_sms_have_work():
    many = ElementProblem(1_000_000, vector=4, moved=8, accesses=2, work=1)
    assert element_assignments(many, H100)[0].vector == 4
    few = many._replace(elements=1000)
    assert element_assignments(few, H100)[0].vector == 1


def _weighed(parse: Parse, body: str, arguments: str) -> Weighed:
    module = parse(f"loop.kernel @k({arguments}) {{ {body} }}")
    kernel = next(op for op in module.ops if isinstance(op, loop.KernelOp))
    found = weighed(launched(kernel)[1], H100)
    assert found is not None
    return found


def test_the_problem_is_read_off_the_kernel(parse: Parse):
    found = _weighed(
        parse,
        """loop.for %i in 6 {
          %m = loop.reduce %k in 1000 with max {
            %0 = loop.load %x[%i, %k] : memref<6x1000xf16>
            %1 = arith.extf %0 : f16 to f32
            loop.yield %1 : f32
          } : f32
          %s = loop.reduce %k in 1000 with add {
            %0 = loop.load %x[%i, %k] : memref<6x1000xf16>
            %1 = arith.extf %0 : f16 to f32
            %2 = arith.subf %1, %m : f32
            loop.yield %2 : f32
          } : f32
          loop.for %j in 1000 {
            %3 = loop.load %w[%j] : memref<1000xf32>
            %4 = arith.mulf %3, %s : f32
            loop.store %4, %out[%i, %j] : memref<6x1000xf32>
          }
        }""",
        "%x: memref<6x1000xf16>, %w: memref<1000xf32>) -> (%out: memref<6x1000xf32>",
    )
    problem = found.problem
    assert isinstance(problem, RowProblem)
    assert problem[:4] == (6, 1000, 4, False)
    assert (problem.read, problem.reread, problem.written) == (2 + 4, 2 + 2 + 4, 4)
    assert (problem.loops, problem.joins) == (3, 2)
    assert str(problem) == (
        "6 rows of 1000; an element is 6 B to read and 4 B to write; joined 2 times"
    )
    assert found.seconds(found.choices[0]) <= min(map(found.seconds, found.choices)) * 1.05


def test_columns_are_accessed_widely_across(parse: Parse):
    found = _weighed(
        parse,
        """loop.for %j in 4096 {
          %s = loop.reduce %k in 4096 with add {
            %0 = loop.load %x[%k, %j] : memref<4096x4096xf32>
            loop.yield %0 : f32
          } : f32
          loop.store %s, %out[%j] : memref<4096xf32>
        }""",
        "%x: memref<4096x4096xf32>) -> (%out: memref<4096xf32>",
    )
    assignment = found.choices[0]
    assert isinstance(assignment, RowAssignment)
    assert (assignment.columns, assignment.vector) == (True, 4)


def test_shifted_rows_are_accessed_one_by_one(parse: Parse):
    # Four neighbours that begin at an odd offset lie in two vectors.
    found = _weighed(
        parse,
        """loop.for %i in 64, %j in 64 {
          %0 = loop.load %x[%i, %j + 1] : memref<64x68xf32>
          loop.store %0, %out[%i, %j] : memref<64x64xf32>
        }""",
        "%x: memref<64x68xf32>) -> (%out: memref<64x64xf32>",
    )
    assert isinstance(found.problem, ElementProblem)
    assert found.problem.vector == 1


_POOL = """loop.for %i in 64, %j in 4096 {{
  %s = loop.reduce %k in {steps} with max {{
    %0 = loop.load %x[%i, %j * 2 + %k] : memref<64x8320xf32>
    loop.yield %0 : f32
  }} : f32
  loop.store %s, %out[%i, %j] : memref<64x4096xf32>
}}"""
_POOLED = "%x: memref<64x8320xf32>) -> (%out: memref<64x4096xf32>"


def test_neighbours_whose_loads_are_apart_belong_to_different_threads(parse: Parse):
    # With two neighbours in a thread, each load of a warp would ask for twice the sectors.
    found = _weighed(parse, _POOL.format(steps=9), _POOLED)
    assert isinstance(found.problem, ElementProblem)
    assert found.problem.apart == [ApartLoads(times=9, size=4, stride=2)]
    assert (found.problem.vector, found.choices[0].elements) == (4, 1)
    assert [found.problem.asked(vector) for vector in (1, 2, 4, 8)] == [76, 148, 292, 292]
    # Without rereads memory takes longest, and wide stores are better.
    copied = found.problem._replace(apart=[ApartLoads(times=1, size=4, stride=2)])
    assert element_assignments(copied, H100)[0].vector == 4


@pytest.mark.parametrize(
    ("steps", "limit"), [(9, ""), (16, ""), (17, "{limit=17}"), (27, "{limit=27}")]
)
def test_windows_are_unrolled(steps: int, limit: str, parse: Parse):
    found = _weighed(parse, _POOL.format(steps=steps), _POOLED)
    assert found.pipeline()[-1] == f"mark-unroll{limit}"
