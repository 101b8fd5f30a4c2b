# SPDX-License-Identifier: Apache-2.0
"""Product of small matrices at Loop IR, of which tests make right and wrong schedules."""

NEST = """\
loop.kernel @mm(%a: memref<9x13xf32>, %b: memref<13x5xf32>) -> (%out: memref<9x5xf32>) {
  loop.for %i in 9 m, %j in 5 n {
    %sum = loop.reduce %k in 13 with add {
      %0 = loop.load %a[%i, %k] : memref<9x13xf32>
      %1 = loop.load %b[%k, %j] : memref<13x5xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %sum, %out[%i, %j] : memref<9x5xf32>
  }
}
"""
