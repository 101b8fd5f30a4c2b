# SPDX-License-Identifier: Apache-2.0
"""The estimate of work counts each op once for every point of the loops around it."""

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects.work import scalar_operations

Parse = Callable[[str], ModuleOp]

LOOP = """
loop.kernel @k(%x: memref<10xf32>) -> (%out: memref<10xf32>) {
  loop.for %i in 10 {
    %s = loop.reduce %k in 7 with add {
      %0 = loop.load %x[%k] : memref<10xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%i] : memref<10xf32>
  }
}"""

CASES = {
    "loop": (LOOP, 10 * (7 * 2 + 1)),
    "launch": (
        "func.func @main(%x: memref<10xf32>, %y: memref<10xf32>) {\n"
        "loop.launch @k(%x) -> (%y) : (memref<10xf32>) -> (memref<10xf32>)\n"
        "func.return }" + LOOP,
        150 + 1,
    ),
    "recursion": (
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        "%0 = func.call @main(%x) : (tensor<4xf32>) -> tensor<4xf32>\n"
        "func.return %0 : tensor<4xf32> }",
        1 + 1,
    ),
    "tensor": (
        "func.func @main(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {\n"
        "%0 = prim.elementwise neg(%x) : tensor<4x5xf32>\n"
        "func.return %0 : tensor<4x5xf32> }",
        20 + 1,
    ),
    "threads": (
        "kernel.func grid 3 block 32 @k(%x: memref<1xf32>) -> (%y: memref<1xf32>) {\n"
        "%c0 = arith.constant 0 : index\n %c1 = arith.constant 2 : index\n"
        "%c9 = arith.constant 9 : index\n"
        "scf.for %i = %c0 to %c9 step %c1 { kernel.barrier } }",
        3 * 32 * (3 + 5 * 2),
    ),
    "vectors": (
        "kernel.func grid 3 block 32 @k(%x: memref<128xf32>) -> (%y: memref<1xf32>) {\n"
        "%t = kernel.thread_id\n %r = kernel.registers : memref<4xf32, 5>\n"
        "kernel.copy %x[%t * 4] to %r[0] width 4 : memref<128xf32>, memref<4xf32, 5> }",
        3 * 32 * (1 + 4 + 4),
    ),
    "a box that a block copies": (
        "kernel.func grid 3 block 32 @k(%x: memref<8x32xf32>) -> (%y: memref<1xf32>) {\n"
        "%c0 = arith.constant 0 : index\n %s = kernel.shared : memref<1x8x32xf32, 3>\n"
        "%ring = kernel.ring bytes 1024 : !kernel.ring<1, tma>\n"
        "kernel.tma_copy %x[0, 0] box [8, 32] to %s[%c0] on %ring, %c0\n"
        ": memref<8x32xf32>, memref<1x8x32xf32, 3>, !kernel.ring<1, tma> }",
        3 * 32 * (1 + 256 + 1 + 256 // 32),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_scalar_operations(parse: Parse, case: str) -> None:
    text, expected = CASES[case]
    first = parse(text).body.block.first_op
    assert first is not None
    assert scalar_operations(first) == expected
