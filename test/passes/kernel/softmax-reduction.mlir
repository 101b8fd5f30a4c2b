// RUN: opt-tool %s -p convert-tile-to-kernel,cse --check=each | filecheck %s

// Steps of reductions by softmax: plain, in chunks, and shared among threads.
// Sums of a shared step are kept relative to the largest score so far.

// CHECK-LABEL: kernel.func grid 1 block 4 @weighted(%x: memref<4x6xf32>, %v: memref<6x4xf32>) -> (%out: memref<4x4xf32>) {
// CHECK-NEXT:   %thread = kernel.thread_id
// CHECK-NEXT:   %tm = kernel.index [%thread floordiv 2]
// CHECK-NEXT:   %tn = kernel.index [%thread mod 2]
// CHECK-NEXT:   kernel.comment "4x4 outputs, maximum and sums weighted by exponentials over k, 6 steps"
// CHECK-NEXT:   %m = kernel.registers : memref<2xf32, 5 : i64>
// CHECK-NEXT:   kernel.unroll %vm in 2 {
// CHECK-NEXT:     %m_1 = arith.constant 0xff800000 : f32
// CHECK-NEXT:     loop.store %m_1, %m[%vm] : memref<2xf32, 5 : i64>
// CHECK-NEXT:   }
// CHECK-NEXT:   %o = kernel.registers : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:   kernel.unroll %vm_1 in 2, %vn in 2 {
// CHECK-NEXT:     %o_1 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     loop.store %o_1, %o[%vm_1, %vn] : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:   }
// CHECK-NEXT:   %0 = arith.constant 0 : index
// CHECK-NEXT:   %1 = arith.constant 6 : index
// CHECK-NEXT:   %2 = arith.constant 1 : index
// CHECK-NEXT:   scf.for %k = %0 to %1 step %2 {
// CHECK-NEXT:     %x_1 = kernel.registers : memref<2xf32, 5 : i64>
// CHECK-NEXT:     kernel.unroll %vm_2 in 2 {
// CHECK-NEXT:       %3 = loop.load %x[%tm * 2 + %vm_2, %k] : memref<4x6xf32>
// CHECK-NEXT:       loop.store %3, %x_1[%vm_2] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     }
// CHECK-NEXT:     %v_1 = kernel.registers : memref<2xf32, 5 : i64>
// CHECK-NEXT:     kernel.unroll %vn_1 in 2 {
// CHECK-NEXT:       %4 = loop.load %v[%k, %tn * 2 + %vn_1] : memref<6x4xf32>
// CHECK-NEXT:       loop.store %4, %v_1[%vn_1] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     }
// CHECK-NEXT:     %kept = kernel.registers : memref<2xf32, 5 : i64>
// CHECK-NEXT:     %taken = kernel.registers : memref<2xf32, 5 : i64>
// CHECK-NEXT:     kernel.unroll %vm_3 in 2 {
// CHECK-NEXT:       %m_2 = loop.load %m[%vm_3] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       %5 = loop.load %x_1[%vm_3] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       %6 = loop.predicate [1 + %tm * 2 + %vm_3 - %k] : i1
// CHECK-NEXT:       %7 = arith.constant 0xff800000 : f32
// CHECK-NEXT:       %8 = arith.select %6, %5, %7 : f32
// CHECK-NEXT:       %m_3 = arith.maximumf %m_2, %8 : f32
// CHECK-NEXT:       %9 = arith.constant -3.40282347e+38 : f32
// CHECK-NEXT:       %10 = arith.maximumf %m_3, %9 : f32
// CHECK-NEXT:       %11 = arith.subf %m_2, %10 : f32
// CHECK-NEXT:       %kept_1 = math.exp %11 : f32
// CHECK-NEXT:       %12 = arith.subf %8, %10 : f32
// CHECK-NEXT:       %taken_1 = math.exp %12 : f32
// CHECK-NEXT:       loop.store %m_3, %m[%vm_3] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       loop.store %kept_1, %kept[%vm_3] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       loop.store %taken_1, %taken[%vm_3] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     }
// CHECK-NEXT:     kernel.unroll %vm_4 in 2, %vn_2 in 2 {
// CHECK-NEXT:       %o_2 = loop.load %o[%vm_4, %vn_2] : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:       %13 = loop.load %v_1[%vn_2] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       %14 = loop.predicate [1 + %tm * 2 + %vm_4 - %k] : i1
// CHECK-NEXT:       %15 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:       %16 = arith.select %14, %13, %15 : f32
// CHECK-NEXT:       %kept_2 = loop.load %kept[%vm_4] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       %taken_2 = loop.load %taken[%vm_4] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       %17 = arith.mulf %o_2, %kept_2 : f32
// CHECK-NEXT:       %18 = arith.mulf %16, %taken_2 : f32
// CHECK-NEXT:       %o_3 = arith.addf %17, %18 : f32
// CHECK-NEXT:       loop.store %o_3, %o[%vm_4, %vn_2] : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.comment "store out"
// CHECK-NEXT:   kernel.unroll %vm_5 in 2, %vn_3 in 2 {
// CHECK-NEXT:     %o_4 = loop.load %o[%vm_5, %vn_3] : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:     loop.store %o_4, %out[%tm * 2 + %vm_5, %tn * 2 + %vn_3] : memref<4x4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @weighted(%x: memref<4x6xf32>, %v: memref<6x4xf32>) -> (%out: memref<4x4xf32>) {
  tile.launch (%tm = thread 2 m, %tn = thread 2 n, %vm = register 2 m, %vn = register 2 n) {
    %m, %o = loop.reduce %k in 6 with softmax {
      %0 = loop.load %x[%tm * 2 + %vm, %k] : memref<4x6xf32>
      %1 = loop.load %v[%k, %tn * 2 + %vn] : memref<6x4xf32>
      loop.yield %0, %1 where [%tm * 2 + %vm - %k + 1] : f32, f32
    } : f32, f32
    loop.store %o, %out[%tm * 2 + %vm, %tn * 2 + %vn] : memref<4x4xf32>
  }
}

