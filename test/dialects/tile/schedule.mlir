// RUN: opt-tool %s | opt-tool - | filecheck %s
// RUN: opt-tool %s --print-op-generic | opt-tool - | filecheck %s

// A schedule changes no value of a kernel: rings, transports, layouts, joins, bounds.

// CHECK-LABEL: loop.kernel @rings
loop.kernel @rings(%x: memref<64x128xf32>, %y: memref<128x64xf32>) -> (%out: memref<64x64xf32>) {
  // CHECK-NEXT: tile.launch (%s = block 2 split, %tm = thread 64 m, %tn = thread 4 n, %rn = register 16 n) min_blocks 3 {
  tile.launch (%s = block 2 split, %tm = thread 64 m, %tn = thread 4 n, %rn = register 16 n) min_blocks 3 {
    // CHECK-NEXT: %p = loop.reduce %ko in 4 below [%s + 3, 4] with add {
    %p = loop.reduce %ko in 4 below [%s + 3, 4] with add {
      // CHECK-NEXT: tile.stage (%i, %k) in [64, 16] ring(depth 4, lookahead 3) transport(tma) {
      %xs = tile.stage (%i, %k) in [64, 16] ring(depth 4, lookahead 3) transport(tma) {
        %0 = loop.load %x[%i, %s * 64 + %ko * 16 + %k] : memref<64x128xf32>
        loop.yield %0 : f32
      // CHECK:      } : memref<64x16xf32, #tile.layout<swizzle 64>, 3 : i64>
      } : memref<64x16xf32, #tile.layout<swizzle 64>, 3 : i64>
      // CHECK-NEXT: tile.stage ({{.*}}, %j) in [16, 64] ring(depth 2) transport(cp_async) {
      %ys = tile.stage (%k, %j) in [16, 64] ring(depth 2) transport(cp_async) {
        %0 = loop.load %y[%s * 64 + %ko * 16 + %k, %j] : memref<128x64xf32>
        loop.yield %0 : f32
      // CHECK:      } : memref<16x64xf32, #tile.layout<order [1, 0], pad [4, 0]>, 3 : i64>
      } : memref<16x64xf32, #tile.layout<order [1, 0], pad [4, 0]>, 3 : i64>
      // CHECK-NEXT: loop.reduce %ki in 16 with add unroll {
      %q = loop.reduce %ki in 16 with add unroll {
        %0 = loop.load %xs[%tm, %ki] : memref<64x16xf32, #tile.layout<swizzle 64>, 3 : i64>
        %1 = loop.load %ys[%ki, %tn * 16 + %rn] : memref<16x64xf32, #tile.layout<order [1, 0], pad [4, 0]>, 3 : i64>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %q : f32
    } : f32
    // CHECK: %acc = tile.combine %p across %s with add join(last_block) : f32
    %acc = tile.combine %p across %s with add join(last_block) : f32
    loop.store %acc, %out[%tm, %tn * 16 + %rn] : memref<64x64xf32>
  }
}

// Steps begin at the largest of some expressions, and end at the smallest of others.
// CHECK-LABEL: loop.kernel @window
loop.kernel @window(%x: memref<8x64xf32>) -> (%out: memref<8xf32>) {
  tile.launch (%b = block 8) {
    // CHECK: %p = loop.reduce %k in 64 from [%b * 8 - 16, 3] below [%b * 8 + 8] with add unroll {
    %p = loop.reduce %k in 64 from [%b * 8 - 16, 3] below [%b * 8 + 8] with add unroll {
      %0 = loop.load %x[%b, %k] : memref<8x64xf32>
      loop.yield %0 : f32
    } : f32
    // CHECK: %q = loop.reduce %k_1 in 64 from [%b] with add {
    %q = loop.reduce %k in 64 from [%b] with add {
      %0 = loop.load %x[%b, %k] : memref<8x64xf32>
      loop.yield %0 : f32
    } : f32
    %0 = arith.addf %p, %q : f32
    loop.store %0, %out[%b] : memref<8xf32>
  }
}

// A slab whose inner axis is cut into pieces as wide as the swizzle, and its rows distributed.
// CHECK-LABEL: loop.kernel @pieces
loop.kernel @pieces(%x: memref<64x128xf32>) -> (%out: memref<64x128xf32>) {
  tile.launch (%b = block 4, %t = thread 64) {
    %xs = tile.stage (%i, %k) in [64, 32] {
      %0 = loop.load %x[%i, %b * 32 + %k] : memref<64x128xf32>
      loop.yield %0 : f32
    // CHECK: } : memref<64x32xf32, #tile.layout<deal 4, inner 16, swizzle 64>, 3 : i64>
    } : memref<64x32xf32, #tile.layout<deal 4, inner 16, swizzle 64>, 3 : i64>
    loop.for %k in 32 {
      %0 = loop.load %xs[%t, %k] : memref<64x32xf32, #tile.layout<deal 4, inner 16, swizzle 64>, 3 : i64>
      loop.store %0, %out[%t, %b * 32 + %k] : memref<64x128xf32>
    }
  }
}

// A matrix instruction adds the products of 16 steps at once.
// CHECK-LABEL: loop.kernel @matrix
loop.kernel @matrix(%a: memref<16x32xbf16>, %b: memref<32x8xbf16>) -> (%out: memref<16x8xf32>) {
  tile.launch (%lm = lane 8 m, %ln = lane 4 n, %rm = register 2 m, %vn = register 2 n) {
    // CHECK: %p = loop.reduce %k in 32 with add by(m16n8k16_bf16) {
    %p = loop.reduce %k in 32 with add by(m16n8k16_bf16) {
      %0 = loop.load %a[%rm * 8 + %lm, %k] : memref<16x32xbf16>
      %1 = arith.extf %0 : bf16 to f32
      %2 = loop.load %b[%k, %ln * 2 + %vn] : memref<32x8xbf16>
      %3 = arith.extf %2 : bf16 to f32
      %4 = arith.mulf %1, %3 : f32
      loop.yield %4 : f32
    } : f32
    loop.store %p, %out[%rm * 8 + %lm, %ln * 2 + %vn] : memref<16x8xf32>
  }
}

// A layout that changes nothing is still a layout.
// CHECK: "test.op"() {instruction = #tile<matrix m16n8k8_tf32>} : () -> ()
"test.op"() {instruction = #tile<matrix m16n8k8_tf32>} : () -> ()

// CHECK: #tile.layout<>
"test.op"() {layout = #tile.layout<>} : () -> ()
