// RUN: opt-tool %s -p convert-tile-to-kernel --check=each | filecheck %s

// Maxima and sums of rows have one value for each row, which the threads along %tn share: one of
// them stores it. The weights of a row are computed once, and all columns take them from registers.
// CHECK-LABEL: @attention(
// CHECK:        %m = kernel.registers : memref<2xf32, 5 : i64>
// CHECK-NEXT:   %l = kernel.registers : memref<2xf32, 5 : i64>
// CHECK-NEXT:   %o = kernel.registers : memref<2x4x2xf32, 5 : i64>
// CHECK-NEXT:   kernel.unroll %vm_2 in 2 {
// CHECK-NEXT:     %m_1 = loop.load %x_1[%vm_2] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     loop.store %m_1, %m[%vm_2] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     loop.store %one, %l[%vm_2] : memref<2xf32, 5 : i64>
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.unroll %vm_3 in 2, %un_1 in 4, %vn_1 in 2 {
// CHECK-NEXT:     %o_1 = loop.load %y_1[%vm_3, %un_1, %vn_1] : memref<2x4x2xf32, 5 : i64>
// CHECK-NEXT:     loop.store %o_1, %o[%vm_3, %un_1, %vn_1] : memref<2x4x2xf32, 5 : i64>
// CHECK-NEXT:   }
// CHECK-NEXT:   %partial = kernel.shared : memref<8x2xf32, 3 : i64>
// CHECK-NEXT:   %partial_1 = kernel.shared : memref<8x2xf32, 3 : i64>
// CHECK-NEXT:   %partial_2 = kernel.shared : memref<2x4x32x2xf32, 3 : i64>
// CHECK-NEXT:   %2 = loop.predicate [0 - %thread mod 4] : i1
// CHECK-NEXT:   scf.if %2 {
// CHECK-NEXT:     kernel.unroll %vm_4 in 2 {
// CHECK-NEXT:       %m_2 = loop.load %m[%vm_4] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       loop.store %m_2, %partial[%thread floordiv 4, %vm_4] : memref<8x2xf32, 3 : i64>
// CHECK-NEXT:       %l_1 = loop.load %l[%vm_4] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       loop.store %l_1, %partial_1[%thread floordiv 4, %vm_4] : memref<8x2xf32, 3 : i64>
// CHECK:        %o_3 = kernel.registers : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:   %3 = arith.constant 0xff800000 : f32
// CHECK-NEXT:   %o_4 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   kernel.unroll %un_3 in 2, %vn_3 in 2 {
// CHECK-NEXT:     loop.store %o_4, %o_3[%un_3, %vn_3] : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:   }
// CHECK-NEXT:   %4 = arith.constant 0 : index
// CHECK-NEXT:   %5 = arith.constant 4 : index
// CHECK-NEXT:   %6 = arith.constant 1 : index
// CHECK-NEXT:   %m_3, %l_2 = scf.for %r = %4 to %5 step %6 iter_args(%7 = %3, %8 = %o_4) -> (f32, f32) {
// CHECK-NEXT:     %theirs = kernel.remote %partial of %r : memref<8x2xf32, 3 : i64>
// CHECK-NEXT:     %theirs_1 = kernel.remote %partial_1 of %r : memref<8x2xf32, 3 : i64>
// CHECK-NEXT:     %theirs_2 = kernel.remote %partial_2 of %r : memref<2x4x32x2xf32, 3 : i64>
// CHECK-NEXT:     %other = loop.load %theirs[%thread floordiv 4, %s floordiv 2] : memref<8x2xf32, 3 : i64>
// CHECK-NEXT:     %other_1 = loop.load %theirs_1[%thread floordiv 4, %s floordiv 2] : memref<8x2xf32, 3 : i64>
// CHECK-NEXT:     %9 = arith.maximumf %7, %other : f32
// CHECK-NEXT:     %10 = arith.constant -3.40282347e+38 : f32
// CHECK-NEXT:     %11 = arith.maximumf %9, %10 : f32
// CHECK-NEXT:     %12 = arith.subf %7, %11 : f32
// CHECK-NEXT:     %kept = math.exp %12 : f32
// CHECK-NEXT:     %13 = arith.subf %other, %11 : f32
// CHECK-NEXT:     %taken = math.exp %13 : f32
// CHECK-NEXT:     %14 = arith.mulf %8, %kept : f32
// CHECK-NEXT:     %15 = arith.mulf %other_1, %taken : f32
// CHECK-NEXT:     %16 = arith.addf %14, %15 : f32
// CHECK-NEXT:     kernel.unroll %un_4 in 2, %vn_4 in 2 {
// CHECK-NEXT:       %o_5 = loop.load %o_3[%un_4, %vn_4] : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:       %other_2 = loop.load %theirs_2[%s floordiv 2, %s mod 2 * 2 + %un_4, %thread, %vn_4] : memref<2x4x32x2xf32, 3 : i64>
// CHECK-NEXT:       %17 = arith.mulf %o_5, %kept : f32
// CHECK-NEXT:       %18 = arith.mulf %other_2, %taken : f32
// CHECK-NEXT:       %o_6 = arith.addf %17, %18 : f32
// CHECK-NEXT:       loop.store %o_6, %o_3[%un_4, %vn_4] : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:     }
// CHECK-NEXT:     scf.yield %9, %16 : f32, f32
// CHECK-NEXT:   } {unroll}
loop.kernel @attention(%x: memref<4x16xf32>, %y: memref<4x16x32xf32>) -> (%out: memref<16x32xf32>) {
  %one = arith.constant 1.0 : f32
  tile.launch (%s = block 4 split, %tm = thread 8, %tn = thread 4, %vm = register 2, %un = register 4, %vn = register 2) {
    %0 = loop.load %x[%s, %tm * 2 + %vm] : memref<4x16xf32>
    %1 = loop.load %y[%s, %tm * 2 + %vm, %un * 8 + %tn * 2 + %vn] : memref<4x16x32xf32>
    %m, %l, %o = tile.combine %0, %one, %1 across %s with softmax join(cluster) : f32, f32, f32
    %2 = arith.divf %o, %l : f32
    loop.store %2, %out[%tm * 2 + %vm, %un * 8 + %tn * 2 + %vn] : memref<16x32xf32>
  }
}

// Threads join by shuffles in the same way.
// CHECK-LABEL: @threads(
// CHECK:        %kept = kernel.registers : memref<2xf32, 5 : i64>
// CHECK-NEXT:   %taken = kernel.registers : memref<2xf32, 5 : i64>
// CHECK-NEXT:   kernel.unroll %vm_4 in 2 {
// CHECK-NEXT:     %m_2 = loop.load %m[%vm_4] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     %l_1 = loop.load %l[%vm_4] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     %other = kernel.shuffle xor %m_2, 1 width 2 : f32
// CHECK-NEXT:     %other_1 = kernel.shuffle xor %l_1, 1 width 2 : f32
// CHECK-NEXT:     %m_3 = arith.maximumf %m_2, %other : f32
// CHECK-NEXT:     %2 = arith.constant -3.40282347e+38 : f32
// CHECK-NEXT:     %3 = arith.maximumf %m_3, %2 : f32
// CHECK-NEXT:     %4 = arith.subf %m_2, %3 : f32
// CHECK-NEXT:     %kept_1 = math.exp %4 : f32
// CHECK-NEXT:     %5 = arith.subf %other, %3 : f32
// CHECK-NEXT:     %taken_1 = math.exp %5 : f32
// CHECK-NEXT:     loop.store %kept_1, %kept[%vm_4] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     loop.store %taken_1, %taken[%vm_4] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     %6 = arith.mulf %l_1, %kept_1 : f32
// CHECK-NEXT:     %7 = arith.mulf %other_1, %taken_1 : f32
// CHECK-NEXT:     %l_2 = arith.addf %6, %7 : f32
// CHECK-NEXT:     loop.store %m_3, %m[%vm_4] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     loop.store %l_2, %l[%vm_4] : memref<2xf32, 5 : i64>
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.unroll %vm_5 in 2, %vn_2 in 3 {
// CHECK-NEXT:     %o_2 = loop.load %o[%vm_5, %vn_2] : memref<2x3xf32, 5 : i64>
// CHECK-NEXT:     %other_2 = kernel.shuffle xor %o_2, 1 width 2 : f32
// CHECK-NEXT:     %kept_2 = loop.load %kept[%vm_5] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     %taken_2 = loop.load %taken[%vm_5] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     %8 = arith.mulf %o_2, %kept_2 : f32
// CHECK-NEXT:     %9 = arith.mulf %other_2, %taken_2 : f32
// CHECK-NEXT:     %o_3 = arith.addf %8, %9 : f32
// CHECK-NEXT:     loop.store %o_3, %o[%vm_5, %vn_2] : memref<2x3xf32, 5 : i64>
loop.kernel @threads(%x: memref<2x2x8xf32>, %y: memref<2x2x8x3xf32>) -> (%out: memref<2x2x3xf32>) {
  %one = arith.constant 1.0 : f32
  tile.launch (%b = block 2, %tb = thread 16, %k = thread 2, %vm = register 2, %vn = register 3) {
    %0 = loop.load %x[%b, %vm, %k] : memref<2x2x8xf32>
    %1 = loop.load %y[%b, %vm, %k, %vn] : memref<2x2x8x3xf32>
    %m, %l, %o = tile.combine %0, %one, %1 across %k with softmax : f32, f32, f32
    %2 = arith.divf %o, %l : f32
    loop.store %2, %out[%b, %vm, %vn] where [0 - %k, 0 - %tb] : memref<2x2x3xf32>
  }
}
