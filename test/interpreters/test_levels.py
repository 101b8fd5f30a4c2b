# SPDX-License-Identifier: Apache-2.0
"""One program written at four levels computes the same at each: a row sum of squares, scaled."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilewright.interpreters import interpret

Parse = Callable[[str], ModuleOp]
Rand = Callable[..., NDArray[np.float32]]

TENSOR = """
func.func @main(%x: tensor<7x100xf32>) -> tensor<7x100xf32> {
  %q = prim.elementwise mul(%x, %x) : tensor<7x100xf32>
  %s = prim.reduce add(%q) dims [1] : (tensor<7x100xf32>) -> tensor<7xf32>
  %r = prim.elementwise rsqrt(%s) : tensor<7xf32>
  %b = prim.index_map %r by affine_map<(d0, d1) -> (d0)> : tensor<7xf32> -> tensor<7x100xf32>
  %y = prim.elementwise mul(%x, %b) : tensor<7x100xf32>
  func.return %y : tensor<7x100xf32>
}"""

HOST = """
func.func @main(%x: memref<7x100xf32>) -> memref<7x100xf32> {
  %y = memref.alloc() : memref<7x100xf32>
  loop.launch @k(%x) -> (%y) : (memref<7x100xf32>) -> (memref<7x100xf32>)
  func.return %y : memref<7x100xf32>
}
"""

LOOP = """
loop.kernel @k(%x: memref<7x100xf32>) -> (%y: memref<7x100xf32>) {
  loop.for %i in 7 row {
    %s = loop.reduce %k in 100 with add {
      %0 = loop.load %x[%i, %k] : memref<7x100xf32>
      %1 = arith.mulf %0, %0 : f32
      loop.yield %1 : f32
    } : f32
    %r = math.rsqrt %s : f32
    loop.for %j in 100 {
      %2 = loop.load %x[%i, %j] : memref<7x100xf32>
      %3 = arith.mulf %2, %r : f32
      loop.store %3, %y[%i, %j] : memref<7x100xf32>
    }
  }
}"""

TILE = """
loop.kernel @k(%x: memref<7x100xf32>) -> (%y: memref<7x100xf32>) {
  tile.launch (%b = block 7 row, %t = thread 32 k, %r = register 4 k) {
    %0 = loop.load %x[%b, %r * 32 + %t] where [99 - %r * 32 - %t] : memref<7x100xf32>
    %1 = arith.mulf %0, %0 : f32
    %s = tile.combine %1 across %t, %r with add where [99 - %r * 32 - %t] : f32
    %q = math.rsqrt %s : f32
    %3 = arith.mulf %0, %q : f32
    loop.store %3, %y[%b, %r * 32 + %t] where [99 - %r * 32 - %t] : memref<7x100xf32>
  }
}"""

KERNEL = """
kernel.func grid 7 block 32 @k(%x: memref<7x100xf32>) -> (%y: memref<7x100xf32>) {
  %b = kernel.block_id
  %t = kernel.thread_id
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %p = scf.for %r = %c0 to %c4 step %c1 iter_args(%a = %zero) -> (f32) {
    %0 = loop.load %x[%b, %r * 32 + %t] where [99 - %r * 32 - %t] : memref<7x100xf32>
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %a, %1 : f32
    scf.yield %2 : f32
  }
  %o16 = kernel.shuffle xor %p, 16 width 32 : f32
  %s16 = arith.addf %p, %o16 : f32
  %o8 = kernel.shuffle xor %s16, 8 width 32 : f32
  %s8 = arith.addf %s16, %o8 : f32
  %o4 = kernel.shuffle xor %s8, 4 width 32 : f32
  %s4 = arith.addf %s8, %o4 : f32
  %o2 = kernel.shuffle xor %s4, 2 width 32 : f32
  %s2 = arith.addf %s4, %o2 : f32
  %o1 = kernel.shuffle xor %s2, 1 width 32 : f32
  %s1 = arith.addf %s2, %o1 : f32
  %q = math.rsqrt %s1 : f32
  scf.for %r = %c0 to %c4 step %c1 {
    %in = loop.predicate [99 - %r * 32 - %t] : i1
    scf.if %in {
      %3 = loop.load %x[%b, %r * 32 + %t] : memref<7x100xf32>
      %4 = arith.mulf %3, %q : f32
      loop.store %4, %y[%b, %r * 32 + %t] : memref<7x100xf32>
    }
  }
}"""

LEVELS = {"tensor": TENSOR, "loop": HOST + LOOP, "tile": HOST + TILE, "kernel": HOST + KERNEL}


@pytest.mark.parametrize("level", LEVELS)
def test_level(parse: Parse, rand: Rand, level: str) -> None:
    module, x = parse(LEVELS[level]), rand(7, 100)
    (wide,) = interpret(module, x, dtype=np.float64)
    (narrow,) = interpret(module, x)
    exact = x / np.sqrt((x.astype(np.float64) ** 2).sum(1, keepdims=True))
    np.testing.assert_allclose(wide, exact, rtol=1e-13)
    np.testing.assert_allclose(narrow, exact, rtol=2e-6)
    assert narrow.dtype == np.float32
