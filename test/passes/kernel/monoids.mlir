// RUN: opt-tool %s -p convert-tile-to-kernel,cse --check=each | filecheck %s

// Pairs: both values shuffle, then one comparison selects both. NaN wins: only NaN differs from
// itself.
// CHECK:      kernel.func grid 8 block 32 @argmax(%x: memref<8x3xf32>) -> (%at: memref<8xi64>) {
// CHECK-NEXT:   %rb = kernel.block_id
// CHECK-NEXT:   %thread = kernel.thread_id
// CHECK-NEXT:   %t = kernel.index [%thread floordiv 8]
// CHECK-NEXT:   %o = kernel.index [%thread mod 8]
// CHECK-NEXT:   kernel.comment "maximum and where it is over k, 2 steps"
// CHECK-NEXT:   %0 = arith.constant 0xff800000 : f32
// CHECK-NEXT:   %1 = arith.constant 9223372036854775807 : i64
// CHECK-NEXT:   %2 = arith.constant 0 : index
// CHECK-NEXT:   %3 = arith.constant 2 : index
// CHECK-NEXT:   %4 = arith.constant 1 : index
// CHECK-NEXT:   %p, %a = scf.for %k = %2 to %3 step %4 iter_args(%p_1 = %0, %a_1 = %1) -> (f32, i64) {
// CHECK-NEXT:     %5 = loop.load %x[%rb, %k * 2 + %o] where [2 - %k * 2 - %o, 1 - %o] : memref<8x3xf32>
// CHECK-NEXT:     %6 = loop.index [%k * 2 + %o] : i64
// CHECK-NEXT:     %7 = loop.predicate [2 - %k * 2 - %o, 1 - %o] : i1
// CHECK-NEXT:     %8 = arith.select %7, %5, %0 : f32
// CHECK-NEXT:     %9 = arith.select %7, %6, %1 : i64
// CHECK-NEXT:     %10 = arith.cmpf ugt, %p_1, %8 : f32
// CHECK-NEXT:     %11 = arith.cmpf oeq, %8, %8 : f32
// CHECK-NEXT:     %12 = arith.andi %10, %11 : i1
// CHECK-NEXT:     %13 = arith.cmpf une, %p_1, %p_1 : f32
// CHECK-NEXT:     %14 = arith.cmpf une, %8, %8 : f32
// CHECK-NEXT:     %15 = arith.cmpf oeq, %p_1, %8 : f32
// CHECK-NEXT:     %16 = arith.andi %13, %14 : i1
// CHECK-NEXT:     %17 = arith.ori %15, %16 : i1
// CHECK-NEXT:     %18 = arith.cmpi slt, %a_1, %9 : i64
// CHECK-NEXT:     %19 = arith.andi %17, %18 : i1
// CHECK-NEXT:     %20 = arith.ori %12, %19 : i1
// CHECK-NEXT:     %p_2 = arith.select %20, %p_1, %8 : f32
// CHECK-NEXT:     %a_2 = arith.select %20, %a_1, %9 : i64
// CHECK-NEXT:     scf.yield %p_2, %a_2 : f32, i64
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.comment "maximum and where it is across 8 threads"
// CHECK-NEXT:   %other = kernel.shuffle xor %p, 4 width 8 : f32
// CHECK-NEXT:   %other_1 = kernel.shuffle xor %a, 4 width 8 : i64
// CHECK-NEXT:   %21 = arith.cmpf ugt, %p, %other : f32
// CHECK-NEXT:   %22 = arith.cmpf oeq, %other, %other : f32
// CHECK-NEXT:   %23 = arith.andi %21, %22 : i1
// CHECK-NEXT:   %24 = arith.cmpf une, %p, %p : f32
// CHECK-NEXT:   %25 = arith.cmpf une, %other, %other : f32
// CHECK-NEXT:   %26 = arith.cmpf oeq, %p, %other : f32
// CHECK-NEXT:   %27 = arith.andi %24, %25 : i1
// CHECK-NEXT:   %28 = arith.ori %26, %27 : i1
// CHECK-NEXT:   %29 = arith.cmpi slt, %a, %other_1 : i64
// CHECK-NEXT:   %30 = arith.andi %28, %29 : i1
// CHECK-NEXT:   %31 = arith.ori %23, %30 : i1
// CHECK-NEXT:   %p_3 = arith.select %31, %p, %other : f32
// CHECK-NEXT:   %a_3 = arith.select %31, %a, %other_1 : i64
// CHECK-NEXT:   %other_2 = kernel.shuffle xor %p_3, 2 width 8 : f32
// CHECK-NEXT:   %other_3 = kernel.shuffle xor %a_3, 2 width 8 : i64
// CHECK-NEXT:   %32 = arith.cmpf ugt, %p_3, %other_2 : f32
// CHECK-NEXT:   %33 = arith.cmpf oeq, %other_2, %other_2 : f32
// CHECK-NEXT:   %34 = arith.andi %32, %33 : i1
// CHECK-NEXT:   %35 = arith.cmpf une, %p_3, %p_3 : f32
// CHECK-NEXT:   %36 = arith.cmpf une, %other_2, %other_2 : f32
// CHECK-NEXT:   %37 = arith.cmpf oeq, %p_3, %other_2 : f32
// CHECK-NEXT:   %38 = arith.andi %35, %36 : i1
// CHECK-NEXT:   %39 = arith.ori %37, %38 : i1
// CHECK-NEXT:   %40 = arith.cmpi slt, %a_3, %other_3 : i64
// CHECK-NEXT:   %41 = arith.andi %39, %40 : i1
// CHECK-NEXT:   %42 = arith.ori %34, %41 : i1
// CHECK-NEXT:   %p_4 = arith.select %42, %p_3, %other_2 : f32
// CHECK-NEXT:   %a_4 = arith.select %42, %a_3, %other_3 : i64
// CHECK-NEXT:   %other_4 = kernel.shuffle xor %p_4, 1 width 8 : f32
// CHECK-NEXT:   %other_5 = kernel.shuffle xor %a_4, 1 width 8 : i64
// CHECK-NEXT:   %43 = arith.cmpf ugt, %p_4, %other_4 : f32
// CHECK-NEXT:   %44 = arith.cmpf oeq, %other_4, %other_4 : f32
// CHECK-NEXT:   %45 = arith.andi %43, %44 : i1
// CHECK-NEXT:   %46 = arith.cmpf une, %p_4, %p_4 : f32
// CHECK-NEXT:   %47 = arith.cmpf une, %other_4, %other_4 : f32
// CHECK-NEXT:   %48 = arith.cmpf oeq, %p_4, %other_4 : f32
// CHECK-NEXT:   %49 = arith.andi %46, %47 : i1
// CHECK-NEXT:   %50 = arith.ori %48, %49 : i1
// CHECK-NEXT:   %51 = arith.cmpi slt, %a_4, %other_5 : i64
// CHECK-NEXT:   %52 = arith.andi %50, %51 : i1
// CHECK-NEXT:   %53 = arith.ori %45, %52 : i1
// CHECK-NEXT:   %a_5 = arith.select %53, %a_4, %other_5 : i64
// CHECK-NEXT:   kernel.comment "store at"
// CHECK-NEXT:   loop.store %a_5, %at[%rb] where [0 - %t, 0 - %o] : memref<8xi64>
loop.kernel @argmax(%x: memref<8x3xf32>) -> (%at: memref<8xi64>) {
  tile.launch (%rb = block 8, %t = thread 4, %o = thread 8) {
    %p, %a = loop.reduce %k in 2 with argmax {
      %0 = loop.load %x[%rb, %k * 2 + %o] where [2 - %k * 2 - %o, 1 - %o] : memref<8x3xf32>
      %1 = loop.index [%k * 2 + %o] : i64
      loop.yield %0, %1 where [2 - %k * 2 - %o, 1 - %o] : f32, i64
    } : f32, i64
    %m, %at1 = tile.combine %p, %a across %o with argmax : f32, i64
    loop.store %at1, %at[%rb] where [0 - %t, 0 - %o] : memref<8xi64>
  }
}

