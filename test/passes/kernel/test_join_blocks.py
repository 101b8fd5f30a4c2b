# SPDX-License-Identifier: Apache-2.0
"""
Values joined across blocks: NVRTC's code in the simulator, with all checks, compared with Tile IR.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeGuard

import numpy as np
import pytest
from needs import needs_nvrtc
from some_cases import all_only
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.memref import AllocOp
from xdsl.ir import Operation

from tilewright.api import lower
from tilewright.codegen.host_function import plan_of
from tilewright.codegen.launch_plan import Fill, Plan
from tilewright.codegen.mutations import mutations
from tilewright.codegen.plan_text import plan_text
from tilewright.codegen.poison import Array
from tilewright.codegen.simulator_backend import SimulatorBackend
from tilewright.dialects import kernel, loop
from tilewright.dialects.buffer_plan import set_offset
from tilewright.dialects.kernel.shared import share_bytes
from tilewright.errors import UsageError
from tilewright.interpreters import interpret
from tilewright.passes.rewriting.launching import with_main

pytestmark = needs_nvrtc

Parse = Callable[[str], ModuleOp]

JOINS = ["cluster", "last_block", "workspace"]

# Rows of 50, three blocks to a row, each thread with two elements; five rows in all.
PAIRS = """
loop.kernel @k(%x: memref<5x150xf32>) -> (%value: memref<5xf32>, %where: memref<5xi64>) {
  tile.launch (%s = block 3, %b = block 5, %t = thread 24, %v = register 2) {
    %0 = loop.load %x[%b, %s * 50 + %t * 2 + %v] : memref<5x150xf32>
    %1 = loop.index [%s * 50 + %t * 2 + %v] : i64
    %m, %i = tile.combine %0, %1 across %s, %t, %v with argmax
      where [149 - %s * 50 - %t * 2 - %v] join(JOIN) : f32, i64
    loop.store %m, %value[%b] where [0 - %t] : memref<5xf32>
    loop.store %i, %where[%b] where [0 - %t] : memref<5xi64>
  }
}"""

# Sums and sums of squares at once, from which mean and variance follow; registers are kept.
MOMENTS = """
loop.kernel @k(%x: memref<7x64x4xf32>) -> (%mean: memref<64x4xf32>, %var: memref<64x4xf32>) {
  %count = arith.constant 7.0 : f32
  tile.launch (%s = block 7, %b = block 2, %t = thread 32, %v = register 4) {
    %0 = loop.load %x[%s, %b * 32 + %t, %v] : memref<7x64x4xf32>
    %1 = arith.mulf %0, %0 : f32
    %sum, %squares = tile.combine %0, %1 across %s with add join(JOIN) : f32, f32
    %m = arith.divf %sum, %count : f32
    %2 = arith.divf %squares, %count : f32
    %3 = arith.mulf %m, %m : f32
    %4 = arith.subf %2, %3 : f32
    loop.store %m, %mean[%b * 32 + %t, %v] : memref<64x4xf32>
    loop.store %4, %var[%b * 32 + %t, %v] : memref<64x4xf32>
  }
}"""

# Booleans and a product of two axes of blocks; the threads do not fill warps.
ANY = """
loop.kernel @k(%x: memref<2x3x90xf32>) -> (%out: memref<90xi1>) {
  %zero = arith.constant 0.0 : f32
  tile.launch (%r = block 2, %b = block 2, %s = block 3, %t = thread 45) {
    %0 = loop.load %x[%r, %s, %b * 45 + %t] : memref<2x3x90xf32>
    %1 = arith.cmpf ogt, %0, %zero : f32
    %all = tile.combine %1 across %r, %s with and join(JOIN) : i1
    loop.store %all, %out[%b * 45 + %t] : memref<90xi1>
  }
}"""


def plan(parse: Parse, text: str) -> Plan:
    """Return the plan of a program that launches the kernel."""
    return plan_of(lower(with_main(parse(text)), "cuda"))


def simulated(plan: Plan, inputs: list[Array], target: str = "sm_90a") -> list[Array]:
    """Return the results, which must have no problems."""
    execution = SimulatorBackend(target).run(plan, inputs)
    assert not execution.problems
    return execution.results


def random(*shape: int) -> Array:
    """Return random floats."""
    return np.random.default_rng(0).standard_normal(shape, np.float32)


def check(parse: Parse, text: str, inputs: list[Array], target: str = "sm_90a") -> None:
    """Assert that the simulator gives the interpreter's results of Tile IR."""
    expected = interpret(parse(text), *inputs, function="k")
    results = simulated(plan(parse, text), inputs, target)
    for result, right in zip(results, expected, strict=True):
        np.testing.assert_allclose(result, right, rtol=1e-5, atol=1e-6)


