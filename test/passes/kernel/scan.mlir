// RUN: opt-tool %s -p convert-tile-to-kernel,cse --check=each | filecheck %s

// A loop carries the joined values of each prefix.
// CHECK:      kernel.func grid 2 block 20 @mean_and_best(%x: memref<40x64xf32>) -> (%sum: memref<40x64xf32>, %at: memref<40x64xi64>) {
// CHECK-NEXT:   %b = kernel.block_id
// CHECK-NEXT:   %t = kernel.thread_id
// CHECK-NEXT:   %0 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   %1 = arith.constant 0x7f800000 : f32
// CHECK-NEXT:   %2 = arith.constant 9223372036854775807 : i64
// CHECK-NEXT:   %3 = arith.constant 0 : index
// CHECK-NEXT:   %4 = arith.constant 64 : index
// CHECK-NEXT:   %5 = arith.constant 1 : index
// CHECK-NEXT:   %6, %7, %8 = scf.for %k = %3 to %4 step %5 iter_args(%s = %0, %m = %1, %a = %2) -> (f32, f32, i64) {
// CHECK-NEXT:     %9 = loop.load %x[%b * 20 + %t, %k] : memref<40x64xf32>
// CHECK-NEXT:     %10 = loop.index [%k] : i64
// CHECK-NEXT:     %s_1 = arith.addf %s, %9 : f32
// CHECK-NEXT:     %11 = arith.cmpf ult, %m, %9 : f32
// CHECK-NEXT:     %12 = arith.cmpf oeq, %9, %9 : f32
// CHECK-NEXT:     %13 = arith.andi %11, %12 : i1
// CHECK-NEXT:     %14 = arith.cmpf une, %m, %m : f32
// CHECK-NEXT:     %15 = arith.cmpf une, %9, %9 : f32
// CHECK-NEXT:     %16 = arith.cmpf oeq, %m, %9 : f32
// CHECK-NEXT:     %17 = arith.andi %14, %15 : i1
// CHECK-NEXT:     %18 = arith.ori %16, %17 : i1
// CHECK-NEXT:     %19 = arith.cmpi slt, %a, %10 : i64
// CHECK-NEXT:     %20 = arith.andi %18, %19 : i1
// CHECK-NEXT:     %21 = arith.ori %13, %20 : i1
// CHECK-NEXT:     %m_1 = arith.select %21, %m, %9 : f32
// CHECK-NEXT:     %a_1 = arith.select %21, %a, %10 : i64
// CHECK-NEXT:     loop.store %s_1, %sum[%b * 20 + %t, %k] : memref<40x64xf32>
// CHECK-NEXT:     loop.store %a_1, %at[%b * 20 + %t, %k] : memref<40x64xi64>
// CHECK-NEXT:     scf.yield %s_1, %m_1, %a_1 : f32, f32, i64
// CHECK-NEXT:   }
loop.kernel @mean_and_best(%x: memref<40x64xf32>) -> (%sum: memref<40x64xf32>, %at: memref<40x64xi64>) {
  tile.launch (%b = block 2, %t = thread 20) {
    loop.scan %k in 64 {
      %0 = loop.load %x[%b * 20 + %t, %k] : memref<40x64xf32>
      %1 = loop.index [%k] : i64
      %s = loop.prefix %0 with add : f32
      %m, %a = loop.prefix %0, %1 with argmin : f32, i64
      loop.store %s, %sum[%b * 20 + %t, %k] : memref<40x64xf32>
      loop.store %a, %at[%b * 20 + %t, %k] : memref<40x64xi64>
    }
  }
}