// CHECK-LABEL: kernel.func grid 1 block 8 @chunks(%x: memref<4x6xf32>, %v: memref<6x4xf32>) -> (%out: memref<4x4xf32>) {
// CHECK-NEXT:   %thread = kernel.thread_id
// CHECK-NEXT:   %tm = kernel.index [%thread floordiv 2]
// CHECK-NEXT:   %tn = kernel.index [%thread mod 2]
// CHECK-NEXT:   kernel.comment "4x4 outputs, maximum and sums weighted by exponentials over ko, 2 steps of 3"
// CHECK-NEXT:   %0 = arith.constant 0xff800000 : f32
// CHECK-NEXT:   %o = kernel.registers : memref<2xf32, 5 : i64>
// CHECK-NEXT:   kernel.unroll %vn in 2 {
// CHECK-NEXT:     %o_1 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     loop.store %o_1, %o[%vn] : memref<2xf32, 5 : i64>
// CHECK-NEXT:   }
// CHECK-NEXT:   %1 = arith.constant 0 : index
// CHECK-NEXT:   %2 = arith.constant 2 : index
// CHECK-NEXT:   %3 = arith.constant 1 : index
// CHECK-NEXT:   %4 = arith.constant 3 : index
// CHECK-NEXT:   %m = scf.for %ko = %1 to %2 step %3 iter_args(%m_1 = %0) -> (f32) {
// CHECK-NEXT:     %c = scf.for %ki = %1 to %4 step %3 iter_args(%c_1 = %m_1) -> (f32) {
// CHECK-NEXT:       %5 = loop.load %x[%tm, %ko * 3 + %ki] : memref<4x6xf32>
// CHECK-NEXT:       %v_1 = kernel.registers : memref<2xf32, 5 : i64>
// CHECK-NEXT:       kernel.unroll %vn_1 in 2 {
// CHECK-NEXT:         %6 = loop.load %v[%ko * 3 + %ki, %tn * 2 + %vn_1] : memref<6x4xf32>
// CHECK-NEXT:         loop.store %6, %v_1[%vn_1] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       }
// CHECK-NEXT:       %c_2 = arith.maximumf %c_1, %5 : f32
// CHECK-NEXT:       %7 = arith.constant -3.40282347e+38 : f32
// CHECK-NEXT:       %8 = arith.maximumf %c_2, %7 : f32
// CHECK-NEXT:       %9 = arith.subf %c_1, %8 : f32
// CHECK-NEXT:       %kept = math.exp %9 : f32
// CHECK-NEXT:       %10 = arith.subf %5, %8 : f32
// CHECK-NEXT:       %taken = math.exp %10 : f32
// CHECK-NEXT:       kernel.unroll %vn_2 in 2 {
// CHECK-NEXT:         %d = loop.load %o[%vn_2] : memref<2xf32, 5 : i64>
// CHECK-NEXT:         %11 = loop.load %v_1[%vn_2] : memref<2xf32, 5 : i64>
// CHECK-NEXT:         %12 = arith.mulf %d, %kept : f32
// CHECK-NEXT:         %13 = arith.mulf %11, %taken : f32
// CHECK-NEXT:         %d_1 = arith.addf %12, %13 : f32
// CHECK-NEXT:         loop.store %d_1, %o[%vn_2] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       }
// CHECK-NEXT:       scf.yield %c_2 : f32
// CHECK-NEXT:     }
// CHECK-NEXT:     scf.yield %c : f32
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.comment "store out"
// CHECK-NEXT:   kernel.unroll %vn_3 in 2 {
// CHECK-NEXT:     %o_2 = loop.load %o[%vn_3] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     loop.store %o_2, %out[%tm, %tn * 2 + %vn_3] : memref<4x4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @chunks(%x: memref<4x6xf32>, %v: memref<6x4xf32>) -> (%out: memref<4x4xf32>) {
  tile.launch (%tm = thread 4 m, %tn = thread 2 n, %vn = register 2 n) {
    %m, %o = loop.reduce %ko in 2 with softmax {
      %c, %d = loop.reduce %ki in 3 with softmax {
        %0 = loop.load %x[%tm, %ko * 3 + %ki] : memref<4x6xf32>
        %1 = loop.load %v[%ko * 3 + %ki, %tn * 2 + %vn] : memref<6x4xf32>
        loop.yield %0, %1 : f32, f32
      } : f32, f32
      loop.yield %c, %d : f32, f32
    } : f32, f32
    loop.store %o, %out[%tm, %tn * 2 + %vn] : memref<4x4xf32>
  }
}