# A row for each block; a block has one sum, one maximum and its position.
SINGLE = """
loop.kernel @k(%x: memref<2xBLOCKSx40xf32>)
    -> (%sum: memref<2xf32>, %value: memref<2xf32>, %where: memref<2xi64>) {
  tile.launch (%s = block BLOCKS, %b = block 2, %t = thread THREADS, %v = register 2) {
    %0 = loop.load %x[%b, %s, %t * 2 + %v] where [39 - %t * 2 - %v] : memref<2xBLOCKSx40xf32>
    %1 = loop.index [%s * 40 + %t * 2 + %v] : i64
    %a = tile.combine %0 across %s, %t, %v with add join(last_block) : f32
    %m, %i = tile.combine %0, %1 across %s, %t, %v with argmax
      where [39 - %t * 2 - %v] join(last_block) : f32, i64
    loop.store %a, %sum[%b] where [0 - %t] : memref<2xf32>
    loop.store %m, %value[%b] where [0 - %t] : memref<2xf32>
    loop.store %i, %where[%b] where [0 - %t] : memref<2xi64>
  }
}"""


@pytest.mark.parametrize(("threads", "blocks"), [(20, 29), all_only(32, 70), (96, 70)])
def test_threads_of_the_last_block_take_a_few_each(threads: int, blocks: int, parse: Parse) -> None:
    # Threads take several each, in warps or not, or one.
    text = SINGLE.replace("THREADS", str(threads)).replace("BLOCKS", str(blocks))
    check(parse, text, [random(2, blocks, 40) - 2])
    loads = [op for op in lower(parse(text), "kernel").walk() if is_partial(op)]
    assert {op.mask is not None for op in loads} == {True}


def is_partial(op: Operation) -> TypeGuard[loop.LoadOp]:
    """True if the op loads partial results of blocks from global memory."""
    return isinstance(op, loop.LoadOp) and (op.memref.name_hint or "").startswith("partials")


# Four rows, or as many threads, that compute the same sum: not all threads of a block join.
SAME = """
loop.kernel @k(%x: memref<3x32xf32>) -> (%out: memref<4x32xf32>) {
  tile.launch (%s = block 3, %r = thread 4, %t = thread 32) {
    %0 = loop.load %x[%s, LOADED] : memref<3x32xf32>
    %sum = tile.combine %0 across %s AXES with add join(last_block) : f32
    loop.store %sum, %out[%r, %t] : memref<4x32xf32>
  }
}"""


@pytest.mark.parametrize(("loaded", "axes"), [("%t", ", %t"), ("7", "")])
def test_threads_that_hold_the_value_of_a_block_and_do_not_join(
    loaded: str, axes: str, parse: Parse
) -> None:
    check(parse, SAME.replace("LOADED", loaded).replace(" AXES", axes), [random(3, 32)])


@pytest.mark.one_in(3)
@pytest.mark.parametrize("join", JOINS)
def test_pairs(join: str, parse: Parse) -> None:
    check(parse, PAIRS.replace("JOIN", join), [random(5, 150)])


@pytest.mark.one_in(3)
@pytest.mark.parametrize("join", JOINS)
def test_several_values(join: str, parse: Parse) -> None:
    check(parse, MOMENTS.replace("JOIN", join), [random(7, 64, 4)])


@pytest.mark.one_in(3)
@pytest.mark.parametrize("join", JOINS)
def test_booleans(join: str, parse: Parse) -> None:
    check(parse, ANY.replace("JOIN", join), [np.abs(random(2, 3, 90)) - 0.1])


