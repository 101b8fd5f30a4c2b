// RUN: opt-tool %s -p plan-schedules --check=each | filecheck %s
// RUN: opt-tool %s -p plan-schedules | opt-tool | filecheck %s
// RUN: opt-tool %s -p plan-schedules,plan-schedules --remarks 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: opt-tool %s -p 'plan-schedules{target=sm_80}' | filecheck %s --check-prefix=AMPERE

// TWICE: skipped at mm: its steps are planned

// A product of 512x3584x3584 has 224 tiles of 128x64, two for an SM: K is split to balance the work of all
// SMs. Matrix instructions multiply the factors in parts.
// CHECK-LABEL: loop.kernel @mm
// CHECK:       } planned "tileify,chunk-matmul-k{bk={{(32|64)}}},split-matmul-k{factor=4 join=last_block},blockify-launch{m=128 n=64},
// CHECK-SAME:    register-tile{fm=8 fn=8 fk=1 min_blocks=2},tensor-core,
// CHECK-SAME:    mark-unroll"
// AMPERE:      split-matmul-k{factor={{[0-9]+}} join=last_block}
loop.kernel @mm(%a: memref<512x3584xf32>, %b: memref<3584x3584xf32>) -> (%out: memref<512x3584xf32>) {
  loop.for %i in 512, %j in 3584 {
    %s = loop.reduce %k in 3584 with add {
      %x = loop.load %a[%i, %k] : memref<512x3584xf32>
      %y = loop.load %b[%k, %j] : memref<3584x3584xf32>
      %xy = arith.mulf %x, %y : f32
      loop.yield %xy : f32
    } : f32
    loop.store %s, %out[%i, %j] : memref<512x3584xf32>
  }
}