// Two rows a thread: an array holds the sum of each, and the loop carries values that do not depend
// on the row.
// CHECK:      kernel.func grid 1 block 20 @registers(%x: memref<40x64xi32>, %w: memref<64xi32>) -> (%out: memref<40x64xi32>) {
// CHECK-NEXT:   %t = kernel.thread_id
// CHECK-NEXT:   %s = kernel.registers : memref<2xi32, 5 : i64>
// CHECK-NEXT:   kernel.unroll %r in 2 {
// CHECK-NEXT:     %s_1 = arith.constant 0 : i32
// CHECK-NEXT:     loop.store %s_1, %s[%r] : memref<2xi32, 5 : i64>
// CHECK-NEXT:   }
// CHECK-NEXT:   %0 = arith.constant 1 : i32
// CHECK-NEXT:   %1 = arith.constant 0 : index
// CHECK-NEXT:   %2 = arith.constant 64 : index
// CHECK-NEXT:   %3 = arith.constant 1 : index
// CHECK-NEXT:   %4 = scf.for %k = %1 to %2 step %3 iter_args(%u = %0) -> (i32) {
// CHECK-NEXT:     %5 = loop.load %w[%k] : memref<64xi32>
// CHECK-NEXT:     %u_1 = arith.muli %u, %5 : i32
// CHECK-NEXT:     kernel.unroll %r_1 in 2 {
// CHECK-NEXT:       %6 = loop.load %x[%t * 2 + %r_1, %k] : memref<40x64xi32>
// CHECK-NEXT:       %s_2 = loop.load %s[%r_1] : memref<2xi32, 5 : i64>
// CHECK-NEXT:       %s_3 = arith.addi %s_2, %6 : i32
// CHECK-NEXT:       loop.store %s_3, %s[%r_1] : memref<2xi32, 5 : i64>
// CHECK-NEXT:       %7 = arith.addi %s_3, %u_1 : i32
// CHECK-NEXT:       loop.store %7, %out[%t * 2 + %r_1, %k] : memref<40x64xi32>
// CHECK-NEXT:     }
// CHECK-NEXT:     scf.yield %u_1 : i32
// CHECK-NEXT:   }
loop.kernel @registers(%x: memref<40x64xi32>, %w: memref<64xi32>) -> (%out: memref<40x64xi32>) {
  tile.launch (%t = thread 20, %r = register 2) {
    loop.scan %k in 64 {
      %0 = loop.load %x[%t * 2 + %r, %k] : memref<40x64xi32>
      %1 = loop.load %w[%k] : memref<64xi32>
      %s = loop.prefix %0 with add : i32
      %u = loop.prefix %1 with mul : i32
      %2 = arith.addi %s, %u : i32
      loop.store %2, %out[%t * 2 + %r, %k] : memref<40x64xi32>
    }
  }
}

// An exclusive prefix is stored before its step is joined.
// CHECK-LABEL: @before
// CHECK:        scf.for %k = {{.*}} iter_args(%s = {{.*}}) -> (f32) {
// CHECK-NEXT:     [[X:%[0-9]+]] = loop.load %x[%t, %k] : memref<40x64xf32>
// CHECK-NEXT:     loop.store %s, %out[%t, %k] : memref<40x64xf32>
// CHECK-NEXT:     %s_1 = arith.addf %s, [[X]] : f32
// CHECK-NEXT:     scf.yield %s_1 : f32
loop.kernel @before(%x: memref<40x64xf32>) -> (%out: memref<40x64xf32>) {
  tile.launch (%t = thread 40) {
    loop.scan %k in 64 {
      %0 = loop.load %x[%t, %k] : memref<40x64xf32>
      %s = loop.prefix %0 with add exclusive : f32
      loop.store %s, %out[%t, %k] : memref<40x64xf32>
    }
  }
}

// Two rows a thread: each is read before it is joined.
// CHECK-LABEL: @rows_before
// CHECK:        scf.for %k
// CHECK:          %s_2 = loop.load %s[%r_1] : memref<2xi32, 5 : i64>
// CHECK-NEXT:     loop.store %s_2, %out[%t * 2 + %r_1, %k] : memref<40x64xi32>
// CHECK:          %s_3 = loop.load %s[%r_2] : memref<2xi32, 5 : i64>
// CHECK-NEXT:     %s_4 = arith.addi %s_3, {{.*}} : i32
// CHECK-NEXT:     loop.store %s_4, %s[%r_2] : memref<2xi32, 5 : i64>
loop.kernel @rows_before(%x: memref<40x64xi32>) -> (%out: memref<40x64xi32>) {
  tile.launch (%t = thread 20, %r = register 2) {
    loop.scan %k in 64 {
      %0 = loop.load %x[%t * 2 + %r, %k] : memref<40x64xi32>
      %s = loop.prefix %0 with add exclusive : i32
      loop.store %s, %out[%t * 2 + %r, %k] : memref<40x64xi32>
    }
  }
}