// Pairs of integers, through shared memory: a slot for each value of each thread.
// CHECK:      kernel.func grid 1 block 24 @argmin(%x: memref<24xi32>) -> (%v: memref<i32>, %at: memref<i64>) {
// CHECK-NEXT:   %t = kernel.thread_id
// CHECK-NEXT:   kernel.comment "load x"
// CHECK-NEXT:   %0 = loop.load %x[%t] : memref<24xi32>
// CHECK-NEXT:   %1 = loop.index [%t] : i64
// CHECK-NEXT:   kernel.comment "minimum and where it is across 24 threads"
// CHECK-NEXT:   %partial = kernel.shared : memref<24xi32, 3 : i64>
// CHECK-NEXT:   %partial_1 = kernel.shared : memref<24xi64, 3 : i64>
// CHECK-NEXT:   loop.store %0, %partial[%t] : memref<24xi32, 3 : i64>
// CHECK-NEXT:   loop.store %1, %partial_1[%t] : memref<24xi64, 3 : i64>
// CHECK-NEXT:   kernel.barrier
// CHECK-NEXT:   %2 = arith.constant 2147483647 : i32
// CHECK-NEXT:   %3 = arith.constant 9223372036854775807 : i64
// CHECK-NEXT:   %4 = arith.constant 0 : index
// CHECK-NEXT:   %5 = arith.constant 24 : index
// CHECK-NEXT:   %6 = arith.constant 1 : index
// CHECK-NEXT:   %m, %a = scf.for %w = %4 to %5 step %6 iter_args(%7 = %2, %8 = %3) -> (i32, i64) {
// CHECK-NEXT:     %9 = loop.load %partial[%w] : memref<24xi32, 3 : i64>
// CHECK-NEXT:     %10 = loop.load %partial_1[%w] : memref<24xi64, 3 : i64>
// CHECK-NEXT:     %11 = arith.cmpi slt, %7, %9 : i32
// CHECK-NEXT:     %12 = arith.cmpi eq, %7, %9 : i32
// CHECK-NEXT:     %13 = arith.cmpi slt, %8, %10 : i64
// CHECK-NEXT:     %14 = arith.andi %12, %13 : i1
// CHECK-NEXT:     %15 = arith.ori %11, %14 : i1
// CHECK-NEXT:     %16 = arith.select %15, %7, %9 : i32
// CHECK-NEXT:     %17 = arith.select %15, %8, %10 : i64
// CHECK-NEXT:     scf.yield %16, %17 : i32, i64
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.comment "store v, at"
// CHECK-NEXT:   loop.store %m, %v[] where [0 - %t] : memref<i32>
// CHECK-NEXT:   loop.store %a, %at[] where [0 - %t] : memref<i64>
loop.kernel @argmin(%x: memref<24xi32>) -> (%v: memref<i32>, %at: memref<i64>) {
  tile.launch (%t = thread 24) {
    %0 = loop.load %x[%t] : memref<24xi32>
    %1 = loop.index [%t] : i64
    %m, %a = tile.combine %0, %1 across %t with argmin : i32, i64
    loop.store %m, %v[] where [0 - %t] : memref<i32>
    loop.store %a, %at[] where [0 - %t] : memref<i64>
  }
}

