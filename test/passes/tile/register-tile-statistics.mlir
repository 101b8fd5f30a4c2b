// RUN: opt-tool %s -p 'register-tile{fm=4 fn=4 fk=1 min_blocks=0}' --check=each | filecheck %s

// A value that is joined across the columns of a row is joined across its threads and across the
// registers of each. Rows beyond the end were masked before.
// CHECK:      loop.kernel @attention_values(%scores: memref<2x40x40xf32>, %v: memref<1x40x64xf32>) -> (%out: memref<2x40x64xf32>) {
// CHECK-NEXT:   tile.launch (%h = block 2 batch, %bm = block 2 m, %tm = thread 8 m, %tn = thread 16 n, %vm = register 4 m, %vn = register 4 n) {
// CHECK-NEXT:     %p = loop.reduce %kc in 1 with max {
// CHECK-NEXT:       %0 = loop.load %scores[%h, %bm * 32 + %tm * 4 + %vm, %tn * 4 + %vn] where [39 - %bm * 32 - %tm * 4 - %vm, 39 - %tn * 4 - %vn] : memref<2x40x40xf32>
// CHECK-NEXT:       loop.yield %0 where [%bm * 32 + %tm * 4 + %vm - %tn * 4 - %vn] : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %max = tile.combine %p across %tn, %vn with max : f32
// CHECK-NEXT:     %q = loop.reduce %kc_1 in 1 with add {
// CHECK-NEXT:       %1 = loop.load %scores[%h, %bm * 32 + %tm * 4 + %vm, %tn * 4 + %vn] where [39 - %bm * 32 - %tm * 4 - %vm, 39 - %tn * 4 - %vn] : memref<2x40x40xf32>
// CHECK-NEXT:       %2 = arith.subf %1, %max : f32
// CHECK-NEXT:       %3 = math.exp %2 : f32
// CHECK-NEXT:       loop.yield %3 where [%bm * 32 + %tm * 4 + %vm - %tn * 4 - %vn] : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %sum = tile.combine %q across %tn, %vn with add : f32
// CHECK-NEXT:     %acc = loop.reduce %ko in 3 below [%bm * 2 + 2] with add {
// CHECK-NEXT:       %ss = tile.stage (%i, %k) in [32, 16] {
// CHECK-NEXT:         %4 = loop.load %scores[%h, %bm * 32 + %i, %ko * 16 + %k] where [39 - %bm * 32 - %i, 39 - %ko * 16 - %k] : memref<2x40x40xf32>
// CHECK-NEXT:         loop.yield %4 : f32
// CHECK-NEXT:       } : memref<32x16xf32, 3 : i64>
// CHECK-NEXT:       %chunk = loop.reduce %ki in 16 with add {
// CHECK-NEXT:         %5 = loop.load %ss[%tm * 4 + %vm, %ki] : memref<32x16xf32, 3 : i64>
// CHECK-NEXT:         %6 = arith.subf %5, %max : f32
// CHECK-NEXT:         %7 = math.exp %6 : f32
// CHECK-NEXT:         %8 = loop.load %v[0, %ko * 16 + %ki, %tn * 4 + %vn] where [39 - %ko * 16 - %ki] : memref<1x40x64xf32>
// CHECK-NEXT:         %9 = arith.mulf %7, %8 : f32
// CHECK-NEXT:         loop.yield %9 where [%bm * 32 + %tm * 4 + %vm - %ko * 16 - %ki] : f32
// CHECK-NEXT:       } : f32
// CHECK-NEXT:       loop.yield %chunk : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %o = arith.divf %acc, %sum : f32
// CHECK-NEXT:     loop.store %o, %out[%h, %bm * 32 + %tm * 4 + %vm, %tn * 4 + %vn] where [39 - %bm * 32 - %tm * 4 - %vm] : memref<2x40x64xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "register-tile{fm=4 fn=4 fk=1 min_blocks=0}"
loop.kernel @attention_values(%scores: memref<2x40x40xf32>, %v: memref<1x40x64xf32>) -> (%out: memref<2x40x64xf32>) {
  tile.launch (%h = block 2 batch, %bm = block 2 m, %tm = thread 32 m, %tn = thread 64 n) {
    %p = loop.reduce %kc in 1 with max {
      %0 = loop.load %scores[%h, %bm * 32 + %tm, %kc * 64 + %tn] where [39 - %bm * 32 - %tm, 39 - %kc * 64 - %tn] : memref<2x40x40xf32>
      loop.yield %0 where [%bm * 32 + %tm - %kc * 64 - %tn] : f32
    } : f32
    %max = tile.combine %p across %tn with max : f32
    %q = loop.reduce %kc in 1 with add {
      %0 = loop.load %scores[%h, %bm * 32 + %tm, %kc * 64 + %tn] where [39 - %bm * 32 - %tm, 39 - %kc * 64 - %tn] : memref<2x40x40xf32>
      %1 = arith.subf %0, %max : f32
      %2 = math.exp %1 : f32
      loop.yield %2 where [%bm * 32 + %tm - %kc * 64 - %tn] : f32
    } : f32
    %sum = tile.combine %q across %tn with add : f32
    %acc = loop.reduce %ko in 3 below [%bm * 2 + 2] with add {
      %ss = tile.stage (%i, %k) in [32, 16] {
        %0 = loop.load %scores[%h, %bm * 32 + %i, %ko * 16 + %k] where [39 - %bm * 32 - %i, 39 - %ko * 16 - %k] : memref<2x40x40xf32>
        loop.yield %0 : f32
      } : memref<32x16xf32, 3 : i64>
      %chunk = loop.reduce %ki in 16 with add {
        %0 = loop.load %ss[%tm, %ki] : memref<32x16xf32, 3 : i64>
        %1 = arith.subf %0, %max : f32
        %2 = math.exp %1 : f32
        %3 = loop.load %v[0, %ko * 16 + %ki, %tn] where [39 - %ko * 16 - %ki] : memref<1x40x64xf32>
        %4 = arith.mulf %2, %3 : f32
        loop.yield %4 where [%bm * 32 + %tm - %ko * 16 - %ki] : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    %o = arith.divf %acc, %sum : f32
    loop.store %o, %out[%h, %bm * 32 + %tm, %tn] where [39 - %bm * 32 - %tm] : memref<2x40x64xf32>
  }
}
