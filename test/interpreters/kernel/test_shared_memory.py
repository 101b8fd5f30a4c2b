# SPDX-License-Identifier: Apache-2.0
"""
Arrays in the same shared memory: a right program, and the errors when an op is dropped or moved.
"""

from collections.abc import Callable

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.interpreters import interpret
from tilewright.interpreters.errors import InterpreterError

Parse = Callable[[str], ModuleOp]

A = "memref<2x64xf32, #tile.layout<slots>, 3>"
RING = "!kernel.ring<2, cp_async>"

# A slot of a ring, and in its place the sums of neighbours.
PROGRAM = f"""
kernel.func grid 3 block 64 @k(%x: memref<3x64xf32>) -> (%out: memref<3x64xf32>) {{
  %b = kernel.block_id
  %t = kernel.thread_id
  %c0 = arith.constant 0 : index
  %s = kernel.shared at 0 : {A}
  %ring = kernel.ring bytes 256 : {RING}
  kernel.copy_async %x[%b, %t] to %s[0, %t] width 1 : memref<3x64xf32>, {A}
  kernel.ring_commit %ring, %c0 : {RING}
  kernel.ring_wait %ring, %c0 pending 0 : {RING} // wait
  %0 = loop.load %s[0, 63 - %t] : {A}
  kernel.ring_release %ring, %c0 : {RING} // release
  kernel.barrier // before the sums
  %sums = kernel.shared at 128 : memref<64xf32, 3>
  loop.store %0, %sums[%t] : memref<64xf32, 3>
  kernel.barrier
  %1 = loop.load %sums[(%t + 1) mod 64] : memref<64xf32, 3>
  %2 = arith.addf %0, %1 : f32
  loop.store %2, %out[%b, %t] : memref<3x64xf32>
}}"""

X = np.arange(192, dtype=np.float32).reshape(3, 64)


def test_right(parse: Parse) -> None:
    (out,) = interpret(parse(PROGRAM), X, function="k")
    reverse = X[:, ::-1]
    np.testing.assert_array_equal(out, reverse + np.roll(reverse, -1, axis=1))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "kernel.barrier // before the sums",
            "",
            r"writes to %sums while another thread may use %s in the same memory \(put a kernel",
        ),
        (
            f"  kernel.ring_wait %ring, %c0 pending 0 : {RING} // wait\n"
            f"  %0 = loop.load %s[0, 63 - %t] : {A}\n"
            f"  kernel.ring_release %ring, %c0 : {RING} // release\n",
            "  %0 = arith.constant 1.0 : f32\n",
            "writes to %sums while a copy to %s in the same memory is under way",
        ),
        (
            "  %1 = loop.load %sums[(%t + 1) mod 64] : memref<64xf32, 3>",
            f"  %1 = loop.load %s[0, %t] : {A}",
            r"reads element \[0, 0\], whose memory %sums overwrote",
        ),
        ("at 128", "at 64", "begins at a multiple of 128 bytes, not at 64"),
    ],
)
def test_mistake(old: str, new: str, message: str, parse: Parse) -> None:
    assert old in PROGRAM
    with pytest.raises(Exception, match=message) as caught:
        interpret(parse(PROGRAM.replace(old, new)), X, function="k")
    assert "multiple" in message or isinstance(caught.value, InterpreterError)


def test_disjoint_arrays_need_no_barrier(parse: Parse) -> None:
    apart = PROGRAM.replace("kernel.barrier // before the sums", "").replace("at 128", "at 512")
    interpret(parse(apart), X, function="k")


ONE_WARP = """
kernel.func grid 2 block 32 @k(%x: memref<2x32xf32>) -> (%out: memref<2x32xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %a = kernel.shared at 0 : memref<32xf32, 3>
  %c = kernel.shared at 0 : memref<32xf32, 3>
  %0 = loop.load %x[%b, %t] : memref<2x32xf32>
  loop.store %0, %a[%t] : memref<32xf32, 3>
  kernel.warp_barrier
  %1 = loop.load %a[31 - %t] : memref<32xf32, 3>
  kernel.warp_barrier // before %c
  loop.store %1, %c[%t] : memref<32xf32, 3>
  kernel.warp_barrier
  %2 = loop.load %c[(%t + 1) mod 32] : memref<32xf32, 3>
  loop.store %2, %out[%b, %t] : memref<2x32xf32>
}"""


def test_a_warp_barrier_orders_the_lanes_of_a_warp(parse: Parse) -> None:
    x = X[:2, :32]
    (out,) = interpret(parse(ONE_WARP), x, function="k")
    np.testing.assert_array_equal(out, np.roll(x[:, ::-1], -1, axis=1))
    too_early = parse(ONE_WARP.replace("kernel.warp_barrier // before %c", ""))
    with pytest.raises(InterpreterError, match="another thread may use %a in the same memory"):
        interpret(too_early, x, function="k")


def test_a_warp_barrier_does_not_order_other_warps(parse: Parse) -> None:
    two_warps = ONE_WARP.replace("32", "64").replace("f64", "f32").replace("31 - ", "63 - ")
    whole = two_warps.replace("kernel.warp_barrier", "kernel.barrier")
    interpret(parse(whole), X[:2], function="k")
    narrow = whole.replace("kernel.barrier // before %c", "kernel.warp_barrier")
    with pytest.raises(InterpreterError, match="another thread may use %a in the same memory"):
        interpret(parse(narrow), X[:2], function="k")
