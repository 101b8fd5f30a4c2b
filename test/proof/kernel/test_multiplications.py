# SPDX-License-Identifier: Apache-2.0
"""Multiplications by warpgroups of Kernel IR: planted bugs are refuted."""

import pytest
from proved import changed
from proved_threads import faults

A = "memref<128x32xf16, #tile.layout<swizzle 64>, 3 : i64>"
B = "memref<32x64xf16, #tile.layout<swizzle 128>, 3 : i64>"
PRODUCT = f"""\
kernel.func grid 1 block 256 @k(%x: memref<128x32xf16>, %y: memref<32x64xf16>)
    -> (%out: memref<256x32xf32>) {{
  %t = kernel.thread_id
  %a = kernel.shared : {A}
  %b = kernel.shared : {B}
  kernel.unroll %i in 16 {{
    %0 = loop.load %x[%t floordiv 2, %t mod 2 * 16 + %i] : memref<128x32xf16>
    loop.store %0, %a[%t floordiv 2, %t mod 2 * 16 + %i] : {A}
  }}
  kernel.unroll %j in 8 {{
    %1 = loop.load %y[%t floordiv 8, %t mod 8 * 8 + %j] : memref<32x64xf16>
    loop.store %1, %b[%t floordiv 8, %t mod 8 * 8 + %j] : {B}
  }}
  %d = kernel.registers : memref<32xf32, 5 : i64>
  kernel.unroll %n in 32 {{
    %zero = arith.constant 0.0 : f32
    loop.store %zero, %d[%n] : memref<32xf32, 5 : i64>
  }}
  kernel.barrier
  kernel.proxy_fence
  kernel.group_fence
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %k = %c0 to %c2 step %c1 {{
    kernel.group_multiply m64nNk16_f16 columns 64 %a[%t floordiv 128 * 64, %k * 16] along [0, 1],
      %b[%k * 16, 0] along [1, 0], %d[0] : {A}, {B}, memref<32xf32, 5 : i64>
  }}
  kernel.group_commit
  kernel.group_wait 0
  kernel.unroll %n_1 in 32 {{
    %2 = loop.load %d[%n_1] : memref<32xf32, 5 : i64>
    loop.store %2, %out[%t, %n_1] : memref<256x32xf32>
  }}
}}
"""

REFUTED = {
    "rows of a warp": ("%t floordiv 128 * 64", "%t floordiv 32 * 16", "uniform", "%thread' = 32"),
    "too many rows": ("%t floordiv 128 * 64", "%t floordiv 128 * 72", "bounds", "%thread = 128"),
    "too many steps": ("%a[%t floordiv 128 * 64, %k * 16]", "%a[0, %k * 32]", "bounds", "%k = 1"),
    "half a step": ("%b[%k * 16, 0]", "%b[%k * 8, 0]", "aligned", "%k = 1"),
    "inside of a span": ("%b[%k * 16, 0]", "%b[%k * 16, %c0 + 8]", "bounds", ""),
    "no fence": ("kernel.group_fence", "", "waited", "no kernel.group_fence"),
    "no proxy fence": ("kernel.proxy_fence", "", "waited", "no kernel.proxy_fence"),
    "no commit": ("kernel.group_commit", "", "waited", "no kernel.group_wait 0"),
    "one may be pending": ("wait 0", "wait 1", "waited", "no kernel.group_wait 0"),
    "a barrier between": (
        *("kernel.group_commit", "kernel.barrier\n  kernel.group_commit"),
        *("waited", "no kernel.group_wait 0"),
    ),
    "no barrier": ("kernel.barrier", "", "race", "%thread"),
}


def test_the_product_is_proved():
    assert faults(PRODUCT) == []


@pytest.mark.parametrize(("old", "new", "kind", "evidence"), REFUTED.values(), ids=[*REFUTED])
def test_a_planted_bug_is_refuted(old: str, new: str, kind: str, evidence: str):
    found = faults(changed(PRODUCT, old, new))
    assert any(each == kind and evidence in why for each, _, _, why in found), found