// Truth values: a masked element is the identity of `and`, which is true. A load already gives the
// identity of `or`.
// CHECK:      kernel.func grid 1 block 32 @all_and_any(%x: memref<50xi1>) -> (%all: memref<i1>, %any: memref<i1>) {
// CHECK-NEXT:   %t = kernel.thread_id
// CHECK-NEXT:   kernel.comment "whether all hold over k, 2 steps"
// CHECK-NEXT:   %0 = arith.constant true
// CHECK-NEXT:   %1 = arith.constant 0 : index
// CHECK-NEXT:   %2 = arith.constant 2 : index
// CHECK-NEXT:   %3 = arith.constant 1 : index
// CHECK-NEXT:   %p = scf.for %k = %1 to %2 step %3 iter_args(%p_1 = %0) -> (i1) {
// CHECK-NEXT:     %4 = loop.load %x[%k * 32 + %t] where [49 - %k * 32 - %t] : memref<50xi1>
// CHECK-NEXT:     %5 = loop.predicate [49 - %k * 32 - %t] : i1
// CHECK-NEXT:     %6 = arith.select %5, %4, %0 : i1
// CHECK-NEXT:     %p_2 = arith.andi %p_1, %6 : i1
// CHECK-NEXT:     scf.yield %p_2 : i1
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.comment "whether any holds over k, 2 steps"
// CHECK-NEXT:   %7 = arith.constant false
// CHECK-NEXT:   %q = scf.for %k_1 = %1 to %2 step %3 iter_args(%q_1 = %7) -> (i1) {
// CHECK-NEXT:     %8 = loop.load %x[%k_1 * 32 + %t] where [49 - %k_1 * 32 - %t] : memref<50xi1>
// CHECK-NEXT:     %q_2 = arith.ori %q_1, %8 : i1
// CHECK-NEXT:     scf.yield %q_2 : i1
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.comment "whether all hold across 32 threads"
// CHECK-NEXT:   %other = kernel.shuffle xor %p, 16 width 32 : i1
// CHECK-NEXT:   %p_3 = arith.andi %p, %other : i1
// CHECK-NEXT:   %other_1 = kernel.shuffle xor %p_3, 8 width 32 : i1
// CHECK-NEXT:   %p_4 = arith.andi %p_3, %other_1 : i1
// CHECK-NEXT:   %other_2 = kernel.shuffle xor %p_4, 4 width 32 : i1
// CHECK-NEXT:   %p_5 = arith.andi %p_4, %other_2 : i1
// CHECK-NEXT:   %other_3 = kernel.shuffle xor %p_5, 2 width 32 : i1
// CHECK-NEXT:   %p_6 = arith.andi %p_5, %other_3 : i1
// CHECK-NEXT:   %other_4 = kernel.shuffle xor %p_6, 1 width 32 : i1
// CHECK-NEXT:   %p_7 = arith.andi %p_6, %other_4 : i1
// CHECK-NEXT:   kernel.comment "whether any holds across 32 threads"
// CHECK-NEXT:   %other_5 = kernel.shuffle xor %q, 16 width 32 : i1
// CHECK-NEXT:   %q_3 = arith.ori %q, %other_5 : i1
// CHECK-NEXT:   %other_6 = kernel.shuffle xor %q_3, 8 width 32 : i1
// CHECK-NEXT:   %q_4 = arith.ori %q_3, %other_6 : i1
// CHECK-NEXT:   %other_7 = kernel.shuffle xor %q_4, 4 width 32 : i1
// CHECK-NEXT:   %q_5 = arith.ori %q_4, %other_7 : i1
// CHECK-NEXT:   %other_8 = kernel.shuffle xor %q_5, 2 width 32 : i1
// CHECK-NEXT:   %q_6 = arith.ori %q_5, %other_8 : i1
// CHECK-NEXT:   %other_9 = kernel.shuffle xor %q_6, 1 width 32 : i1
// CHECK-NEXT:   %q_7 = arith.ori %q_6, %other_9 : i1
// CHECK-NEXT:   kernel.comment "store all, any"
// CHECK-NEXT:   loop.store %p_7, %all[] where [0 - %t] : memref<i1>
// CHECK-NEXT:   loop.store %q_7, %any[] where [0 - %t] : memref<i1>
loop.kernel @all_and_any(%x: memref<50xi1>) -> (%all: memref<i1>, %any: memref<i1>) {
  tile.launch (%t = thread 32) {
    %p = loop.reduce %k in 2 with and {
      %0 = loop.load %x[%k * 32 + %t] where [49 - %k * 32 - %t] : memref<50xi1>
      loop.yield %0 where [49 - %k * 32 - %t] : i1
    } : i1
    %q = loop.reduce %k in 2 with or {
      %0 = loop.load %x[%k * 32 + %t] where [49 - %k * 32 - %t] : memref<50xi1>
      loop.yield %0 where [49 - %k * 32 - %t] : i1
    } : i1
    %r = tile.combine %p across %t with and : i1
    %s = tile.combine %q across %t with or : i1
    loop.store %r, %all[] where [0 - %t] : memref<i1>
    loop.store %s, %any[] where [0 - %t] : memref<i1>
  }
}

