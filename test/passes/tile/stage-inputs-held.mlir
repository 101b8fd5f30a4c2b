// RUN: opt-tool %s -p stage-inputs --check=each | filecheck %s
// RUN: opt-tool %s -p stage-inputs | opt-tool | filecheck %s
// RUN: opt-tool %s -p 'stage-inputs{raw=s,v}' --check=each | filecheck %s --check-prefix=RAW
// RUN: opt-tool %s -p 'stage-inputs,register-tile{fm=4 fn=1},mark-unroll' --check=each | filecheck %s --check-prefix=TILED
// RUN: opt-tool %s -p stage-inputs,to-kernel --check=each | filecheck %s --check-prefix=KERNEL

// The threads of a row hold its maximum, and other threads fill the slab of weights: they share the
// maximum. Each weight is computed once for a block, not by all threads that multiply with it. 13 rows
// are no multiple of 8, and 40 keys no multiple of 16.
// CHECK:      loop.kernel @weights(%s: memref<13x40xf32>, %v: memref<40x8xf32>) -> (%out: memref<13x8xf32>) {
// CHECK-NEXT:   tile.launch (%bm = block 2 m, %tm = thread 8 m, %tn = thread 8 n) {
// CHECK-NEXT:     %p = loop.reduce %l in 5 with max {
// CHECK-NEXT:       %0 = loop.load %s[%bm * 8 + %tm, %l * 8 + %tn] where [12 - %bm * 8 - %tm] : memref<13x40xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %max = tile.combine %p across %tn with max : f32
// CHECK-NEXT:     %maxs = tile.share %max at [%tm] : memref<8xf32, 3 : i64>
// CHECK-NEXT:     %sum = loop.reduce %ko in 3 with add {
// CHECK-NEXT:       %ss = tile.stage (%i, %k) in [8, 16] {
// CHECK-NEXT:         %1 = loop.load %maxs[%i] : memref<8xf32, 3 : i64>
// CHECK-NEXT:         %2 = loop.load %s[%bm * 8 + %i, %ko * 16 + %k] where [12 - %bm * 8 - %i, 39 - %ko * 16 - %k] : memref<13x40xf32>
// CHECK-NEXT:         %3 = arith.subf %2, %1 : f32
// CHECK-NEXT:         %4 = math.exp %3 : f32
// CHECK-NEXT:         loop.yield %4 : f32
// CHECK-NEXT:       } : memref<8x16xf32, 3 : i64>
// CHECK-NEXT:       %vs = tile.stage (%k_1, %j) in [16, 8] {
// CHECK-NEXT:         %5 = loop.load %v[%ko * 16 + %k_1, %j] where [39 - %ko * 16 - %k_1] : memref<40x8xf32>
// CHECK-NEXT:         loop.yield %5 : f32
// CHECK-NEXT:       } : memref<16x8xf32, 3 : i64>
// CHECK-NEXT:       %chunk = loop.reduce %ki in 16 with add {
// CHECK-NEXT:         %6 = loop.load %ss[%tm, %ki] : memref<8x16xf32, 3 : i64>
// CHECK-NEXT:         %7 = loop.load %vs[%ki, %tn] : memref<16x8xf32, 3 : i64>
// CHECK-NEXT:         %8 = arith.mulf %6, %7 : f32
// CHECK-NEXT:         loop.yield %8 where [39 - %ko * 16 - %ki] : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.yield %chunk : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %sum, %out[%bm * 8 + %tm, %tn] where [12 - %bm * 8 - %tm] : memref<13x8xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "stage-inputs{raw=v computed=s}"

// A slab of plain loads does not need the maximum.
// RAW-NOT: tile.share

// The rows of a thread are numbered as in the slab.
// TILED: %vm = register 4 m
// TILED: %maxs = tile.share %max at [%tm * 4 + %vm] : memref<8xf32, 3 : i64>

// The first thread of a row stores the shared value.
// KERNEL:      kernel.comment "share maxs with all threads"
// KERNEL-NEXT: %maxs = kernel.shared : memref<8xf32, 3 : i64>
// KERNEL-NEXT: %5 = loop.predicate [0 - %thread mod 8] : i1
// KERNEL-NEXT: scf.if %5 {
// KERNEL-NEXT:   loop.store %{{.*}}, %maxs[%tm] : memref<8xf32, 3 : i64>
// KERNEL-NEXT: }
loop.kernel @weights(%s: memref<13x40xf32>, %v: memref<40x8xf32>) -> (%out: memref<13x8xf32>) {
  tile.launch (%bm = block 2 m, %tm = thread 8 m, %tn = thread 8 n) {
    %p = loop.reduce %l in 5 with max {
      %0 = loop.load %s[%bm * 8 + %tm, %l * 8 + %tn] where [12 - %bm * 8 - %tm] : memref<13x40xf32>
      loop.yield %0 : f32
    } : f32
    %max = tile.combine %p across %tn with max : f32
    %sum = loop.reduce %ko in 3 with add {
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %s[%bm * 8 + %tm, %ko * 16 + %ki] where [12 - %bm * 8 - %tm, 39 - %ko * 16 - %ki] : memref<13x40xf32>
        %1 = arith.subf %0, %max : f32
        %2 = math.exp %1 : f32
        %3 = loop.load %v[%ko * 16 + %ki, %tn] where [39 - %ko * 16 - %ki] : memref<40x8xf32>
        %4 = arith.mulf %2, %3 : f32
        loop.yield %4 where [39 - %ko * 16 - %ki] : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %sum, %out[%bm * 8 + %tm, %tn] where [12 - %bm * 8 - %tm] : memref<13x8xf32>
  }
}
