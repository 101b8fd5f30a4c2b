# SPDX-License-Identifier: Apache-2.0
"""Barriers of warps and of groups of threads: the accesses they order, and threads they need."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilewright.interpreters import interpret
from tilewright.interpreters.errors import InterpreterError

Parse = Callable[[str], ModuleOp]
Rand = Callable[..., NDArray[np.float32]]

SLAB = "memref<128xf32, 3>"


def kernel(body: str) -> str:
    """
    Return a kernel of two blocks of 128 threads, where each thread first stores %v at its id in %s.
    """
    return f"""
      kernel.func grid 2 block 128 @k(%x: memref<256xf32>) -> (%out: memref<256xf32>) {{
        %b = kernel.block_id
        %t = kernel.thread_id
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c3 = arith.constant 3 : index
        %pair = kernel.index [%t floordiv 64 + 1]
        %warp = kernel.index [%t floordiv 32 + 1]
        %v = loop.load %x[%b * 128 + %t] : memref<256xf32>
        %s = kernel.shared : {SLAB}
        loop.store %v, %s[%t] : {SLAB}
        {body}
      }}"""


def load(number: int, subscript: str) -> str:
    """Return lines that read an element of the slab, and store it to the output."""
    return f"""
      %r{number} = loop.load %s[{subscript}] : {SLAB}
      loop.store %r{number}, %out[%b * 128 + %t] : memref<256xf32>
    """


IN_WARP = load(0, "%t floordiv 32 * 32 + (%t + 1) mod 32")
IN_PAIR = load(1, "%t floordiv 64 * 64 + (%t + 32) mod 64")
IN_BLOCK = load(2, "(%t + 64) mod 128")
WARP, PAIR, BLOCK = (
    "kernel.warp_barrier",
    "kernel.named_barrier %pair threads 64",
    "kernel.barrier",
)
OVERWRITE = f"""
  %w = arith.negf %v : f32
  loop.store %w, %s[%t] : {SLAB}
"""

RIGHT = {
    "of a warp": f"{WARP} {IN_WARP}",
    "of a pair of warps": f"{PAIR} {IN_PAIR} {load(3, '%t floordiv 32 * 32 + (%t + 5) mod 32')}",
    "of all, by name": f"kernel.named_barrier %c1 threads 128 {IN_BLOCK}",
    "read, then overwritten": f"{WARP} {IN_WARP} {WARP} {OVERWRITE}",
    "read by several, then overwritten": f"{PAIR} {IN_PAIR} {load(4, '%pair * 64 - 64')} {PAIR}"
    f"{OVERWRITE}",
    "over and over": f"""{PAIR}
      scf.for %k = %c0 to %c3 step %c1 {{
        {load(5, "%t floordiv 64 * 64 + (%t + 32 + %k) mod 64")}
        {PAIR}
        {OVERWRITE}
        {PAIR}
      }}""",
    # Warp 3 learns of it from warp 2, which learned of it from warp 1.
    "handed on": f"""
      %first = loop.predicate [95 - %t, %t - 32] : i1
      scf.if %first {{ kernel.named_barrier %c1 threads 64 }}
      %second = loop.predicate [%t - 64] : i1
      scf.if %second {{ kernel.named_barrier %c3 threads 64 }}
      %third = loop.predicate [%t - 96] : i1
      scf.if %third {{ {load(6, "%t - 64")} }} else {{
        loop.store %v, %out[%b * 128 + %t] : memref<256xf32>
      }}""",
    "by some warps only": f"""
      %low = loop.predicate [63 - %t] : i1
      scf.if %low {{ {PAIR} {IN_PAIR} }} else {{ {WARP} {IN_WARP} }}""",
}


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT)
def test_threads_that_meet_are_ordered(parse: Parse, rand: Rand, body: str) -> None:
    x = rand(256)
    (result,) = interpret(parse(kernel(body)), x, function="k")
    assert set(result.tolist()) <= set(x.tolist()) | set((-x).tolist())


RACE = "while another thread"
WRONG = {
    "none": (IN_WARP, RACE),
    "of warps, read across": (f"{WARP} {IN_PAIR}", RACE),
    "of pairs, read across": (f"{PAIR} {IN_BLOCK}", RACE),
    "of each warp, by name": (f"kernel.named_barrier %warp threads 32 {IN_PAIR}", RACE),
    "overwritten too early": (f"{PAIR} {IN_PAIR} {WARP} {OVERWRITE}", RACE),
    "overwritten while another warp reads": (
        f"{BLOCK} {load(7, '0')} {PAIR} {OVERWRITE}",
        RACE,
    ),
    "not handed on": (
        f"""
      %second = loop.predicate [%t - 64] : i1
      scf.if %second {{ kernel.named_barrier %c1 threads 64 }}
      %first = loop.predicate [95 - %t, %t - 32] : i1
      scf.if %first {{ kernel.named_barrier %c3 threads 64 }}
      %third = loop.predicate [%t - 96] : i1
      scf.if %third {{ {load(8, "%t - 64")} }}""",
        RACE,
    ),
    "too few": (
        "kernel.named_barrier %pair threads 96",
        "64 threads of block 0 come with id 1, but the barrier waits for 96",
    ),
    "too many": (
        "kernel.named_barrier %pair threads 32",
        "64 threads of block 0 come with id 1, but the barrier waits for 32",
    ),
    "one name for all": (
        "kernel.named_barrier %c1 threads 64",
        "128 threads of block 0 come with id 1, but the barrier waits for 64",
    ),
    "names that cross warps": (
        "%id = kernel.index [(%t + 16) floordiv 64 + 1] kernel.named_barrier %id threads 64",
        "lanes of warp 1 of block 0 come with different ids",
    ),
    "a name that is none": (
        "%id = arith.addi %c0, %c0 : index kernel.named_barrier %id threads 64",
        "the id is 0, but has to be from 1 to 15",
    ),
    "half a warp": (
        f"%p = loop.predicate [15 - %t] : i1 scf.if %p {{ {WARP} }}",
        "only some lanes of warp 0 of block 0 are active .move the barrier out of",
    ),
    "half a group": (
        f"%p = loop.predicate [31 - %t] : i1 scf.if %p {{ {PAIR} }}",
        "32 threads of block 0 come with id 1, but the barrier waits for 64",
    ),
    # Pair 1 may still wait at barrier 2 when pair 0 arrives there.
    "a name that others may still wait with": (
        f"{PAIR} %other = kernel.index [2 - %t floordiv 64] kernel.named_barrier %other threads 64",
        "id 1 of block 0 is in use: other warps may still wait with it",
    ),
}


@pytest.mark.parametrize(("body", "message"), WRONG.values(), ids=WRONG)
def test_accesses_that_barriers_do_not_order(
    parse: Parse, rand: Rand, body: str, message: str
) -> None:
    with pytest.raises(InterpreterError, match=message):
        interpret(parse(kernel(body)), rand(256), function="k")


def test_a_name_is_free_again_when_all_have_met(parse: Parse, rand: Rand) -> None:
    body = f"""{PAIR} {BLOCK} %other = kernel.index [2 - %t floordiv 64]
      kernel.named_barrier %other threads 64
      {IN_PAIR}"""
    x = rand(256)
    (result,) = interpret(parse(kernel(body)), x, function="k")
    expected = x.reshape(2, 2, 2, 32)[:, :, ::-1].reshape(256)
    np.testing.assert_array_equal(result, expected)
