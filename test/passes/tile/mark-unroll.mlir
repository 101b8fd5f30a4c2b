// RUN: opt-tool %s -p 'mark-unroll{limit=16}' --check=each | filecheck %s
// RUN: opt-tool %s -p 'mark-unroll{limit=4}' --check=each | filecheck %s --check-prefix=FOUR
// RUN: opt-tool %s -p mark-unroll | filecheck %s
// RUN: not opt-tool %s -p 'mark-unroll{limit=0}' 2>&1 | filecheck %s --check-prefix=NONE

// NONE: error: pass 'mark-unroll': cannot do 'mark-unroll{limit=0}' in @mm: limit is at least 1, not 0

// Chunks of K are unrolled, inner loops first; a loop that fills slabs is not. A loop with too many
// steps is unchanged, and so are the loops around it.
// CHECK: loop.reduce %ko in 4 with add {
// CHECK: loop.reduce %ki in 8 with add unroll {
// CHECK: loop.reduce %kv in 2 with add unroll {
// CHECK: } schedule "mark-unroll{limit=16}"
// FOUR: loop.reduce %ki in 8 with add {
// FOUR: loop.reduce %kv in 2 with add unroll {
// FOUR: } schedule "mark-unroll{limit=4}"
loop.kernel @mm(%a: memref<64x64xf32>, %b: memref<64x64xf32>) -> (%out: memref<64x64xf32>) {
  tile.launch (%bm = block 2 m, %bn = block 2 n, %tm = thread 32 m, %tn = thread 32 n) {
    %acc = loop.reduce %ko in 4 with add {
      %as = tile.stage (%i, %k) in [32, 16] {
        %0 = loop.load %a[%bm * 32 + %i, %ko * 16 + %k] : memref<64x64xf32>
        loop.yield %0 : f32
      } : memref<32x16xf32, 3 : i64>
      %chunk = loop.reduce %ki in 8 with add {
        %two = loop.reduce %kv in 2 with add {
          %x = loop.load %as[%tm, %ki * 2 + %kv] : memref<32x16xf32, 3 : i64>
          %y = loop.load %b[%ko * 16 + %ki * 2 + %kv, %bn * 32 + %tn] : memref<64x64xf32>
          %xy = arith.mulf %x, %y : f32
          loop.yield %xy : f32
        } : f32
        loop.yield %two : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %acc, %out[%bm * 32 + %tm, %bn * 32 + %tn] : memref<64x64xf32>
  }
}

// The size of the unrolled code is limited. 16 steps of 256 fused multiply-adds each, with their loads,
// are too large; 8 steps are not. Loads of 8 steps of 8 elements of global memory may overlap, loads of
// 9 steps may not. A loop whose bound differs between blocks is not unrolled.
// CHECK: loop.reduce %{{.*}} in 16 with add {
// CHECK: loop.reduce %{{.*}} in 8 with add unroll {
// CHECK: loop.reduce %{{.*}} in 8 with max unroll {
// CHECK: loop.reduce %{{.*}} in 9 with max {
// CHECK: loop.reduce %{{.*}} in 5 below [%b + 1] with max {
loop.kernel @large(%a: memref<16x16xf32>, %w: memref<16x256xf32>) -> (%out: memref<16x256xf32>, %half: memref<16x256xf32>, %most: memref<8xf32>, %more: memref<8xf32>, %some: memref<16xf32>) {
  tile.launch (%b = block 1 m, %t = thread 16 n, %u = register 8 m, %vm = register 16 m, %vn = register 16 n) {
    %as = tile.stage (%i, %k) in [16, 16] {
      %0 = loop.load %a[%i, %k] : memref<16x16xf32>
      loop.yield %0 : f32
    } : memref<16x16xf32, 3 : i64>
    %ws = tile.stage (%k, %j) in [16, 256] {
      %0 = loop.load %w[%k, %j] : memref<16x256xf32>
      loop.yield %0 : f32
    } : memref<16x256xf32, 3 : i64>
    %s = loop.reduce %k in 16 with add {
      %0 = loop.load %as[%vm, %k] : memref<16x16xf32, 3 : i64>
      %1 = loop.load %ws[%k, %t * 16 + %vn] : memref<16x256xf32, 3 : i64>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%vm, %t * 16 + %vn] : memref<16x256xf32>
    %h = loop.reduce %k in 8 with add {
      %0 = loop.load %as[%vm, %k] : memref<16x16xf32, 3 : i64>
      %1 = loop.load %ws[%k, %t * 16 + %vn] : memref<16x256xf32, 3 : i64>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %h, %half[%vm, %t * 16 + %vn] : memref<16x256xf32>
    %m = loop.reduce %k in 8 with max {
      %0 = loop.load %a[%u, %k] : memref<16x16xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %m, %most[%u] where [0 - %t] : memref<8xf32>
    %n = loop.reduce %k in 9 with max {
      %0 = loop.load %a[%u, %k] : memref<16x16xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %n, %more[%u] where [0 - %t] : memref<8xf32>
    %e = loop.reduce %k in 5 below [%b + 1] with max {
      %0 = loop.load %as[%vm, %k] : memref<16x16xf32, 3 : i64>
      loop.yield %0 : f32
    } : f32
    loop.store %e, %some[%vm] where [0 - %t] : memref<16xf32>
  }
}

// The step is recorded in the schedule even if the kernel has no loop.
// CHECK: loop.kernel @copy
// CHECK: } schedule "mark-unroll{limit=16}"
loop.kernel @copy(%x: memref<32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%b = block 1, %t = thread 32) {
    %0 = loop.load %x[%t] : memref<32xf32>
    loop.store %0, %out[%t] : memref<32xf32>
  }
}

// Sums take 64 registers, and operands read along K ahead of %kv take 32 each. Two steps of %ki with 32
// registers each fit into 128 registers; with 64 each they do not.
// CHECK: loop.kernel @one_along_k
// CHECK: loop.reduce %ki in 2 with add unroll {
// CHECK: loop.reduce %kv in 4 with add unroll {
// CHECK: loop.kernel @both_along_k
// CHECK: loop.reduce %ki in 2 with add {
// CHECK: loop.reduce %kv in 4 with add unroll {
loop.kernel @one_along_k(%a: memref<256x8xf32>, %b: memref<8x8xf32>) -> (%out: memref<256x8xf32>) {
  tile.launch (%g = block 1 m, %t = thread 32 m, %vm = register 8 m, %vn = register 8 n) {
    %as = tile.stage (%i, %k) in [256, 8] {
      %0 = loop.load %a[%i, %k] : memref<256x8xf32>
      loop.yield %0 : f32
    } : memref<256x8xf32, 3 : i64>
    %bs = tile.stage (%k, %j) in [8, 8] {
      %0 = loop.load %b[%k, %j] : memref<8x8xf32>
      loop.yield %0 : f32
    } : memref<8x8xf32, 3 : i64>
    %s = loop.reduce %ki in 2 with add {
      %four = loop.reduce %kv in 4 with add {
        %0 = loop.load %as[%t * 8 + %vm, %ki * 4 + %kv] : memref<256x8xf32, 3 : i64>
        %1 = loop.load %bs[%ki * 4 + %kv, %vn] : memref<8x8xf32, 3 : i64>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %four : f32
    } : f32
    loop.store %s, %out[%t * 8 + %vm, %vn] : memref<256x8xf32>
  }
}

loop.kernel @both_along_k(%a: memref<256x8xf32>, %b: memref<8x8xf32>) -> (%out: memref<256x8xf32>) {
  tile.launch (%g = block 1 m, %t = thread 32 m, %vm = register 8 m, %vn = register 8 n) {
    %as = tile.stage (%i, %k) in [256, 8] {
      %0 = loop.load %a[%i, %k] : memref<256x8xf32>
      loop.yield %0 : f32
    } : memref<256x8xf32, 3 : i64>
    %bs = tile.stage (%j, %k) in [8, 8] {
      %0 = loop.load %b[%j, %k] : memref<8x8xf32>
      loop.yield %0 : f32
    } : memref<8x8xf32, 3 : i64>
    %s = loop.reduce %ki in 2 with add {
      %four = loop.reduce %kv in 4 with add {
        %0 = loop.load %as[%t * 8 + %vm, %ki * 4 + %kv] : memref<256x8xf32, 3 : i64>
        %1 = loop.load %bs[%vn, %ki * 4 + %kv] : memref<8x8xf32, 3 : i64>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.yield %four : f32
    } : f32
    loop.store %s, %out[%t * 8 + %vm, %vn] : memref<256x8xf32>
  }
}
