// RUN: opt-tool %s -p convert-tile-to-kernel --check=each | filecheck %s

// Each phase of a kernel begins with a comment, which names PyTorch's ops where they are known.

// Values joined by threads and registers; stores with the computation of their values.
// CHECK-LABEL: @softmax(
// CHECK:         kernel.comment "load x"
// CHECK-NEXT:    %x_1 = kernel.registers
// CHECK:         kernel.comment "softmax: maximum across 4 values of each thread and 32 threads"
// CHECK:         kernel.comment "softmax: elementwise"
// CHECK:         kernel.comment "softmax: sum across 4 values of each thread and 32 threads"
// CHECK:         kernel.comment "softmax, relu: elementwise, stored to out"
// CHECK-NOT:     kernel.comment
// CHECK:       kernel.func
loop.kernel @softmax(%x: memref<36x100xf32>) -> (%out: memref<36x100xf32>) {
  tile.launch (%rb = block 9 row, %rw = thread 4 row, %t = thread 32 k, %v = register 4 k) {
    %0 = loop.load %x[%rb * 4 + %rw, %t * 4 + %v] where [99 - %t * 4 - %v] : memref<36x100xf32> loc("softmax_1")
    %max = tile.combine %0 across %t, %v with max where [99 - %t * 4 - %v] : f32 loc("softmax_1")
    %1 = arith.subf %0, %max : f32 loc("softmax_1")
    %2 = math.exp %1 : f32 loc("softmax_1")
    %sum = tile.combine %2 across %t, %v with add where [99 - %t * 4 - %v] : f32 loc("softmax_1")
    %3 = arith.divf %2, %sum : f32 loc("softmax_1")
    %zero = arith.constant 0.0 : f32
    %4 = arith.maximumf %3, %zero : f32 loc("relu")
    loop.store %4, %out[%rb * 4 + %rw, %t * 4 + %v] where [99 - %t * 4 - %v] : memref<36x100xf32> loc("relu")
  }
}

// The comment on the loop of a product names the result of a block, and the fused ops; so do those
// on its stages. In the ring the first step is filled before the loop, whose body has phases of its
// own.
// CHECK-LABEL: @linear(
// CHECK:         kernel.comment "stage the first step: xs from x; ws from silu of w"
// CHECK:         kernel.comment "linear of mul: 32x32 outputs, sum over ko, 4 steps of 16"
// CHECK-NOT:     kernel.comment
// CHECK:         scf.for %ko
// CHECK-NEXT:      kernel.comment "stage step ko + 1: xs, ws"
// CHECK-NEXT:      kernel.ring_wait
// CHECK:           kernel.ring_commit
// CHECK:           kernel.comment "linear of mul: sum over ki, 16 steps"
// CHECK:           kernel.comment "finish step ko + 1: ws"
// CHECK-NEXT:      loop.predicate
// CHECK:         kernel.comment "store out"
// CHECK-NOT:     kernel.comment
// CHECK:       kernel.func
loop.kernel @linear(%x: memref<64x64xf32>, %w: memref<64x64xf32>) -> (%out: memref<64x64xf32>) {
  tile.launch (%bm = block 2 m, %bn = block 2 n, %tm = thread 8 m, %tn = thread 8 n, %vm = register 4 m, %vn = register 4 n) {
    %acc = loop.reduce %ko in 4 with add {
      %xs = tile.stage (%i, %k) in [32, 16] ring(depth 2, lookahead 1) transport(cp_async) {
        %0 = loop.load %x[%bm * 32 + %i, %ko * 16 + %k] : memref<64x64xf32>
        loop.yield %0 : f32
      } : memref<32x16xf32, #tile.layout<pad [0, 4]>, 3 : i64>
      %ws = tile.stage (%k, %j) in [16, 32] ring(depth 2, lookahead 1) {
        %0 = loop.load %w[%ko * 16 + %k, %bn * 32 + %j] : memref<64x64xf32>
        %1 = math.exp %0 : f32 loc("silu")
        loop.yield %1 : f32
      } : memref<16x32xf32, 3 : i64>
      %chunk = loop.reduce %ki in 16 with add unroll {
        %0 = loop.load %xs[%tm * 4 + %vm, %ki] : memref<32x16xf32, #tile.layout<pad [0, 4]>, 3 : i64>
        %1 = arith.mulf %0, %0 : f32 loc("mul")
        %2 = loop.load %ws[%ki, %tn * 4 + %vn] : memref<16x32xf32, 3 : i64>
        %3 = arith.mulf %1, %2 : f32 loc("linear")
        loop.yield %3 : f32
      } : f32 loc("linear")
      loop.yield %chunk : f32
    } : f32 loc("linear")
    loop.store %acc, %out[%bm * 32 + %tm * 4 + %vm, %bn * 32 + %tn * 4 + %vn] : memref<64x64xf32>
  }
}

// The number of steps of a loop that may be left early is unknown. A scan joins in each step; of
// many ops the first are named.
// CHECK-LABEL: @loops(
// CHECK:         kernel.comment "maximum over k, up to 4 steps"
// CHECK:         kernel.comment "cumsum of abs, exp, neg, sqrt and 1 more: running sum over j, 3 steps"
// CHECK-NOT:     kernel.comment
// CHECK:       kernel.func
loop.kernel @loops(%x: memref<4x4xf32>) -> (%out: memref<4x3xf32>) {
  tile.launch (%t = thread 4) {
    %max = loop.reduce %k in 4 below [%t + 1] with max {
      %0 = loop.load %x[%t, %k] : memref<4x4xf32>
      loop.yield %0 : f32
    } : f32
    loop.scan %j in 3 {
      %0 = loop.load %x[%t, %j] : memref<4x4xf32>
      %1 = math.absf %0 : f32 loc("abs")
      %2 = math.exp %1 : f32 loc("exp")
      %3 = arith.negf %2 : f32 loc("neg")
      %4 = math.sqrt %3 : f32 loc("sqrt")
      %5 = arith.addf %4, %max : f32 loc("add")
      %sum = loop.prefix %5 with add : f32
      loop.store %sum, %out[%t, %j] : memref<4x3xf32>
    } loc("cumsum")
  }
}

// A combine without partners is no phase, nor is a store into which blocks join their values.
// CHECK-LABEL: @atomic(
// CHECK:         kernel.comment "load x"
// CHECK:         kernel.comment "sum across 4 blocks, one by one"
// CHECK-NEXT:    kernel.atomic
// CHECK-NEXT:  }
loop.kernel @atomic(%x: memref<4x32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%s = block 4 split, %u = thread 1, %t = thread 32) {
    %0 = loop.load %x[%s, %t] : memref<4x32xf32>
    %1 = tile.combine %0 across %u with add : f32
    %sum = tile.combine %1 across %s with add join(atomic) : f32
    loop.store %sum, %out[%t] : memref<32xf32>
  }
}

// The name of a kernel with one phase says the same.
// CHECK-LABEL: @mul_silu(
// CHECK-NOT:     kernel.comment
loop.kernel @mul_silu(%x: memref<32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%t = thread 32) {
    %0 = loop.load %x[%t] : memref<32xf32>
    %1 = arith.mulf %0, %0 : f32 loc("mul")
    loop.store %1, %out[%t] : memref<32xf32>
  }
}