// CHECK-LABEL: kernel.func grid 1 block 4 @shared(%x: memref<4x8xf32>, %v: memref<8x4xf32>) -> (%out: memref<4x4xf32>) {
// CHECK-NEXT:   %thread = kernel.thread_id
// CHECK-NEXT:   %tm = kernel.index [%thread floordiv 2]
// CHECK-NEXT:   %tn = kernel.index [%thread mod 2]
// CHECK-NEXT:   kernel.comment "4x4 outputs, maximum and sums weighted by exponentials over ko, 2 steps"
// CHECK-NEXT:   %m = kernel.registers : memref<2xf32, 5 : i64>
// CHECK-NEXT:   %s = kernel.registers : memref<2xf32, 5 : i64>
// CHECK-NEXT:   kernel.unroll %vm in 2 {
// CHECK-NEXT:     %m_1 = arith.constant 0xff800000 : f32
// CHECK-NEXT:     %s_1 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     loop.store %m_1, %m[%vm] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     loop.store %s_1, %s[%vm] : memref<2xf32, 5 : i64>
// CHECK-NEXT:   }
// CHECK-NEXT:   %o = kernel.registers : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:   kernel.unroll %vm_1 in 2, %vn in 2 {
// CHECK-NEXT:     %o_1 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     loop.store %o_1, %o[%vm_1, %vn] : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:   }
// CHECK-NEXT:   %0 = arith.constant 0 : index
// CHECK-NEXT:   %1 = arith.constant 2 : index
// CHECK-NEXT:   %2 = arith.constant 1 : index
// CHECK-NEXT:   %3 = arith.constant 4 : index
// CHECK-NEXT:   scf.for %ko = %0 to %1 step %2 {
// CHECK-NEXT:     kernel.comment "load x"
// CHECK-NEXT:     %x_1 = kernel.registers : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:     kernel.unroll %vm_2 in 2, %vn_1 in 2 {
// CHECK-NEXT:       %4 = loop.load %x[%tm * 2 + %vm_2, %ko * 4 + %tn * 2 + %vn_1] : memref<4x8xf32>
// CHECK-NEXT:       loop.store %4, %x_1[%vm_2, %vn_1] : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:     }
// CHECK-NEXT:     kernel.comment "maximum across 2 values of each thread and 2 threads"
// CHECK-NEXT:     %cm = kernel.registers : memref<2xf32, 5 : i64>
// CHECK-NEXT:     kernel.unroll %vm_3 in 2 {
// CHECK-NEXT:       %cm_1 = arith.constant 0xff800000 : f32
// CHECK-NEXT:       loop.store %cm_1, %cm[%vm_3] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     }
// CHECK-NEXT:     scf.for %vn_2 = %0 to %1 step %2 {
// CHECK-NEXT:       kernel.unroll %vm_4 in 2 {
// CHECK-NEXT:         %cm_2 = loop.load %cm[%vm_4] : memref<2xf32, 5 : i64>
// CHECK-NEXT:         %5 = loop.load %x_1[%vm_4, %vn_2] : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:         %cm_3 = arith.maximumf %cm_2, %5 : f32
// CHECK-NEXT:         loop.store %cm_3, %cm[%vm_4] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       }
// CHECK-NEXT:     } {unroll}
// CHECK-NEXT:     %partial = kernel.shared : memref<2x4xf32, 3 : i64>
// CHECK-NEXT:     kernel.unroll %vm_5 in 2 {
// CHECK-NEXT:       %cm_4 = loop.load %cm[%vm_5] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       loop.store %cm_4, %partial[%vm_5, %thread] : memref<2x4xf32, 3 : i64>
// CHECK-NEXT:     }
// CHECK-NEXT:     kernel.barrier
// CHECK-NEXT:     kernel.unroll %vm_6 in 2 {
// CHECK-NEXT:       %6 = arith.constant 0xff800000 : f32
// CHECK-NEXT:       %cm_5 = scf.for %w = %0 to %1 step %2 iter_args(%7 = %6) -> (f32) {
// CHECK-NEXT:         %8 = loop.load %partial[%vm_6, %thread floordiv 2 * 2 + %w] : memref<2x4xf32, 3 : i64>
// CHECK-NEXT:         %9 = arith.maximumf %7, %8 : f32
// CHECK-NEXT:         scf.yield %9 : f32
// CHECK-NEXT:       }
// CHECK-NEXT:       loop.store %cm_5, %cm[%vm_6] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     }
// CHECK-NEXT:     kernel.barrier
// CHECK-NEXT:     %kept = kernel.registers : memref<2xf32, 5 : i64>
// CHECK-NEXT:     kernel.unroll %vm_7 in 2 {
// CHECK-NEXT:       %m_2 = loop.load %m[%vm_7] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       %cm_6 = loop.load %cm[%vm_7] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       %m_3 = arith.maximumf %m_2, %cm_6 : f32
// CHECK-NEXT:       %10 = arith.constant -3.40282347e+38 : f32
// CHECK-NEXT:       %11 = arith.maximumf %m_3, %10 : f32
// CHECK-NEXT:       %12 = arith.subf %m_2, %11 : f32
// CHECK-NEXT:       %kept_1 = math.exp %12 : f32
// CHECK-NEXT:       %13 = arith.subf %cm_6, %11 : f32
// CHECK-NEXT:       loop.store %m_3, %m[%vm_7] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       loop.store %m_3, %cm[%vm_7] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       loop.store %kept_1, %kept[%vm_7] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     }
// CHECK-NEXT:     kernel.unroll %vm_8 in 2 {
// CHECK-NEXT:       %s_2 = loop.load %s[%vm_8] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       %kept_2 = loop.load %kept[%vm_8] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       %s_3 = arith.mulf %s_2, %kept_2 : f32
// CHECK-NEXT:       loop.store %s_3, %s[%vm_8] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     }
// CHECK-NEXT:     kernel.unroll %vm_9 in 2, %vn_3 in 2 {
// CHECK-NEXT:       %o_2 = loop.load %o[%vm_9, %vn_3] : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:       %kept_3 = loop.load %kept[%vm_9] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       %o_3 = arith.mulf %o_2, %kept_3 : f32
// CHECK-NEXT:       loop.store %o_3, %o[%vm_9, %vn_3] : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:     }
// CHECK-NEXT:     %14 = arith.constant -3.40282347e+38 : f32
// CHECK-NEXT:     kernel.comment "elementwise"
// CHECK-NEXT:     %15 = kernel.registers : memref<2xf32, 5 : i64>
// CHECK-NEXT:     kernel.unroll %vm_10 in 2 {
// CHECK-NEXT:       %cm_7 = loop.load %cm[%vm_10] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       %16 = arith.maximumf %cm_7, %14 : f32
// CHECK-NEXT:       loop.store %16, %15[%vm_10] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     }
// CHECK-NEXT:     %w_1 = kernel.registers : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:     kernel.unroll %vm_11 in 2, %vn_4 in 2 {
// CHECK-NEXT:       %17 = loop.load %x_1[%vm_11, %vn_4] : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:       %18 = loop.load %15[%vm_11] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       %19 = arith.subf %17, %18 : f32
// CHECK-NEXT:       %w_2 = math.exp %19 : f32
// CHECK-NEXT:       loop.store %w_2, %w_1[%vm_11, %vn_4] : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:     }
// CHECK-NEXT:     kernel.comment "sum across 2 values of each thread and 2 threads"
// CHECK-NEXT:     %cs = kernel.registers : memref<2xf32, 5 : i64>
// CHECK-NEXT:     kernel.unroll %vm_12 in 2 {
// CHECK-NEXT:       %cs_1 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:       loop.store %cs_1, %cs[%vm_12] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     }
// CHECK-NEXT:     scf.for %vn_5 = %0 to %1 step %2 {
// CHECK-NEXT:       kernel.unroll %vm_13 in 2 {
// CHECK-NEXT:         %cs_2 = loop.load %cs[%vm_13] : memref<2xf32, 5 : i64>
// CHECK-NEXT:         %w_3 = loop.load %w_1[%vm_13, %vn_5] : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:         %cs_3 = arith.addf %cs_2, %w_3 : f32
// CHECK-NEXT:         loop.store %cs_3, %cs[%vm_13] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       }
// CHECK-NEXT:     } {unroll}
// CHECK-NEXT:     %partial_1 = kernel.shared : memref<2x4xf32, 3 : i64>
// CHECK-NEXT:     kernel.unroll %vm_14 in 2 {
// CHECK-NEXT:       %cs_4 = loop.load %cs[%vm_14] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       loop.store %cs_4, %partial_1[%vm_14, %thread] : memref<2x4xf32, 3 : i64>
// CHECK-NEXT:     }
// CHECK-NEXT:     kernel.barrier
// CHECK-NEXT:     kernel.unroll %vm_15 in 2 {
// CHECK-NEXT:       %20 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:       %cs_5 = scf.for %w_4 = %0 to %1 step %2 iter_args(%21 = %20) -> (f32) {
// CHECK-NEXT:         %22 = loop.load %partial_1[%vm_15, %thread floordiv 2 * 2 + %w_4] : memref<2x4xf32, 3 : i64>
// CHECK-NEXT:         %23 = arith.addf %21, %22 : f32
// CHECK-NEXT:         scf.yield %23 : f32
// CHECK-NEXT:       }
// CHECK-NEXT:       loop.store %cs_5, %cs[%vm_15] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     }
// CHECK-NEXT:     kernel.barrier
// CHECK-NEXT:     kernel.comment "share ws with all threads"
// CHECK-NEXT:     %ws = kernel.shared : memref<4x4xf32, 3 : i64>
// CHECK-NEXT:     kernel.barrier
// CHECK-NEXT:     kernel.unroll %vm_16 in 2, %vn_6 in 2 {
// CHECK-NEXT:       %w_5 = loop.load %w_1[%vm_16, %vn_6] : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:       loop.store %w_5, %ws[%tm * 2 + %vm_16, %tn * 2 + %vn_6] : memref<4x4xf32, 3 : i64>
// CHECK-NEXT:     }
// CHECK-NEXT:     kernel.barrier
// CHECK-NEXT:     kernel.comment "sum over kk, 4 steps"
// CHECK-NEXT:     scf.for %kk = %0 to %3 step %2 {
// CHECK-NEXT:       %ws_1 = kernel.registers : memref<2xf32, 5 : i64>
// CHECK-NEXT:       kernel.unroll %vm_17 in 2 {
// CHECK-NEXT:         %24 = loop.load %ws[%tm * 2 + %vm_17, %kk] : memref<4x4xf32, 3 : i64>
// CHECK-NEXT:         loop.store %24, %ws_1[%vm_17] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       }
// CHECK-NEXT:       %v_1 = kernel.registers : memref<2xf32, 5 : i64>
// CHECK-NEXT:       kernel.unroll %vn_7 in 2 {
// CHECK-NEXT:         %25 = loop.load %v[%ko * 4 + %kk, %tn * 2 + %vn_7] : memref<8x4xf32>
// CHECK-NEXT:         loop.store %25, %v_1[%vn_7] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       }
// CHECK-NEXT:       kernel.unroll %vm_18 in 2, %vn_8 in 2 {
// CHECK-NEXT:         %26 = loop.load %ws_1[%vm_18] : memref<2xf32, 5 : i64>
// CHECK-NEXT:         %27 = loop.load %v_1[%vn_8] : memref<2xf32, 5 : i64>
// CHECK-NEXT:         %28 = arith.mulf %26, %27 : f32
// CHECK-NEXT:         %co = loop.load %o[%vm_18, %vn_8] : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:         %co_1 = arith.addf %co, %28 : f32
// CHECK-NEXT:         loop.store %co_1, %o[%vm_18, %vn_8] : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:     kernel.unroll %vm_19 in 2 {
// CHECK-NEXT:       %s_4 = loop.load %s[%vm_19] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       %cs_6 = loop.load %cs[%vm_19] : memref<2xf32, 5 : i64>
// CHECK-NEXT:       %s_5 = arith.addf %s_4, %cs_6 : f32
// CHECK-NEXT:       loop.store %s_5, %s[%vm_19] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.comment "elementwise, stored to out"
// CHECK-NEXT:   kernel.unroll %vm_20 in 2, %vn_9 in 2 {
// CHECK-NEXT:     %o_4 = loop.load %o[%vm_20, %vn_9] : memref<2x2xf32, 5 : i64>
// CHECK-NEXT:     %s_6 = loop.load %s[%vm_20] : memref<2xf32, 5 : i64>
// CHECK-NEXT:     %29 = arith.divf %o_4, %s_6 : f32
// CHECK-NEXT:     loop.store %29, %out[%tm * 2 + %vm_20, %tn * 2 + %vn_9] : memref<4x4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
loop.kernel @shared(%x: memref<4x8xf32>, %v: memref<8x4xf32>) -> (%out: memref<4x4xf32>) {
  tile.launch (%tm = thread 2 m, %tn = thread 2 n, %vm = register 2 m, %vn = register 2 n) {
    %m, %s, %o = loop.reduce %ko in 2 with softmax {
      %0 = loop.load %x[%tm * 2 + %vm, %ko * 4 + %tn * 2 + %vn] : memref<4x8xf32>
      %cm = tile.combine %0 across %tn, %vn with max : f32
      %1 = arith.constant -3.40282347e+38 : f32
      %2 = arith.maximumf %cm, %1 : f32
      %3 = arith.subf %0, %2 : f32
      %w = math.exp %3 : f32
      %cs = tile.combine %w across %tn, %vn with add : f32
      %ws = tile.share %w at [%tm * 2 + %vm, %tn * 2 + %vn] : memref<4x4xf32, 3 : i64>
      %co = loop.reduce %kk in 4 with add {
        %4 = loop.load %ws[%tm * 2 + %vm, %kk] : memref<4x4xf32, 3 : i64>
        %5 = loop.load %v[%ko * 4 + %kk, %tn * 2 + %vn] : memref<8x4xf32>
        %6 = arith.mulf %4, %5 : f32
        loop.yield %6 : f32
      } : f32
      loop.yield %cm, %cs, %co : f32, f32, f32
    } : f32, f32, f32
    %7 = arith.divf %o, %s : f32
    loop.store %7, %out[%tm * 2 + %vm, %tn * 2 + %vn] : memref<4x4xf32>
  }
}