// 64-bit integers over registers: each joins where its mask holds.
// CHECK:      kernel.func grid 1 block 32 @largest(%x: memref<32x3xi64>) -> (%out: memref<32xi64>) {
// CHECK-NEXT:   %t = kernel.thread_id
// CHECK-NEXT:   kernel.comment "load x"
// CHECK-NEXT:   %x_1 = kernel.registers : memref<3xi64, 5 : i64>
// CHECK-NEXT:   kernel.unroll %r in 3 {
// CHECK-NEXT:     %0 = loop.load %x[%t, %r] : memref<32x3xi64>
// CHECK-NEXT:     loop.store %0, %x_1[%r] : memref<3xi64, 5 : i64>
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.comment "maximum across 3 values of each thread"
// CHECK-NEXT:   %1 = arith.constant -9223372036854775808 : i64
// CHECK-NEXT:   %2 = arith.constant 0 : index
// CHECK-NEXT:   %3 = arith.constant 3 : index
// CHECK-NEXT:   %4 = arith.constant 1 : index
// CHECK-NEXT:   %m = scf.for %r_1 = %2 to %3 step %4 iter_args(%m_1 = %1) -> (i64) {
// CHECK-NEXT:     %5 = loop.load %x_1[%r_1] : memref<3xi64, 5 : i64>
// CHECK-NEXT:     %6 = loop.predicate [%t - %r_1] : i1
// CHECK-NEXT:     %7 = arith.select %6, %5, %1 : i64
// CHECK-NEXT:     %m_2 = arith.maxsi %m_1, %7 : i64
// CHECK-NEXT:     scf.yield %m_2 : i64
// CHECK-NEXT:   } {unroll}
// CHECK-NEXT:   kernel.comment "store out"
// CHECK-NEXT:   loop.store %m, %out[%t] : memref<32xi64>
loop.kernel @largest(%x: memref<32x3xi64>) -> (%out: memref<32xi64>) {
  tile.launch (%t = thread 32, %r = register 3) {
    %0 = loop.load %x[%t, %r] : memref<32x3xi64>
    %m = tile.combine %0 across %r with max where [%t - %r] : i64
    loop.store %m, %out[%t] : memref<32xi64>
  }
}

