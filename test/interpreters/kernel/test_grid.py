# SPDX-License-Identifier: Apache-2.0
"""
Blocks that are joined in Kernel IR: right programs, and errors when an op is dropped or moved.

A mistake is a replacement in the text of the program.
"""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilewright.interpreters import interpret
from tilewright.interpreters.errors import InterpreterError

Parse = Callable[[str], ModuleOp]

IDS = """%b = kernel.block_id
  %t = kernel.thread_id
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32"""

CLUSTER = f"""
kernel.func grid 6 block 32 cluster 3 @k(%x: memref<6x32xf32>) -> (%out: memref<2x32xf32>) {{
  {IDS}
  %0 = loop.load %x[%b, %t] : memref<6x32xf32>
  %partial = kernel.shared : memref<32xf32, 3 : i64>
  loop.store %0, %partial[31 - %t] : memref<32xf32, 3 : i64>
  kernel.cluster_barrier
  %first = loop.predicate [0 - %b mod 3] : i1
  scf.if %first {{
    %sum = scf.for %r = %c0 to %c3 step %c1 iter_args(%acc = %zero) -> (f32) {{
      %theirs = kernel.remote %partial of %r : memref<32xf32, 3 : i64>
      %1 = loop.load %theirs[31 - %t] : memref<32xf32, 3 : i64>
      %2 = arith.addf %acc, %1 : f32
      scf.yield %2 : f32
    }}
    loop.store %sum, %out[%b floordiv 3, %t] : memref<2x32xf32>
  }}
  kernel.cluster_barrier // the end
}}"""

# The first block of a cluster arrives once it has read, and the others before; all wait at the end.
SPLIT = CLUSTER.replace(
    "    loop.store %sum",
    "    kernel.cluster_arrive // of the reader\n    loop.store %sum",
).replace(
    "  kernel.cluster_barrier // the end",
    """  %others = loop.predicate [%b mod 3 - 1] : i1
  scf.if %others {
    kernel.cluster_arrive // of the others
  }
  kernel.cluster_wait // the end""",
)

LAST_BLOCK = f"""
kernel.func grid 6 block 32 @k(%x: memref<6x32xf32>) -> (%out: memref<2x32xf32>,
    %partials: memref<2x3x32xf32> {{plan.scratch}},
    %arrived: memref<2xi32> {{plan.initial = 0 : i32, plan.scratch}}) {{
  {IDS}
  %0 = loop.load %x[%b, %t] : memref<6x32xf32>
  loop.store %0, %partials[%b floordiv 3, %b mod 3, %t] : memref<2x3x32xf32>
  %last = kernel.arrive %arrived[%b floordiv 3] of 3 : memref<2xi32>
  scf.if %last {{
    %sum = scf.for %r = %c0 to %c3 step %c1 iter_args(%acc = %zero) -> (f32) {{
      %1 = loop.load %partials[%b floordiv 3, %r, %t] : memref<2x3x32xf32>
      %2 = arith.addf %acc, %1 : f32
      scf.yield %2 : f32
    }}
    loop.store %sum, %out[%b floordiv 3, %t] : memref<2x32xf32>
  }}
}}"""

ATOMIC = f"""
kernel.func grid 6 block 32 @k(%x: memref<6x32xf32>)
    -> (%out: memref<2x32xf32> {{plan.initial = 0.0 : f32}}) {{
  {IDS}
  %0 = loop.load %x[%b, %t] : memref<6x32xf32>
  kernel.atomic %0 into %out[%b floordiv 3, %t] with add : memref<2x32xf32>
}}"""


def inputs() -> NDArray[np.float32]:
    """Return rows, of which each group of three blocks computes the sum."""
    return np.random.default_rng(0).standard_normal((6, 32), np.float32)