def test_the_default_works_on_every_target(parse: Parse) -> None:
    text = MOMENTS.replace(" join(JOIN)", "")
    check(parse, text, [random(7, 64, 4)], "sm_80")


def test_all_blocks_of_a_cluster_continue(parse: Parse) -> None:
    # Values that differ between blocks are stored by each, and the others by one.
    check(
        parse,
        """
loop.kernel @k(%x: memref<3x80xf32>) -> (%out: memref<3x80xf32>, %sums: memref<3xf32>) {
  tile.launch (%b = block 3, %s = block 2, %t = thread 40) {
    %0 = loop.load %x[%b, %s * 40 + %t] : memref<3x80xf32>
    %m = tile.combine %0 across %s, %t with max join(cluster) : f32
    %1 = arith.subf %0, %m : f32
    %e = math.exp %1 : f32
    %sum = tile.combine %e across %s, %t with add join(cluster) : f32
    loop.store %sum, %sums[%b] where [0 - %t] : memref<3xf32>
    %2 = arith.divf %e, %sum : f32
    loop.store %2, %out[%b, %s * 40 + %t] : memref<3x80xf32>
  }
}""",
        [random(3, 80)],
    )


@pytest.mark.parametrize(
    ("monoid", "dtype"),
    [("add", "f32"), ("add", "i32"), ("add", "i64"), ("max", "i32"), ("min", "i64")],
)
def test_atomics(monoid: str, dtype: str, parse: Parse) -> None:
    text = f"""
loop.kernel @k(%x: memref<4x3x100x{dtype}>) -> (%out: memref<3x100x{dtype}>) {{
  tile.launch (%s = block 4, %b = block 3, %t = thread 128) {{
    %0 = loop.load %x[%s, %b, %t] where [99 - %t] : memref<4x3x100x{dtype}>
    %1 = tile.combine %0 across %s with {monoid} join(atomic) : {dtype}
    loop.store %1, %out[%b, %t] where [99 - %t] : memref<3x100x{dtype}>
  }}
}}"""
    values = random(4, 3, 100) * 100
    check(parse, text, [values.astype({"f32": "f4", "i32": "i4", "i64": "i8"}[dtype])])


# Rows of sums and sums of squares, by combines of their own; the second needs the values between.
SEVERAL = """
loop.kernel @k(%x: memref<4x64x4xf32>, %y: memref<4x64xf32>)
    -> (%mean: memref<64x4xf32>, %all: memref<64x4xf32>, %where: memref<64xi64>) {
  %count = arith.constant 4.0 : f32
  tile.launch (%s = block 4, %b = block 2, %t = thread 32, %v = register 4) {
    %0 = loop.load %x[%s, %b * 32 + %t, %v] : memref<4x64x4xf32>
    %sum = tile.combine %0 across %s with add join(JOIN) : f32
    %m = arith.divf %sum, %count : f32
    loop.store %m, %mean[%b * 32 + %t, %v] : memref<64x4xf32>
    %1 = loop.load %y[%s, %b * 32 + %t] : memref<4x64xf32>
    %2 = loop.index [%s] : i64
    %most, %first = tile.combine %1, %2 across %s with argmax join(JOIN) : f32, i64
    %3 = arith.mulf %0, %0 : f32
    %squares = tile.combine %3 across %s with add join(JOIN) : f32
    %4 = arith.addf %squares, %m : f32
    %5 = arith.mulf %4, %most : f32
    loop.store %5, %all[%b * 32 + %t, %v] : memref<64x4xf32>
    loop.store %first, %where[%b * 32 + %t] : memref<64xi64>
  }
}"""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("join", JOINS)
def test_several_combines(join: str, parse: Parse) -> None:
    check(parse, SEVERAL.replace("JOIN", join), [random(4, 64, 4), random(4, 64)])


