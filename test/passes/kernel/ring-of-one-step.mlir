// RUN: opt-tool %s -p to-kernel --check=each | filecheck %s

// A loop of one step is no loop: its stages are filled once before it, whatever the ring.

// CHECK-LABEL: @one_step
// CHECK-NOT:     kernel.ring
// CHECK:         kernel.copy {{.*}} to %s
// CHECK:         kernel.warp_barrier
// CHECK-NOT:     kernel.ring
loop.kernel @one_step(%x: memref<4x32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%t = thread 32) {
    %sum = loop.reduce %ko in 1 with add {
      %s = tile.stage (%i, %j) in [4, 32] ring(depth 2, lookahead 1) transport(cp_async) {
        %0 = loop.load %x[%ko * 4 + %i, %j] : memref<4x32xf32>
        loop.yield %0 : f32
      } : memref<4x32xf32, 3 : i64>
      %chunk = loop.reduce %k in 4 with add {
        %0 = loop.load %s[%k, %t] : memref<4x32xf32, 3 : i64>
        loop.yield %0 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %sum, %out[%t] : memref<32xf32>
  }
}

// The same where each thread has several sums: they start from zero in the chunk.

// CHECK-LABEL: @one_step_of_registers
// CHECK-NOT:     kernel.ring
loop.kernel @one_step_of_registers(%x: memref<4x64xf32>) -> (%out: memref<64xf32>) {
  tile.launch (%t = thread 16, %r = register 4) {
    %sum = loop.reduce %ko in 1 with add {
      %s = tile.stage (%i, %j) in [4, 64] ring(depth 3, lookahead 2) transport(tma) {
        %0 = loop.load %x[%ko * 4 + %i, %j] : memref<4x64xf32>
        loop.yield %0 : f32
      } : memref<4x64xf32, 3 : i64>
      %chunk = loop.reduce %k in 4 with add unroll {
        %0 = loop.load %s[%k, %t * 4 + %r] : memref<4x64xf32, 3 : i64>
        loop.yield %0 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %sum, %out[%t * 4 + %r] : memref<64xf32>
  }
}

// A single step may be a chunk itself, and have one.

// CHECK-LABEL: @one_step_between
loop.kernel @one_step_between(%x: memref<12x32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%t = thread 32) {
    %sum = loop.reduce %ko in 3 with add {
      %middle = loop.reduce %km in 1 with add {
        %chunk = loop.reduce %k in 4 with add {
          %0 = loop.load %x[%ko * 4 + %km + %k, %t] : memref<12x32xf32>
          loop.yield %0 : f32
        } : f32
        loop.yield %chunk : f32
      } : f32
      loop.yield %middle : f32
    } : f32
    loop.store %sum, %out[%t] : memref<32xf32>
  }
}