// A score and a sum: the sum is rescaled whenever a larger score is found.
// CHECK:      kernel.func grid 8 block 2 @softmax(%x: memref<8x12xf32>) -> (%m: memref<8xf32>, %sum: memref<8xf32>) {
// CHECK-NEXT:   %rb = kernel.block_id
// CHECK-NEXT:   %t = kernel.thread_id
// CHECK-NEXT:   kernel.comment "maximum and sums weighted by exponentials over k, 6 steps"
// CHECK-NEXT:   %0 = arith.constant 0xff800000 : f32
// CHECK-NEXT:   %1 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   %2 = arith.constant 0 : index
// CHECK-NEXT:   %3 = arith.constant 6 : index
// CHECK-NEXT:   %4 = arith.constant 1 : index
// CHECK-NEXT:   %p, %q = scf.for %k = %2 to %3 step %4 iter_args(%p_1 = %0, %q_1 = %1) -> (f32, f32) {
// CHECK-NEXT:     %5 = loop.load %x[%rb, %k * 2 + %t] : memref<8x12xf32>
// CHECK-NEXT:     %6 = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %p_2 = arith.maximumf %p_1, %5 : f32
// CHECK-NEXT:     %7 = arith.constant -3.40282347e+38 : f32
// CHECK-NEXT:     %8 = arith.maximumf %p_2, %7 : f32
// CHECK-NEXT:     %9 = arith.subf %p_1, %8 : f32
// CHECK-NEXT:     %kept = math.exp %9 : f32
// CHECK-NEXT:     %10 = arith.subf %5, %8 : f32
// CHECK-NEXT:     %taken = math.exp %10 : f32
// CHECK-NEXT:     %11 = arith.mulf %q_1, %kept : f32
// CHECK-NEXT:     %12 = arith.mulf %6, %taken : f32
// CHECK-NEXT:     %q_2 = arith.addf %11, %12 : f32
// CHECK-NEXT:     scf.yield %p_2, %q_2 : f32, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.comment "maximum and sums weighted by exponentials across 2 threads"
// CHECK-NEXT:   %partial = kernel.shared : memref<2xf32, 3 : i64>
// CHECK-NEXT:   %partial_1 = kernel.shared : memref<2xf32, 3 : i64>
// CHECK-NEXT:   loop.store %p, %partial[%t] : memref<2xf32, 3 : i64>
// CHECK-NEXT:   loop.store %q, %partial_1[%t] : memref<2xf32, 3 : i64>
// CHECK-NEXT:   kernel.barrier
// CHECK-NEXT:   %13 = arith.constant 2 : index
// CHECK-NEXT:   %r, %s = scf.for %w = %2 to %13 step %4 iter_args(%14 = %0, %15 = %1) -> (f32, f32) {
// CHECK-NEXT:     %16 = loop.load %partial[%w] : memref<2xf32, 3 : i64>
// CHECK-NEXT:     %17 = loop.load %partial_1[%w] : memref<2xf32, 3 : i64>
// CHECK-NEXT:     %18 = arith.maximumf %14, %16 : f32
// CHECK-NEXT:     %19 = arith.constant -3.40282347e+38 : f32
// CHECK-NEXT:     %20 = arith.maximumf %18, %19 : f32
// CHECK-NEXT:     %21 = arith.subf %14, %20 : f32
// CHECK-NEXT:     %22 = math.exp %21 : f32
// CHECK-NEXT:     %23 = arith.subf %16, %20 : f32
// CHECK-NEXT:     %24 = math.exp %23 : f32
// CHECK-NEXT:     %25 = arith.mulf %15, %22 : f32
// CHECK-NEXT:     %26 = arith.mulf %17, %24 : f32
// CHECK-NEXT:     %27 = arith.addf %25, %26 : f32
// CHECK-NEXT:     scf.yield %18, %27 : f32, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.comment "store m, sum"
// CHECK-NEXT:   loop.store %r, %m[%rb] where [0 - %t] : memref<8xf32>
// CHECK-NEXT:   loop.store %s, %sum[%rb] where [0 - %t] : memref<8xf32>
// CHECK-NEXT: }
loop.kernel @softmax(%x: memref<8x12xf32>) -> (%m: memref<8xf32>, %sum: memref<8xf32>) {
  tile.launch (%rb = block 8 row, %t = thread 2 k) {
    %p, %q = loop.reduce %k in 6 with softmax {
      %0 = loop.load %x[%rb, %k * 2 + %t] : memref<8x12xf32>
      %1 = arith.constant 1.0 : f32
      loop.yield %0, %1 : f32, f32
    } : f32, f32
    %r, %s = tile.combine %p, %q across %t with softmax : f32, f32
    loop.store %r, %m[%rb] where [0 - %t] : memref<8xf32>
    loop.store %s, %sum[%rb] where [0 - %t] : memref<8xf32>
  }
}

