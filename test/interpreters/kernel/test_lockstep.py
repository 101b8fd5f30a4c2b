# SPDX-License-Identifier: Apache-2.0
"""Kernel IR with threads in lockstep, and races that only another order of execution would show."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilewright.interpreters import interpret
from tilewright.interpreters.errors import InterpreterError

Parse = Callable[[str], ModuleOp]
Rand = Callable[..., NDArray[np.float32]]

SHARED = "memref<64xf32, 3>"


def kernel(body: str, *, grid: int = 2, block: int = 64, size: int = 128) -> str:
    """Return a kernel @k over %x and %out, with %b, %t and some constants defined."""
    return f"""
      kernel.func grid {grid} block {block} @k(%x: memref<{size}xf32>)
          -> (%out: memref<{size}xf32>) {{
        %b = kernel.block_id
        %t = kernel.thread_id
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c5 = arith.constant 5 : index
        {body}
      }}"""


LOAD = "%v = loop.load %x[%b * 64 + %t] : memref<128xf32>\n"
STORE = "loop.store %r, %out[%b * 64 + %t] : memref<128xf32>\n"


def test_block_sum_by_shuffles_and_shared_memory(parse: Parse, rand: Rand) -> None:
    rounds = "\n".join(
        f"%o{n} = kernel.shuffle xor %{'v' if n == 16 else f's{2 * n}'}, {n} width 32 : f32\n"
        f"%s{n} = arith.addf %{'v' if n == 16 else f's{2 * n}'}, %o{n} : f32"
        for n in (16, 8, 4, 2, 1)
    )
    module = parse(
        kernel(f"""
      {LOAD}
      {rounds}
      %warp = kernel.index [%t floordiv 32]
      %partial = kernel.shared : memref<2xf32, 3>
      %leads = loop.predicate [0 - %t mod 32] : i1
      scf.if %leads {{
        loop.store %s1, %partial[%warp] : memref<2xf32, 3>
      }}
      kernel.barrier
      %p0 = loop.load %partial[0] : memref<2xf32, 3>
      %p1 = loop.load %partial[1] : memref<2xf32, 3>
      %r = arith.addf %p0, %p1 : f32
      {STORE}""")
    )
    x = rand(128)
    (result,) = interpret(module, x, function="k", dtype=np.float64)
    sums = x.reshape(2, 64).astype(np.float64).sum(1)
    np.testing.assert_allclose(result, np.repeat(sums, 64), rtol=1e-12)


# The lane that each thread reads: its own number ^ offset, or one lane of its segment.
SHUFFLES: list[tuple[str, Callable[[NDArray[np.int64]], NDArray[np.int64]]]] = [
    ("xor %v, 3 width 4", lambda t: t ^ 3),
    ("xor %v, 16 width 32", lambda t: t ^ 16),
    ("idx %v, 0 width 32", lambda t: t // 32 * 32),
    ("idx %v, 5 width 8", lambda t: t // 8 * 8 + 5),
]


@pytest.mark.parametrize(("shuffle", "source"), SHUFFLES)
def test_shuffle(
    parse: Parse, rand: Rand, shuffle: str, source: Callable[[NDArray[np.int64]], NDArray[np.int64]]
) -> None:
    module = parse(kernel(f"{LOAD} %r = kernel.shuffle {shuffle} : f32\n {STORE}"))
    x = rand(128)
    (result,) = interpret(module, x, function="k")
    np.testing.assert_array_equal(result, x[source(np.arange(128))])


def test_a_shuffle_of_a_uniform_value(parse: Parse, rand: Rand) -> None:
    module = parse(
        kernel(f"""
      %v = loop.load %x[%b] : memref<128xf32>
      %r = kernel.shuffle xor %v, 1 width 32 : f32
      {STORE}""")
    )
    x = rand(128)
    (result,) = interpret(module, x, function="k")
    np.testing.assert_array_equal(result, np.repeat(x[:2], 64))


def test_threads_take_different_branches(parse: Parse, rand: Rand) -> None:
    module = parse(
        kernel(f"""
      {LOAD}
      %p = loop.predicate [40 - %t, %t - 3] : i1
      %r = scf.if %p -> (f32) {{
        %q = loop.predicate [%t - 10] : i1
        %n = scf.if %q -> (f32) {{
          %0 = arith.negf %v : f32
          scf.yield %0 : f32
        }} else {{
          scf.yield %v : f32
        }}
        scf.yield %n : f32
      }} else {{
        %1 = arith.addf %v, %v : f32
        scf.yield %1 : f32
      }}
      {STORE}""")
    )
    x = rand(128)
    (result,) = interpret(module, x, function="k")
    t = np.arange(128) % 64
    inside = np.where(t >= 10, -x, x)
    np.testing.assert_array_equal(result, np.where((t >= 3) & (t <= 40), inside, 2 * x))


def test_a_loop_with_a_trip_count_for_each_thread(parse: Parse, rand: Rand) -> None:
    module = parse(
        kernel(f"""
      {LOAD}
      %r = scf.for %k = %c0 to %t step %c5 iter_args(%a = %v) -> (f32) {{
        %0 = arith.addf %a, %v : f32
        scf.yield %0 : f32
      }}
      {STORE}""")
    )
    x = rand(128)
    (result,) = interpret(module, x, function="k", dtype=np.float64)
    trips = -(-(np.arange(128) % 64) // 5)
    np.testing.assert_allclose(result, x.astype(np.float64) * (1 + trips), rtol=1e-12)


def test_local_memory_belongs_to_a_thread(parse: Parse, rand: Rand) -> None:
    module = parse(
        kernel(f"""
      {LOAD}
      %m = memref.alloca() : memref<3xf32>
      loop.for %i in 3 {{
        %0 = loop.load %x[%b * 64 + %i] : memref<128xf32>
        %1 = arith.addf %0, %v : f32
        loop.store %1, %m[%i] : memref<3xf32>
      }}
      %r = loop.reduce %i in 3 with add {{
        %2 = loop.load %m[%i] : memref<3xf32>
        loop.yield %2 : f32
      }} : f32
      {STORE}""")
    )
    x = rand(128)
    (result,) = interpret(module, x, function="k", dtype=np.float64)
    rows = x.reshape(2, 64).astype(np.float64)
    np.testing.assert_allclose(
        result.reshape(2, 64), rows[:, :3].sum(1, keepdims=True) + 3 * rows, rtol=1e-12
    )


def test_many_blocks_run_in_batches(parse: Parse) -> None:
    module = parse("""
      kernel.func grid 5000 block 64 @k(%x: memref<320000xf32>) -> (%out: memref<320000xf32>) {
        %b = kernel.block_id
        %t = kernel.thread_id
        %s = kernel.shared : memref<64xf32, 3>
        %0 = loop.load %x[%b * 64 + %t] : memref<320000xf32>
        loop.store %0, %s[%t] : memref<64xf32, 3>
        kernel.barrier
        %1 = loop.load %s[63 - %t] : memref<64xf32, 3>
        loop.store %1, %out[%b * 64 + %t] : memref<320000xf32>
      }""")
    x = np.arange(320_000, dtype=np.float32)
    (result,) = interpret(module, x, function="k")
    assert (result.reshape(5000, 64) == x.reshape(5000, 64)[:, ::-1]).all()


WRITE_SLAB = f"%s = kernel.shared : {SHARED}\n loop.store %v, %s[%t] : {SHARED}\n"
READ_OTHER = f"%r = loop.load %s[63 - %t] : {SHARED}\n"

WRONG = {
    "a shared slot that is never written": (
        f"{LOAD} %s = kernel.shared : {SHARED}\n {READ_OTHER} {STORE}",
        r"reads element \[63\], which nothing has written",
    ),
    "read without a barrier": (
        f"{LOAD} {WRITE_SLAB} {READ_OTHER} {STORE}",
        r"thread 0 reads element \[63\] while another thread writes it .*kernel.barrier",
    ),
    "overwritten without a barrier": (
        f"""{LOAD} {WRITE_SLAB} kernel.barrier
        {READ_OTHER} %w = arith.negf %r : f32
        loop.store %w, %s[%t] : {SHARED}
        {STORE}""",
        r"thread 0 writes element \[0\] while another thread uses it .*kernel.barrier",
    ),
    "overwritten in the next step of a loop": (
        f"""scf.for %k = %c0 to %c5 step %c1 {{
          %w = loop.load %x[(%k * 40 + %t) mod 128] : memref<128xf32>
          %s = kernel.shared : {SHARED}
          loop.store %w, %s[%t] : {SHARED}
          kernel.barrier
          {READ_OTHER}
        }}""",
        r"thread 0 writes element \[0\] while another thread uses it .*kernel.barrier",
    ),
    "two threads, one shared slot": (
        f"{LOAD} %s = kernel.shared : {SHARED}\n loop.store %v, %s[0] : {SHARED}",
        r"element \[0\] is stored twice",
    ),
    "written again by another thread": (
        f"""{LOAD} {WRITE_SLAB} %w = arith.negf %v : f32
        loop.store %w, %s[63 - %t] : {SHARED}""",
        r"thread 0 writes element \[63\] while another thread uses it",
    ),
    "two blocks, one output": (
        f"{LOAD} loop.store %v, %out[%t] : memref<128xf32>",
        r"element \[0\] is stored twice",
    ),
    "a barrier that some threads miss": (
        "%p = loop.predicate [40 - %t] : i1\n scf.if %p { kernel.barrier }",
        r"only some threads of block 0 reach this barrier",
    ),
    "a barrier in a loop that threads leave": (
        "scf.for %k = %c0 to %t step %c1 { kernel.barrier }",
        r"only some threads of block 0 reach this barrier",
    ),
    "a shuffle that some lanes miss": (
        f"""{LOAD} %p = loop.predicate [40 - %t] : i1
        scf.if %p {{ %o = kernel.shuffle xor %v, 1 width 32 : f32 }}""",
        r"only some lanes of warp 1 of block 0 are active",
    ),
    "an input that is written": (
        f"{LOAD} loop.store %v, %x[%b * 64 + %t] : memref<128xf32>",
        r"stores to %x, which is an input",
    ),
    "out of bounds": (
        "%r = loop.load %x[%b * 65 + %t] : memref<128xf32>",
        r"subscript 0 of %x is 128, out of bounds",
    ),
    "an index that leaves through kernel.index": (
        "%i = kernel.index [%b * 64 + %t - 1]\n %r = loop.load %x[%i] : memref<128xf32>",
        r"subscript 0 of %x is -1, out of bounds",
    ),
    "a step of zero": (
        "scf.for %k = %c0 to %c5 step %c0 { scf.yield }",
        r"the step 0 must be at least 1",
    ),
    "half of the output": (
        f"{LOAD} loop.store %v, %out[%b * 64 + %t] where [0 - %b] : memref<128xf32>",
        r"nothing writes element \[64\] of %out",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_program(parse: Parse, rand: Rand, case: str) -> None:
    body, message = WRONG[case]
    with pytest.raises(InterpreterError, match=message):
        interpret(parse(kernel(body)), rand(128), function="k")


def test_barriers_make_these_programs_right(parse: Parse, rand: Rand) -> None:
    module = parse(
        kernel(f"""
      {LOAD} {WRITE_SLAB}
      kernel.barrier
      %q = loop.load %s[63 - %t] : {SHARED}
      kernel.barrier
      %w = arith.negf %q : f32
      loop.store %w, %s[%t] : {SHARED}
      kernel.barrier
      {READ_OTHER}
      {STORE}""")
    )
    x = rand(128)
    (result,) = interpret(module, x, function="k")
    np.testing.assert_array_equal(result, -x)


def test_a_branch_taken_by_whole_warps_or_blocks_may_synchronize(parse: Parse, rand: Rand) -> None:
    module = parse(
        kernel(f"""
      {LOAD}
      %warp = loop.predicate [31 - %t] : i1
      %r = scf.if %warp -> (f32) {{
        %o = kernel.shuffle xor %v, 1 width 32 : f32
        scf.yield %o : f32
      }} else {{
        scf.yield %v : f32
      }}
      %block = loop.predicate [0 - %b] : i1
      scf.if %block {{
        kernel.barrier
      }}
      {STORE}""")
    )
    x = rand(128)
    (result,) = interpret(module, x, function="k")
    index = np.arange(128)
    np.testing.assert_array_equal(result, x[np.where(index % 64 < 32, index ^ 1, index)])


def test_a_shuffle_in_a_nest_that_whole_blocks_reach(parse: Parse, rand: Rand) -> None:
    def module(bound: str) -> ModuleOp:
        return parse(
            kernel(f"""
      {LOAD}
      %r = kernel.registers : memref<3xf32, 5>
      kernel.unroll %i in 3 {{ loop.store %v, %r[%i] : memref<3xf32, 5> }}
      %some = loop.predicate [{bound}] : i1
      scf.if %some {{
        kernel.unroll %i in 3 {{
          %0 = loop.load %r[%i] : memref<3xf32, 5>
          %1 = kernel.shuffle xor %0, 1 width 32 : f32
          loop.store %1, %r[%i] : memref<3xf32, 5>
        }}
      }}
      %last = loop.load %r[2] : memref<3xf32, 5>
      loop.store %last, %out[%b * 64 + %t] : memref<128xf32>""")
        )

    x = rand(128)
    (result,) = interpret(module("0 - %b"), x, function="k")
    index = np.arange(128)
    np.testing.assert_array_equal(result, x[np.where(index < 64, index ^ 1, index)])
    with pytest.raises(InterpreterError, match="only some lanes of warp 1 of block 0 are active"):
        interpret(module("40 - %t"), x, function="k")


def test_a_barrier_orders_only_the_block_that_passes_it(parse: Parse, rand: Rand) -> None:
    # Block 0 waits between write and read; block 1 does not, and has the race.
    module = parse(
        kernel(f"""
      {LOAD} {WRITE_SLAB}
      %block = loop.predicate [0 - %b] : i1
      scf.if %block {{
        kernel.barrier
      }}
      {READ_OTHER} {STORE}""")
    )
    with pytest.raises(InterpreterError, match="while another thread writes it"):
        interpret(module, rand(128), function="k")


def test_a_shuffle_from_a_lane_that_does_not_exist(parse: Parse, rand: Rand) -> None:
    module = parse("""
      kernel.func grid 1 block 40 @k(%x: memref<40xf32>) -> (%out: memref<40xf32>) {
        %t = kernel.thread_id
        %v = loop.load %x[%t] : memref<40xf32>
        %r = kernel.shuffle xor %v, 16 width 32 : f32
        loop.store %r, %out[%t] : memref<40xf32>
      }""")
    with pytest.raises(InterpreterError, match="reads from thread 55, but a block has 40"):
        interpret(module, rand(40), function="k")


def test_only_active_threads_need_an_index(parse: Parse, rand: Rand) -> None:
    # The masked load of thread 70 would have the index 70, which is out of bounds.
    module = parse(
        kernel(f"""
      {LOAD}
      %n = loop.index [%b * 64 + %t] : i64
      %p = loop.predicate [63 - %b * 64 - %t] : i1
      %r = scf.if %p -> (f32) {{
        %s = loop.to_index %n below 64 : i64
        %w = loop.load %x[63 - %s] : memref<128xf32>
        scf.yield %w : f32
      }} else {{
        scf.yield %v : f32
      }}
      {STORE}""")
    )
    x = rand(128)
    (actual,) = interpret(module, x, function="k")
    np.testing.assert_array_equal(actual, np.concatenate([x[63::-1], x[64:]]))