def test_several_atomics(parse: Parse) -> None:
    check(
        parse,
        """
loop.kernel @k(%x: memref<4x96xf32>, %y: memref<4x96xi32>)
    -> (%sums: memref<96xf32>, %most: memref<96xi32>) {
  tile.launch (%s = block 4, %b = block 3, %t = thread 32) {
    %0 = loop.load %x[%s, %b * 32 + %t] : memref<4x96xf32>
    %sum = tile.combine %0 across %s with add join(atomic) : f32
    loop.store %sum, %sums[%b * 32 + %t] : memref<96xf32>
    %1 = loop.load %y[%s, %b * 32 + %t] : memref<4x96xi32>
    %greatest = tile.combine %1 across %s with max join(atomic) : i32
    loop.store %greatest, %most[%b * 32 + %t] : memref<96xi32>
  }
}""",
        [random(4, 96), (random(4, 96) * 100).astype("i4")],
    )


# An epilogue of REGISTERS for each of THREADS, divided among the blocks of a cluster. One of its
# stores is equal for all steps of one axis.
DIVIDED = """
loop.kernel @k(%x: memref<BLOCKSxROWSxTHREADSx4xf32>, %bias: memref<ROWSxf32>)
    -> (%out: memref<ROWSxTHREADSx4xf32>, %same: memref<ROWSxTHREADSxf32>) {
  tile.launch (%s = block BLOCKS, %t = thread THREADS, %i = register ROWS, %v = register 4) {
    %0 = loop.load %x[%s, %i, %t, %v] : memref<BLOCKSxROWSxTHREADSx4xf32>
    %sum = tile.combine %0 across %s with add join(cluster) : f32
    %1 = loop.load %bias[%i] : memref<ROWSxf32>
    %2 = arith.mulf %sum, %1 : f32
    loop.store %2, %out[%i, %t, %v] : memref<ROWSxTHREADSx4xf32>
    loop.store %1, %same[%i, %t] : memref<ROWSxTHREADSxf32>
  }
}"""


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("blocks", "rows", "threads", "how"),
    [
        (4, 4, 64, "registers"),
        (4, 8, 40, "registers"),
        (2, 6, 64, "registers"),
        (3, 4, 96, "threads"),
        (3, 2, 128, "threads"),
        (8, 3, 32, "one block"),
    ],
)
def test_an_epilogue_is_divided_among_blocks(
    blocks: int, rows: int, threads: int, how: str, parse: Parse
) -> None:
    text = DIVIDED.replace("BLOCKS", f"{blocks}").replace("ROWS", f"{rows}")
    text = text.replace("THREADS", f"{threads}")
    check(parse, text, [random(blocks, rows, threads, 4), random(rows)])
    module = lower(with_main(parse(text)), "kernel")
    branches = [op for op in module.walk() if isinstance(op, scf.IfOp)]
    assert len(branches) == {"registers": 0, "threads": 1, "one block": 3}[how]


def test_axes_of_registers_that_share_a_cluster(parse: Parse) -> None:
    # Eight blocks: two halves of one axis by four quarters of another.
    check(
        parse,
        """
loop.kernel @k(%x: memref<8x32x2x4x3xf32>)
    -> (%out: memref<32x2x4x3xf32>, %rows: memref<32x2xf32>) {
  tile.launch (%s = block 8, %t = thread 32, %i = register 2, %j = register 4, %v = register 3) {
    %0 = loop.load %x[%s, %t, %i, %j, %v] : memref<8x32x2x4x3xf32>
    %sum = tile.combine %0 across %s with max join(cluster) : f32
    loop.store %sum, %out[%t, %i, %j, %v] : memref<32x2x4x3xf32>
    %1 = loop.index [%i] : i32
    %2 = arith.sitofp %1 : i32 to f32
    loop.store %2, %rows[%t, %i] : memref<32x2xf32>
  }
}""",
        [random(8, 32, 2, 4, 3)],
    )


def test_values_from_before_the_join_are_not_divided(parse: Parse) -> None:
    # Each step of %i has a value from before the join, so threads are divided instead.
    text = """
loop.kernel @k(%x: memref<2x4x64xf32>, %y: memref<4x64xf32>) -> (%out: memref<4x64xf32>) {
  tile.launch (%s = block 2, %t = thread 64, %i = register 4) {
    %0 = loop.load %x[%s, %i, %t] : memref<2x4x64xf32>
    %1 = loop.load %y[%i, %t] : memref<4x64xf32>
    %sum = tile.combine %0 across %s with add join(cluster) : f32
    %2 = arith.addf %sum, %1 : f32
    loop.store %2, %out[%i, %t] : memref<4x64xf32>
  }
}"""
    check(parse, text, [random(2, 4, 64), random(4, 64)])