// Moments: the mean moves towards the second one by its share of the count. A difference that is not
// finite makes the squared deviations NaN, and adds the means.
// CHECK:      kernel.func grid 8 block 1 @moments
// CHECK:        %p, %q, %n = scf.for %k = {{%[0-9]+}} to {{%[0-9]+}} step {{%[0-9]+}} iter_args(%p_1 = %0, %q_1 = %0, %n_1 = %0) -> (f32, f32, f32) {
// CHECK-NEXT:     [[X:%[0-9]+]] = loop.load %x[%rb, %k] : memref<8x12xf32>
// CHECK-NEXT:     [[ONE:%[0-9]+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     [[INF:%[0-9]+]] = arith.constant 0x7f800000 : f32
// CHECK-NEXT:     %n_2 = arith.addf %n_1, [[ONE]] : f32
// CHECK-NEXT:     [[MOST:%[0-9]+]] = arith.maximumf %n_2, [[ONE]] : f32
// CHECK-NEXT:     [[SHARE:%[0-9]+]] = arith.divf [[ONE]], [[MOST]] : f32
// CHECK-NEXT:     [[D:%[0-9]+]] = arith.subf [[X]], %p_1 : f32
// CHECK-NEXT:     [[SIZE:%[0-9]+]] = math.absf [[D]] : f32
// CHECK-NEXT:     [[FINITE:%[0-9]+]] = arith.cmpf olt, [[SIZE]], [[INF]] : f32
// CHECK-NEXT:     [[MOVE:%[0-9]+]] = arith.mulf [[D]], [[SHARE]] : f32
// CHECK-NEXT:     [[MOVED:%[0-9]+]] = arith.addf %p_1, [[MOVE]] : f32
// CHECK-NEXT:     [[BOTH:%[0-9]+]] = arith.addf %p_1, [[X]] : f32
// CHECK-NEXT:     %p_2 = arith.select [[FINITE]], [[MOVED]], [[BOTH]] : f32
// CHECK-NEXT:     [[BETWEEN:%[0-9]+]] = arith.mulf %n_1, [[SHARE]] : f32
// CHECK-NEXT:     [[SCALED:%[0-9]+]] = arith.mulf [[D]], [[BETWEEN]] : f32
// CHECK-NEXT:     [[SQUARES:%[0-9]+]] = arith.mulf [[D]], [[SCALED]] : f32
// CHECK-NEXT:     [[NAN:%[0-9]+]] = arith.subf [[D]], [[D]] : f32
// CHECK-NEXT:     [[WITHIN:%[0-9]+]] = arith.addf %q_1, {{%[0-9]+}} : f32
// CHECK-NEXT:     [[ADDED:%[0-9]+]] = arith.addf [[SQUARES]], [[NAN]] : f32
// CHECK-NEXT:     %q_2 = arith.addf [[WITHIN]], [[ADDED]] : f32
// CHECK-NEXT:     scf.yield %p_2, %q_2, %n_2 : f32, f32, f32
loop.kernel @moments(%x: memref<8x12xf32>) -> (%m: memref<8xf32>, %sum: memref<8xf32>) {
  tile.launch (%rb = block 8 row) {
    %p, %q, %n = loop.reduce %k in 12 with moments {
      %0 = loop.load %x[%rb, %k] : memref<8x12xf32>
      %1 = arith.constant 0.0 : f32
      %2 = arith.constant 1.0 : f32
      loop.yield %0, %1, %2 : f32, f32, f32
    } : f32, f32, f32
    loop.store %p, %m[%rb] : memref<8xf32>
    loop.store %q, %sum[%rb] : memref<8xf32>
  }
}
