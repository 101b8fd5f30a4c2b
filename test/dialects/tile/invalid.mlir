// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Tile IR that the verifier refuses, and its messages.

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  // CHECK: bind each axis of the launch to a level
  "tile.launch"() <{axes = [#tile.axis<block 8>]}> ({
  ^bb0(%b: index, %t: index):
  }) : () -> ()
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  // CHECK: every axis of a launch takes at least one step
  tile.launch (%b = block 0) {
    // Nothing.
  }
}

// -----

func.func @f() {
  // CHECK: a launch is the body of a loop.kernel
  tile.launch (%b = block 8) {
  }
  func.return
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%b = block 8) {
    %v = arith.constant 1.0 : f32
    %s = tile.stage (%i) in [8] {
      // CHECK: a stage computes values; it does not store
      loop.store %v, %out[%i] : memref<8xf32>
      loop.yield %v : f32
    } : memref<8xf32, 3>
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%b = block 8, %t = thread 4) {
    %v = loop.load %x[%b] : memref<8xf32>
    // CHECK: every thread along %t stores the same element; subscript with %t or add 'where [0 - %t]'
    loop.store %v, %out[%b] : memref<8xf32>
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%l = lane 8) {
    %v = loop.load %x[%l] : memref<8xf32>
    // CHECK: name each axis once
    %s = tile.combine %v across %l, %l with add : f32
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%l = lane 8) {
    %v = loop.load %x[%l] : memref<8xf32>
    // CHECK: combine at least one value across at least one axis
    "tile.combine"(%v) <{monoid = #prim.monoid add, operandSegmentSizes = array<i32: 1, 0, 0>}> : (f32) -> f32
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%l = lane 8) {
    loop.for %i in 8 {
      %v = loop.load %x[%i] : memref<8xf32>
      // CHECK: combine across axes of the enclosing tile.launch
      %s = tile.combine %v across %i with add : f32
    }
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%b = block 8) {
    // CHECK: the body of a stage yields one value
    %s = tile.stage (%i) in [8] {
      %v = loop.load %x[%i] : memref<8xf32>
      loop.yield %v, %v : f32, f32
    } : memref<8xf32, 3>
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%b = block 8) {
    // CHECK: the slab must be memref<8xf32, 3 : i64>, not memref<8xf32>
    %s = tile.stage (%i) in [8] {
      %v = loop.load %x[%i] : memref<8xf32>
      loop.yield %v : f32
    } : memref<8xf32>
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%b = block 8) {
    // CHECK: give one extent for each slab coordinate
    %s = "tile.stage"() <{extents = array<i64: 8>}> ({
    ^bb0(%i: index, %j: index):
      %v = loop.load %x[%i] : memref<8xf32>
      loop.yield %v : f32
    }) : () -> memref<8xf32, 3>
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%b = block 8, %t = thread 8) {
    // CHECK: a stage is the same for the whole block; it must not depend on the thread axis %t
    %s = tile.stage (%i) in [8] {
      %v = loop.load %x[%t] : memref<8xf32>
      loop.yield %v : f32
    } : memref<8xf32, 3>
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%b = block 8, %r = register 8) {
    // CHECK: a stage is the same for the whole block; it must not depend on the register axis %r
    %s = tile.stage (%i) in [8] {
      %v = loop.load %x[%i] : memref<8xf32>
      loop.yield %v where [6 - %r] : f32
    } : memref<8xf32, 3>
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%b = block 8) {
    %v = loop.load %x[%b] : memref<8xf32>
    // CHECK: the mask takes 1 operands, got 0
    %s = "tile.combine"(%v, %b) <{monoid = #prim.monoid add, mask = affine_map<(d0) -> (d0)>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (f32, index) -> f32
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%b = block 8, %t = thread 8) {
    %v = loop.load %x[%t] : memref<8xf32>
    %w = arith.negf %v : f32
    // CHECK: a stage is the same for the whole block; it must not depend on the thread axis %t
    %s = tile.stage (%i) in [8] {
      loop.yield %w : f32
    } : memref<8xf32, 3>
  }
}

// -----

loop.kernel @k(%x: memref<8x4xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%b = block 8, %w = warp 2, %t = thread 4) {
    %v = loop.load %x[%w, %t] : memref<8x4xf32>
    %c = tile.combine %v across %t with add : f32
    // CHECK: a stage is the same for the whole block; it must not depend on the warp axis %w
    %s = tile.stage (%i) in [8] {
      loop.yield %c : f32
    } : memref<8xf32, 3>
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%b = block 8) {
    // CHECK: threads do not exchange values inside a stage; move the tile.stage out
    %s = tile.stage (%i) in [8] {
      %q = tile.stage (%j) in [4] {
        %0 = loop.load %x[%j] : memref<8xf32>
        loop.yield %0 : f32
      } : memref<4xf32, 3>
      %v = loop.load %q[0] : memref<4xf32, 3>
      loop.yield %v : f32
    } : memref<8xf32, 3>
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  // CHECK: a stage holds what its body computes; nothing stores to it
  tile.launch (%t = thread 8) {
    %s = tile.stage (%i) in [8] {
      %0 = loop.load %x[%i] : memref<8xf32>
      loop.yield %0 : f32
    } : memref<8xf32, 3>
    %v = loop.load %x[%t] : memref<8xf32>
    loop.store %v, %s[%t] : memref<8xf32, 3>
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  // CHECK: a launch is the last op of its kernel; move the rest inside
  tile.launch (%t = thread 8) {
  }
  %c = arith.constant 1.0 : f32
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
  }
  // CHECK: before its launch a kernel only computes scalars; move 'loop.for' inside
  tile.launch (%t = thread 8) {
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%t = thread 8) {
    // CHECK: a stage's ring sets its number of slots; remove 'slots' from the layout
    %s = tile.stage (%i) in [8] {
      %0 = loop.load %x[%i] : memref<8xf32>
      loop.yield %0 : f32
    } : memref<8xf32, #tile.layout<slots>, 3 : i64>
    %v = loop.load %s[%t] : memref<8xf32, #tile.layout<slots>, 3 : i64>
    loop.store %v, %out[%t] : memref<8xf32>
  }
}

// -----

loop.kernel @k(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%b = block 2, %t = thread 8, %u = thread 4) {
    // CHECK: the value differs along %u, which is in no subscript
    %v = loop.load %x[%t * 4 + %u] : memref<64xf32>
    %s = tile.share %v at [%t] : memref<8xf32, 3 : i64>
  }
}