// CHECK-LABEL: kernel.func grid 1 block 16 @one_value(%x: memref<4x8xf32>, %v: memref<8x4xf32>) -> (%out: memref<4x4xf32>) {
// CHECK-NEXT:   %thread = kernel.thread_id
// CHECK-NEXT:   %tm = kernel.index [%thread floordiv 4]
// CHECK-NEXT:   %tn = kernel.index [%thread mod 4]
// CHECK-NEXT:   kernel.comment "4x4 outputs, maximum and sums weighted by exponentials over ko, 2 steps"
// CHECK-NEXT:   %0 = arith.constant 0xff800000 : f32
// CHECK-NEXT:   %1 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   %2 = arith.constant 0 : index
// CHECK-NEXT:   %3 = arith.constant 2 : index
// CHECK-NEXT:   %4 = arith.constant 1 : index
// CHECK-NEXT:   %5 = arith.constant 4 : index
// CHECK-NEXT:   %m, %o = scf.for %ko = %2 to %3 step %4 iter_args(%m_1 = %0, %o_1 = %1) -> (f32, f32) {
// CHECK-NEXT:     kernel.comment "load x"
// CHECK-NEXT:     %6 = loop.load %x[%tm, %ko * 4 + %tn] : memref<4x8xf32>
// CHECK-NEXT:     kernel.comment "maximum across 4 threads"
// CHECK-NEXT:     %partial = kernel.shared : memref<16xf32, 3 : i64>
// CHECK-NEXT:     loop.store %6, %partial[%thread] : memref<16xf32, 3 : i64>
// CHECK-NEXT:     kernel.barrier
// CHECK-NEXT:     %cm = scf.for %w = %2 to %5 step %4 iter_args(%7 = %0) -> (f32) {
// CHECK-NEXT:       %8 = loop.load %partial[%thread floordiv 4 * 4 + %w] : memref<16xf32, 3 : i64>
// CHECK-NEXT:       %9 = arith.maximumf %7, %8 : f32
// CHECK-NEXT:       scf.yield %9 : f32
// CHECK-NEXT:     }
// CHECK-NEXT:     kernel.barrier
// CHECK-NEXT:     %m_2 = arith.maximumf %m_1, %cm : f32
// CHECK-NEXT:     %10 = arith.constant -3.40282347e+38 : f32
// CHECK-NEXT:     %11 = arith.maximumf %m_2, %10 : f32
// CHECK-NEXT:     %12 = arith.subf %m_1, %11 : f32
// CHECK-NEXT:     %kept = math.exp %12 : f32
// CHECK-NEXT:     %13 = arith.subf %cm, %11 : f32
// CHECK-NEXT:     %o_2 = arith.mulf %o_1, %kept : f32
// CHECK-NEXT:     kernel.comment "elementwise"
// CHECK-NEXT:     %14 = arith.subf %6, %m_2 : f32
// CHECK-NEXT:     %w_1 = math.exp %14 : f32
// CHECK-NEXT:     kernel.comment "share ws with all threads"
// CHECK-NEXT:     %ws = kernel.shared : memref<4x4xf32, 3 : i64>
// CHECK-NEXT:     kernel.barrier
// CHECK-NEXT:     loop.store %w_1, %ws[%tm, %tn] : memref<4x4xf32, 3 : i64>
// CHECK-NEXT:     kernel.barrier
// CHECK-NEXT:     kernel.comment "sum over kk, 4 steps"
// CHECK-NEXT:     %co = scf.for %kk = %2 to %5 step %4 iter_args(%co_1 = %o_2) -> (f32) {
// CHECK-NEXT:       %15 = loop.load %ws[%tm, %kk] : memref<4x4xf32, 3 : i64>
// CHECK-NEXT:       %16 = loop.load %v[%ko * 4 + %kk, %tn] : memref<8x4xf32>
// CHECK-NEXT:       %17 = arith.mulf %15, %16 : f32
// CHECK-NEXT:       %co_2 = arith.addf %co_1, %17 : f32
// CHECK-NEXT:       scf.yield %co_2 : f32
// CHECK-NEXT:     }
// CHECK-NEXT:     scf.yield %m_2, %co : f32, f32
// CHECK-NEXT:   }
// CHECK-NEXT:   kernel.comment "store out"
// CHECK-NEXT:   loop.store %o, %out[%tm, %tn] : memref<4x4xf32>
// CHECK-NEXT: }
loop.kernel @one_value(%x: memref<4x8xf32>, %v: memref<8x4xf32>) -> (%out: memref<4x4xf32>) {
  tile.launch (%tm = thread 4 m, %tn = thread 4 n) {
    %m, %o = loop.reduce %ko in 2 with softmax {
      %0 = loop.load %x[%tm, %ko * 4 + %tn] : memref<4x8xf32>
      %cm = tile.combine %0 across %tn with max : f32
      %1 = arith.subf %0, %cm : f32
      %w = math.exp %1 : f32
      %ws = tile.share %w at [%tm, %tn] : memref<4x4xf32, 3 : i64>
      %co = loop.reduce %kk in 4 with add {
        %2 = loop.load %ws[%tm, %kk] : memref<4x4xf32, 3 : i64>
        %3 = loop.load %v[%ko * 4 + %kk, %tn] : memref<8x4xf32>
        %4 = arith.mulf %2, %3 : f32
        loop.yield %4 : f32
      } : f32
      loop.yield %cm, %co : f32, f32
    } : f32, f32
    loop.store %o, %out[%tm, %tn] : memref<4x4xf32>
  }
}