@pytest.mark.parametrize(
    "text",
    [CLUSTER, SPLIT, LAST_BLOCK, ATOMIC],
    ids=["cluster", "split", "last", "atomic"],
)
@pytest.mark.parametrize("lanes", [1 << 17, 32])
def test_three_blocks_are_joined(
    text: str, lanes: int, parse: Parse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All blocks run at a time, or as few as possible."""
    monkeypatch.setattr("tilewright.interpreters.kernel._LANES", lanes)
    x = inputs()
    (out,) = interpret(parse(text), x, function="k")
    np.testing.assert_allclose(out, x.reshape(2, 3, 32).sum(1), rtol=1e-6, atol=1e-6)


def test_the_last_to_arrive_is_not_the_last_by_number(parse: Parse) -> None:
    """Programs that rely on an order of the blocks give other results."""
    number = """%i = loop.index [%b mod 3] : i32
    %number = arith.sitofp %i : i32 to f32
    %sum = scf.for"""
    text = LAST_BLOCK.replace("%sum, %out", "%number, %out").replace("%sum = scf.for", number)
    (out,) = interpret(parse(text), inputs(), function="k")
    assert not np.all(out == 2)


MISTAKES = [
    pytest.param(
        CLUSTER,
        "  kernel.cluster_barrier\n  %first",
        "  %first",
        "reads element .0., which nothing|reads element .* while another thread writes it",
        id="read before the barrier",
    ),
    pytest.param(
        CLUSTER,
        "  kernel.cluster_barrier\n  %first",
        "  kernel.barrier\n  %first",
        "reads element .* while another thread writes it",
        id="a barrier of each block alone",
    ),
    pytest.param(
        CLUSTER,
        "kernel.cluster_barrier // the end",
        "",
        "block 0 may read this after another block of its cluster has ended",
        id="no barrier at the end",
    ),
    pytest.param(
        CLUSTER,
        "  }\n  kernel.cluster_barrier // the end",
        "    kernel.cluster_barrier\n  }",
        "only some blocks of the cluster from block 0 on reach this barrier",
        id="a barrier that only one block reaches",
    ),
    pytest.param(
        CLUSTER,
        "of %r :",
        "of %b :",
        "rank 3 is not in a cluster of 3 blocks",
        id="a rank too high",
    ),
    pytest.param(
        SPLIT,
        "kernel.cluster_arrive // of the reader",
        "",
        "block 0 waits at a barrier of its cluster where it has not arrived",
        id="no arrival",
    ),
    pytest.param(
        SPLIT,
        "    %sum = scf.for",
        "    kernel.cluster_arrive\n    kernel.cluster_wait\n    %sum = scf.for",
        "only some blocks of the cluster from block 0 on reach this wait",
        id="a wait that only one block reaches",
    ),
    pytest.param(
        SPLIT,
        "    %sum = scf.for",
        "    kernel.cluster_arrive\n    %sum = scf.for",
        "block 0 arrives again at the barrier of its cluster before it waits",
        id="two arrivals",
    ),
    pytest.param(
        SPLIT.replace("    kernel.cluster_arrive // of the reader\n", ""),
        "    %sum = scf.for",
        "    kernel.cluster_arrive\n    %sum = scf.for",
        "block 0 may read this after another block of its cluster has ended",
        id="an arrival before the reads",
    ),
    pytest.param(
        SPLIT,
        "kernel.cluster_wait // the end",
        "",
        "block 0 may read this after another block of its cluster has ended",
        id="no wait",
    ),
    pytest.param(
        LAST_BLOCK,
        "%last = kernel.arrive %arrived[%b floordiv 3] of 3 : memref<2xi32>",
        "%last = loop.predicate [%b mod 3 - 2] : i1",
        "reads element .* while another thread writes it",
        id="the last by number",
    ),
    pytest.param(
        LAST_BLOCK,
        "of 3 :",
        "of 2 :",
        "reads element .* while another thread writes it",
        id="one too few",
    ),
    pytest.param(
        LAST_BLOCK,
        "%arrived[%b floordiv 3]",
        "%arrived[0]",
        "reads element .* while another thread writes it",
        id="a counter that all share",
    ),
    pytest.param(
        LAST_BLOCK.replace(
            "%partials[%b floordiv 3, %r, %t] : memref<2x3x32xf32>", "%x[%r, %t] : memref<6x32xf32>"
        ),
        "of 3 :",
        "of 2 :",
        "leaves 1 in element .0. of %arrived",
        id="one too few, and nothing is read",
    ),
    pytest.param(
        LAST_BLOCK, "of 3 :", "of 4 :", "nothing writes element .0, 0. of %out", id="one too many"
    ),
    pytest.param(
        ATOMIC,
        " {plan.initial = 0.0 : f32}",
        "",
        "updates element .*, which nothing has written",
        id="nothing to add to",
    ),
    pytest.param(
        ATOMIC,
        "  kernel.atomic",
        "  loop.store %zero, %out[%b floordiv 3, 31 - %t] : memref<2x32xf32>\n  kernel.atomic",
        "updates element .* while a thread loads or stores it",
        id="zeros by another thread",
    ),
]


@pytest.mark.parametrize(("text", "old", "new", "message"), MISTAKES)
def test_mistakes_are_found(text: str, old: str, new: str, message: str, parse: Parse) -> None:
    """Each mistake is an error with a message that describes it."""
    assert text.count(old) == 1
    with pytest.raises(InterpreterError, match=message):
        interpret(parse(text.replace(old, new)), inputs(), function="k")


READ_BY_ALL = """
kernel.func grid 3 block 32 cluster 3 @k(%x: memref<3x32xf32>) -> (%out: memref<3x32xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %mine = kernel.shared : memref<32xf32, 3>
  %0 = loop.load %x[%b, %t] : memref<3x32xf32>
  loop.store %0, %mine[%t] : memref<32xf32, 3>
  kernel.cluster_barrier
  %first = arith.constant 0 : index
  %theirs = kernel.remote %mine of %first : memref<32xf32, 3>
  %1 = loop.load %theirs[31 - %t] : memref<32xf32, 3>
  loop.store %1, %out[%b, %t] : memref<3x32xf32>
  kernel.cluster_barrier
  %2 = arith.addf %0, %0 : f32
  loop.store %2, %mine[%t] : memref<32xf32, 3>
}"""


def test_memory_that_all_blocks_have_read_is_written_again(parse: Parse) -> None:
    x = np.arange(96, dtype=np.float32).reshape(3, 32)
    (result,) = interpret(parse(READ_BY_ALL), x, function="k")
    np.testing.assert_array_equal(result, np.tile(x[0, ::-1], (3, 1)))
    head, _, tail = READ_BY_ALL.rpartition("kernel.cluster_barrier")
    with pytest.raises(InterpreterError, match="another thread"):
        interpret(
            parse(f"{head}kernel.barrier{tail[:-1]} kernel.cluster_barrier }}"), x, function="k"
        )