// -----

loop.kernel @k(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%b = block 2, %t = thread 8, %u = thread 4) {
    // CHECK: share along thread and register axes of the tile.launch
    %v = loop.load %x[%t] : memref<64xf32>
    %s = tile.share %v at [%b, %t] : memref<2x8xf32, 3 : i64>
  }
}

// -----

loop.kernel @k(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%b = block 2, %t = thread 8, %u = thread 4) {
    // CHECK: the axes of a subscript number each of its 9 elements once
    %v = loop.load %x[%t] : memref<64xf32>
    %s = tile.share %v at [%t] : memref<9xf32, 3 : i64>
  }
}

// -----

loop.kernel @k(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%b = block 2, %t = thread 8, %u = thread 4) {
    // CHECK: the axes of a subscript number each of its 16 elements once
    %v = loop.load %x[%t] : memref<64xf32>
    %s = tile.share %v at [%t * 2] : memref<16xf32, 3 : i64>
  }
}

// -----

loop.kernel @k(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%b = block 2, %t = thread 8, %u = thread 4) {
    // CHECK: the axes of a subscript number each of its 11 elements once
    %v = loop.load %x[%t * 4 + %u] : memref<64xf32>
    %s = tile.share %v at [%t + %u] : memref<11xf32, 3 : i64>
  }
}

// -----

loop.kernel @k(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%b = block 2, %t = thread 8, %u = thread 4) {
    // CHECK: each axis is a part of one subscript
    %v = loop.load %x[%t] : memref<64xf32>
    %s = tile.share %v at [%t, %t] : memref<8x8xf32, 3 : i64>
  }
}

// -----

loop.kernel @k(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%b = block 2, %t = thread 8, %u = thread 4) {
    // CHECK: the slab is in shared memory
    %v = loop.load %x[%t] : memref<64xf32>
    %s = tile.share %v at [%t] : memref<8xf32>
  }
}

// -----

loop.kernel @k(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%b = block 2, %t = thread 8) {
    // CHECK: the layout is not one of 1 axes
    %v = loop.load %x[%t] : memref<64xf32>
    %s = tile.share %v at [%t] : memref<8xf32, #tile.layout<order [1, 0]>, 3 : i64>
  }
}

// -----

loop.kernel @k(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%b = block 2, %t = thread 8) {
    // CHECK: a shared slab is not in a ring; remove 'slots' from the layout
    %v = loop.load %x[%t] : memref<64xf32>
    %s = tile.share %v at [%t] : memref<8xf32, #tile.layout<slots>, 3 : i64>
  }
}

// -----

loop.kernel @k(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%b = block 2, %t = thread 8, %u = thread 4) {
    // CHECK: threads do not exchange values inside a stage; move the tile.share out
    %s = tile.stage (%i) in [8] {
      %0 = loop.load %x[%i] : memref<64xf32>
      %1 = tile.share %0 at [%t] : memref<8xf32, 3 : i64>
      %2 = loop.load %1[%i] : memref<8xf32, 3 : i64>
      loop.yield %2 : f32
    } : memref<8xf32, 3 : i64>
  }
}

// -----

// A value defined by itself, which the stage would follow without end.
loop.kernel @k(%b: memref<64xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%t = thread 64) {
    %s = tile.stage (%k) in [64] {
      %0 = loop.load %b[%k] : memref<64xf32>
      // CHECK: 'arith.mulf': operand #0 is not defined before this use
      %1 = arith.mulf %1, %0 : f32
      loop.yield %1 : f32
    } : memref<64xf32, 3 : i64>
  }
}

// -----

loop.kernel @k(%a: memref<33x36xf32>) -> (%out: memref<33xf32>) {
  tile.launch (%t = thread 64) {
    // CHECK: every coordinate of a slab takes at least one step
    %as = tile.stage (%i, %k) in [32, 0] ring(depth 2) transport(cp_async) {
      %0 = loop.load %a[%i, %k] : memref<33x36xf32>
      loop.yield %0 : f32
    } : memref<32x0xf32, 3 : i64>
  }
}

// -----

loop.kernel @k(%a: memref<4x32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%t = thread 32) {
    loop.for %ko in 1 {
      // CHECK: a ring has at most 64 slots, not 1099511627776
      %s = tile.stage (%i, %j) in [4, 32] ring(depth 1099511627776, lookahead 1099511627775) {
        %0 = loop.load %a[%i, %j] : memref<4x32xf32>
        loop.yield %0 : f32
      } : memref<4x32xf32, 3 : i64>
    }
  }
}

// -----

// CHECK: a ring has at most 64 slots, not 65
kernel.func grid 1 block 32 @f(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  %ring = kernel.ring bytes 16 : !kernel.ring<65, sync>
}
