// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Invalid schedules, and the messages of the verifier.

// CHECK: a ring has two slots or more, not 1
"test.op"() {ring = #tile.ring<depth 1>} : () -> ()

// -----

// CHECK: 2 slots are filled at most 1 steps ahead, not 2
"test.op"() {ring = #tile.ring<depth 2, lookahead 2>} : () -> ()

// -----

// CHECK: the order names each axis of the slab once
"test.op"() {layout = #tile.layout<order [0, 2]>} : () -> ()

// -----

// CHECK: swizzles span (32, 64, 128) bytes, not 48
"test.op"() {layout = #tile.layout<swizzle 48>} : () -> ()

// -----

// CHECK: a layout has each of its parts once
"test.op"() {layout = #tile.layout<deal 4, inner 16, deal 2>} : () -> ()

// -----

// CHECK: 'deal' is at least 1; omit it for none
"test.op"() {layout = #tile.layout<deal 0>} : () -> ()

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%b = block 8) {
    // CHECK: cp_async only copies loaded values; remove 'transport' to compute
    %s = tile.stage (%i) in [8] transport(cp_async) {
      %v = loop.load %x[%i] : memref<8xf32>
      %w = arith.addf %v, %v : f32
      loop.yield %w : f32
    } : memref<8xf32, 3>
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%b = block 8) {
    // CHECK: the layout is not one of 1 axes
    %s = tile.stage (%i) in [8] {
      %v = loop.load %x[%i] : memref<8xf32>
      loop.yield %v : f32
    } : memref<8xf32, #tile.layout<pad [0, 4]>, 3>
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%b = block 8) {
    // CHECK: pieces of 3 do not divide 8 elements
    %s = tile.stage (%i) in [8] {
      %v = loop.load %x[%i] : memref<8xf32>
      loop.yield %v : f32
    } : memref<8xf32, #tile.layout<inner 3>, 3>
  }
}

// -----

loop.kernel @k(%x: memref<6x8xf32>) -> (%out: memref<6x8xf32>) {
  tile.launch (%b = block 6) {
    // CHECK: 4 piles do not divide 6 rows
    %s = tile.stage (%i, %j) in [6, 8] {
      %v = loop.load %x[%i, %j] : memref<6x8xf32>
      loop.yield %v : f32
    } : memref<6x8xf32, #tile.layout<deal 4>, 3>
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%b = block 8) {
    // CHECK: a swizzle of 64 bytes needs as many bytes innermost, not 32
    %s = tile.stage (%i) in [8] {
      %v = loop.load %x[%i] : memref<8xf32>
      loop.yield %v : f32
    } : memref<8xf32, #tile.layout<swizzle 64>, 3>
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%b = block 8) {
    // CHECK: a swizzled slab has no padding
    %s = tile.stage (%i) in [8] {
      %v = loop.load %x[%i] : memref<8xf32>
      loop.yield %v : f32
    } : memref<8xf32, #tile.layout<pad [4], swizzle 32>, 3>
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%l = lane 8) {
    %v = loop.load %x[%l] : memref<8xf32>
    // CHECK: 'join' is for block axes only; remove it
    %s = tile.combine %v across %l with add join(cluster) : f32
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%b = block 8) {
    // CHECK: the bound takes 1 operands, got 0
    %s = "loop.reduce"() <{extent = 2 : i64, monoid = #prim.monoid add, upper_bound = affine_map<(d0) -> (d0)>}> ({
    ^bb0(%k: index):
      %v = loop.load %x[%k] : memref<8xf32>
      loop.yield %v : f32
    }) : () -> f32
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%b = block 8) {
    // CHECK: the bound takes 2 operands, got 1
    %s = "loop.reduce"(%b) <{extent = 2 : i64, monoid = #prim.monoid add, lower_bound = affine_map<(d0, d1) -> (d0 + d1)>}> ({
    ^bb0(%k: index):
      %v = loop.load %x[%k] : memref<8xf32>
      loop.yield %v : f32
    }) : (index) -> f32
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%b = block 8) {
    // CHECK: no bound takes the 1 operands
    %s = "loop.reduce"(%b) <{extent = 2 : i64, monoid = #prim.monoid add}> ({
    ^bb0(%k: index):
      %v = loop.load %x[%k] : memref<8xf32>
      loop.yield %v : f32
    }) : (index) -> f32
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%b = block 8) {
    // CHECK: a bound has at least one expression; remove an empty one
    %s = "loop.reduce"(%b) <{extent = 2 : i64, monoid = #prim.monoid add, upper_bound = affine_map<(d0) -> ()>}> ({
    ^bb0(%k: index):
      %v = loop.load %x[%k] : memref<8xf32>
      loop.yield %v : f32
    }) : (index) -> f32
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>, %at: memref<8xi64>) -> (%out: memref<8xf32>) {
  tile.launch (%b = block 8) {
    // CHECK: cp_async only copies loaded values; remove 'transport' to compute
    %s = tile.stage (%i) in [8] transport(cp_async) {
      %a = loop.load %at[%i] : memref<8xi64>
      %n = loop.to_index %a below 8 : i64
      %v = loop.load %x[%n] : memref<8xf32>
      loop.yield %v : f32
    } : memref<8xf32, 3>
  }
}

// -----

// CHECK: the schedule 'tileify,{' is not a pipeline: Expected pass name here
loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%i = thread 8) {
    %0 = loop.load %x[%i] : memref<8xf32>
    loop.store %0, %out[%i] : memref<8xf32>
  }
} schedule "tileify,{"

// -----

loop.kernel @k(%x: memref<32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%t = thread 32) {
    // CHECK: a matrix instruction adds products to f32; leave out 'by'
    %p = loop.reduce %k in 32 with max by(m16n8k8_tf32) {
      %0 = loop.load %x[%k] : memref<32xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %p, %out[%t] : memref<32xf32>
  }
}

// -----

loop.kernel @k(%x: memref<24xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%t = thread 32) {
    // CHECK: 'm16n8k16_bf16' does 16 steps at once; give an extent that is a multiple, and no bounds
    %p = loop.reduce %k in 24 with add by(m16n8k16_bf16) {
      %0 = loop.load %x[%k] : memref<24xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %p, %out[%t] : memref<32xf32>
  }
}

// -----

loop.kernel @k(%x: memref<32xf32>) -> (%out: memref<1xf32>) {
  loop.for %i in 1 {
    // CHECK: 'by' is part of a schedule; leave it out before tile.launch
    %p = loop.reduce %k in 32 with add by(m16n8k8_tf32) {
      %0 = loop.load %x[%k] : memref<32xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %p, %out[%i] : memref<1xf32>
  }
}

// -----

loop.kernel @k(%x: memref<32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%t = thread 32) {
    // CHECK: unknown word 'm16n8k4' (did you mean m16n8k8_tf32
    %p = loop.reduce %k in 32 with add by(m16n8k4) {
      %0 = loop.load %x[%k] : memref<32xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %p, %out[%t] : memref<32xf32>
  }
}