@pytest.mark.parametrize("rows", [3, 4])
def test_rows_joined_after_blocks(rows: int, parse: Parse) -> None:
    # A combine of threads follows: no thread may be omitted, but registers can be divided.
    text = """
loop.kernel @k(%x: memref<2xROWSx64xf32>) -> (%out: memref<ROWSxf32>) {
  tile.launch (%s = block 2, %t = thread 64, %i = register ROWS) {
    %0 = loop.load %x[%s, %i, %t] : memref<2xROWSx64xf32>
    %sum = tile.combine %0 across %s with add join(cluster) : f32
    %1 = math.exp %sum : f32
    %row = tile.combine %1 across %t with add : f32
    loop.store %row, %out[%i] where [0 - %t] : memref<ROWSxf32>
  }
}"""
    check(parse, text.replace("ROWS", f"{rows}"), [random(2, rows, 64)])


# A ring of two slots of 4 KiB; the partial results of a block, as large, take the slots' place.
RING = """
loop.kernel @k(%x: memref<2x3x1024xf32>) -> (%out: memref<1024xf32>) {
  tile.launch (%s = block 2, %t = thread 256, %v = register 4) {
    %sum = loop.reduce %k in 3 with add {
      %slab = tile.stage (%i) in [1024] ring(depth 2, lookahead 1) transport(cp_async) {
        %0 = loop.load %x[%s, %k, %i] : memref<2x3x1024xf32>
        loop.yield %0 : f32
      } : memref<1024xf32, 3 : i64>
      %1 = loop.load %slab[1023 - %t - %v * 256] : memref<1024xf32, 3 : i64>
      loop.yield %1 : f32
    } : f32
    %all = tile.combine %sum across %s with add join(cluster) : f32
    loop.store %all, %out[%t + %v * 256] : memref<1024xf32>
  }
}"""


def test_partial_results_take_the_place_of_slots(parse: Parse) -> None:
    x = random(2, 3, 1024)
    check(parse, RING, [x])
    module = lower(with_main(parse(RING)), "kernel")
    slots, partial = (op for op in module.walk() if isinstance(op, kernel.SharedOp))
    assert share_bytes(slots.memref, partial.memref)
    (barrier,) = (op for op in module.walk() if isinstance(op, kernel.BarrierOp))
    barrier.detach()
    execution = SimulatorBackend("sm_90a").run(plan_of(lower(module, "cuda")), [x])
    assert "race" in str(execution.problems)


def test_counters_are_kept_and_outputs_filled(parse: Parse) -> None:
    last = plan(parse, MOMENTS.replace("JOIN", "last_block"))
    (launch,) = last.launches
    *_, arrived = launch.outputs
    assert last.kept == (Fill(arrived, 0),)
    assert arrived not in last.slab.slots
    assert launch.scratch == launch.outputs[2:]
    assert launch.scratch[0] in last.slab.slots
    assert "kept from launch to launch\n  %arrived  int32[2]  8 B  filled with 0" in plan_text(last)


def test_counters_share_no_memory(parse: Parse) -> None:
    module = lower(with_main(parse(MOMENTS.replace("JOIN", "last_block"))), "cuda")
    allocs = [op for op in module.walk() if isinstance(op, AllocOp)]
    arrived = next(op for op in allocs if op.memref.name_hint == "arrived")
    set_offset(arrived, 1 << 16)
    with pytest.raises(
        UsageError, match="keeps %arrived between launches, but its memory is shared"
    ):
        plan_of(module)


def test_updated_outputs_are_filled_before_each_launch(parse: Parse) -> None:
    text = """
func.func @main(%x: memref<4x32xf32>, %y: memref<4x32xf32>) -> memref<32xf32> {
  %a = memref.alloc() : memref<32xf32>
  loop.launch @k(%x) -> (%a) : (memref<4x32xf32>) -> (memref<32xf32>)
  %b = memref.alloc() : memref<32xf32>
  loop.launch @minus(%a) -> (%b) : (memref<32xf32>) -> (memref<32xf32>)
  %c = memref.alloc() : memref<32xf32>
  loop.launch @k(%y) -> (%c) : (memref<4x32xf32>) -> (memref<32xf32>)
  %out = memref.alloc() : memref<32xf32>
  loop.launch @plus(%b, %c) -> (%out)
    : (memref<32xf32>, memref<32xf32>) -> (memref<32xf32>)
  func.return %out : memref<32xf32>
}
loop.kernel @k(%x: memref<4x32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%s = block 4, %t = thread 32) {
    %0 = loop.load %x[%s, %t] : memref<4x32xf32>
    %1 = tile.combine %0 across %s with add join(atomic) : f32
    loop.store %1, %out[%t] : memref<32xf32>
  }
}
loop.kernel @minus(%x: memref<32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%t = thread 32) {
    %0 = loop.load %x[%t] : memref<32xf32>
    %1 = arith.negf %0 : f32
    loop.store %1, %out[%t] : memref<32xf32>
  }
}
loop.kernel @plus(%x: memref<32xf32>, %y: memref<32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%t = thread 32) {
    %0 = loop.load %x[%t] : memref<32xf32>
    %1 = loop.load %y[%t] : memref<32xf32>
    %2 = arith.addf %0, %1 : f32
    loop.store %2, %out[%t] : memref<32xf32>
  }
}"""
    module, (x, y) = parse(text), random(2, 4, 32)
    program = plan_of(lower(module, "cuda"))
    filled = [launch.kernel for launch in program.launches if launch.fills]
    assert filled == ["k", "k"]
    assert "(%x) -> (%a filled with 0.0)" in plan_text(program)
    (result,) = simulated(program, [x, y])
    np.testing.assert_allclose(result, y.sum(0) - x.sum(0), rtol=1e-5, atol=1e-6)
    (result,) = interpret(lower(module, "kernel"), x, y)
    np.testing.assert_allclose(result, y.sum(0) - x.sum(0), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("rows", [4, 3])
def test_the_last_barrier_is_needed_in_both_halves(rows: int, parse: Parse) -> None:
    # Blocks divide four rows among themselves; of three rows, the first block does all.
    text = DIVIDED.replace("BLOCKS", "2").replace("ROWS", f"{rows}").replace("THREADS", "31")
    inputs = [random(2, rows, 31, 4), random(rows)]
    halves = kernel.ClusterArriveOp, kernel.ClusterWaitOp

    def fresh() -> tuple[ModuleOp, list[Operation]]:
        module = lower(with_main(parse(text)), "kernel")
        return module, [op for op in module.walk() if isinstance(op, halves)]

    _, ops = fresh()
    bugs = [(n, bug.what) for n, op in enumerate(ops) for bug in mutations(op)]
    assert "moved before what precedes" in {what for _, what in bugs}
    assert len(bugs) >= 3
    for number, what in bugs:
        module, ops = fresh()
        (bug,) = (bug for bug in mutations(ops[number]) if bug.what == what)
        bug.change(ops[number])
        execution = SimulatorBackend("sm_90a").run(plan_of(lower(module, "cuda")), inputs)
        assert execution.problems, f"{ops[number].name}: {what}"


def test_a_relaxed_arrival_does_not_end_reads_of_other_blocks(parse: Parse) -> None:
    text = DIVIDED.replace("BLOCKS", "2").replace("ROWS", "4").replace("THREADS", "32")
    right = plan(parse, text)
    release = "barrier.cluster.arrive.release.aligned"
    head, _, tail = right.source.rpartition(release)
    assert "cluster_arrive()" in head
    relaxed = f"{head}{release.replace('release', 'relaxed')}{tail}"
    execution = SimulatorBackend("sm_90a").run(
        replace(right, source=relaxed), [random(2, 4, 32, 4), random(4)]
    )
    assert "exited" in str(execution.problems)
