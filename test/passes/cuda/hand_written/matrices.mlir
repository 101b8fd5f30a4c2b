// RUN: opt-tool %s -p convert-kernel-to-cuda | opt-tool - -t cuda | filecheck %s

// Products of 16x32 and 32x8 by one warp, with matrices staged in shared memory. The address of a
// row is computed ahead of the loop; in the unrolled loop it costs one xor, or only an offset.

// CHECK:      __launch_bounds__(32) bf16(
// CHECK:        const int swizzle1 = t / 2 % 4;
// CHECK-NEXT:   const int i = t / 16;
// CHECK-NEXT:   const int i1 = t % 16;
// CHECK-NEXT:   const int a_row = shared_address(&a[i1 * 32 + ((i * 8) ^ (swizzle1 * 8))]);
// CHECK:        const int b_row = shared_address(&b[i3 * 32 + ((i2 * 8) ^ (swizzle1 * 8))]);
// CHECK:        #pragma unroll
// CHECK-NEXT:   for (int k = 0; k < 2; ++k) {
// CHECK-NEXT:     __align__(4) bfloat16 p[8];
// CHECK-NEXT:     __align__(4) bfloat16 q[4];
// CHECK-NEXT:     load_matrix_x4(&p[0], a_row ^ (k * 32));
// CHECK-NEXT:     load_matrix_x2(&q[0], b_row ^ (k * 32));
// CHECK-NEXT:     multiply_m16n8k16_bf16(&d[0][0], &p[0], &q[0]);
// CHECK-NEXT:   }
kernel.func grid 1 block 32 @bf16(%x: memref<16x32xbf16> {plan.align = 16 : i64}, %y: memref<8x32xbf16> {plan.align = 16 : i64}) -> (%out: memref<16x8xf32>) {
  %t = kernel.thread_id
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = kernel.shared : memref<16x32xbf16, #tile.layout<swizzle 64>, 3 : i64>
  %b = kernel.shared : memref<8x32xbf16, #tile.layout<swizzle 64>, 3 : i64>
  %d = kernel.registers : memref<2x2xf32, 5 : i64>
  %v = kernel.registers : memref<8xbf16, 5 : i64>
  kernel.unroll %i in 2, %j in 2 {
    loop.store %zero, %d[%i, %j] : memref<2x2xf32, 5 : i64>
  }
  kernel.copy %x[%t floordiv 4, %t mod 4 * 8] to %v[0] width 8 : memref<16x32xbf16>, memref<8xbf16, 5 : i64>
  kernel.copy %v[0] to %a[%t floordiv 4, %t mod 4 * 8] width 8 : memref<8xbf16, 5 : i64>, memref<16x32xbf16, #tile.layout<swizzle 64>, 3 : i64>
  kernel.copy %x[%t floordiv 4 + 8, %t mod 4 * 8] to %v[0] width 8 : memref<16x32xbf16>, memref<8xbf16, 5 : i64>
  kernel.copy %v[0] to %a[%t floordiv 4 + 8, %t mod 4 * 8] width 8 : memref<8xbf16, 5 : i64>, memref<16x32xbf16, #tile.layout<swizzle 64>, 3 : i64>
  kernel.copy %y[%t floordiv 4, %t mod 4 * 8] to %v[0] width 8 : memref<8x32xbf16>, memref<8xbf16, 5 : i64>
  kernel.copy %v[0] to %b[%t floordiv 4, %t mod 4 * 8] width 8 : memref<8xbf16, 5 : i64>, memref<8x32xbf16, #tile.layout<swizzle 64>, 3 : i64>
  kernel.barrier
  scf.for %k = %c0 to %c2 step %c1 {
    %p = kernel.registers : memref<8xbf16, 5 : i64>
    %q = kernel.registers : memref<4xbf16, 5 : i64>
    kernel.load_matrix %a[%t mod 16, %k * 16 + %t floordiv 16 * 8] to %p[0] count 4 : memref<16x32xbf16, #tile.layout<swizzle 64>, 3 : i64>, memref<8xbf16, 5 : i64>
    kernel.load_matrix %b[%t mod 8, %k * 16 + %t floordiv 8 mod 2 * 8] to %q[0] count 2 : memref<8x32xbf16, #tile.layout<swizzle 64>, 3 : i64>, memref<4xbf16, 5 : i64>
    kernel.matrix_multiply m16n8k16_bf16 %p[0], %q[0], %d[0, 0] : memref<8xbf16, 5 : i64>, memref<4xbf16, 5 : i64>, memref<2x2xf32, 5 : i64>
    scf.yield
  } {unroll}
  kernel.unroll %i in 2, %j in 2 {
    %0 = loop.load %d[%i, %j] : memref<2x2xf32, 5 : i64>
    loop.store %0, %out[%i * 8 + %t floordiv 4, %t mod 4 * 2 + %j] : memref<16x8xf32>
  }
}

// Both matrices are given with k as their rows: the instruction transposes them.
// CHECK:      __launch_bounds__(32) f16(
// CHECK:        const int a_row = shared_address(&a[i * 192 + i1 * 24 + i2 * 8]);
// CHECK-NEXT:     const int b_row = shared_address(&b[t % 16 * 8]);
// CHECK:          load_matrix_x4_transposed(&p[0], a_row + k * 768);
// CHECK-NEXT:     load_matrix_x2_transposed(&q[0], b_row + k * 256);
// CHECK-NEXT:     multiply_m16n8k16_f16(&d[0][0], &p[0], &q[0]);
kernel.func grid 1 block 32 @f16(%x: memref<32x16xf16>, %y: memref<32x8xf16>) -> (%out: memref<16x8xf32>) {
  %t = kernel.thread_id
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = kernel.shared : memref<32x16xf16, #tile.layout<pad [0, 8]>, 3 : i64>
  %b = kernel.shared : memref<32x8xf16, 3 : i64>
  %d = kernel.registers : memref<2x2xf32, 5 : i64>
  kernel.unroll %i in 2, %j in 2 {
    loop.store %zero, %d[%i, %j] : memref<2x2xf32, 5 : i64>
  }
  kernel.unroll %i in 16 {
    %0 = loop.load %x[%t, %i] : memref<32x16xf16>
    loop.store %0, %a[%t, %i] : memref<32x16xf16, #tile.layout<pad [0, 8]>, 3 : i64>
  }
  kernel.unroll %i in 8 {
    %0 = loop.load %y[%t, %i] : memref<32x8xf16>
    loop.store %0, %b[%t, %i] : memref<32x8xf16, 3 : i64>
  }
  kernel.barrier
  scf.for %k = %c0 to %c2 step %c1 {
    %p = kernel.registers : memref<8xf16, 5 : i64>
    %q = kernel.registers : memref<4xf16, 5 : i64>
    kernel.load_matrix %a[%k * 16 + %t floordiv 16 * 8 + %t mod 8, %t floordiv 8 mod 2 * 8] to %p[0] count 4 transposed : memref<32x16xf16, #tile.layout<pad [0, 8]>, 3 : i64>, memref<8xf16, 5 : i64>
    kernel.load_matrix %b[%k * 16 + %t mod 16, 0] to %q[0] count 2 transposed : memref<32x8xf16, 3 : i64>, memref<4xf16, 5 : i64>
    kernel.matrix_multiply m16n8k16_f16 %p[0], %q[0], %d[0, 0] : memref<8xf16, 5 : i64>, memref<4xf16, 5 : i64>, memref<2x2xf32, 5 : i64>
    scf.yield
  } {unroll}
  kernel.unroll %i in 2, %j in 2 {
    %0 = loop.load %d[%i, %j] : memref<2x2xf32, 5 : i64>
    loop.store %0, %out[%i * 8 + %t floordiv 4, %t mod 4 * 2 + %j] : memref<16x8xf32>
  }
}

// Words: the fragments are rounded to tf32 in registers. B is loaded one matrix at a time, into
// parts of one array.
// CHECK:      __launch_bounds__(32) tf32(
// CHECK:          load_matrix_x4(&p[0], a_row ^ (k * 32));
// CHECK:              p[i2] = round_tf32(p[i2]);
// CHECK:              load_matrix_x1(&q[h], b_row ^ (k * 32 + h * 16));
// CHECK:          multiply_m16n8k8_tf32(&d[0][0], &p[0], &q[0]);
kernel.func grid 1 block 32 @tf32(%x: memref<16x32xf32>, %y: memref<8x32xf32>) -> (%out: memref<16x8xf32>) {
  %t = kernel.thread_id
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = kernel.shared : memref<16x32xf32, #tile.layout<swizzle 128>, 3 : i64>
  %b = kernel.shared : memref<8x32xf32, #tile.layout<swizzle 128>, 3 : i64>
  %d = kernel.registers : memref<2x2xf32, 5 : i64>
  kernel.unroll %i in 2, %j in 2 {
    loop.store %zero, %d[%i, %j] : memref<2x2xf32, 5 : i64>
  }
  kernel.unroll %i in 16 {
    %0 = loop.load %x[%i, %t] : memref<16x32xf32>
    loop.store %0, %a[%i, %t] : memref<16x32xf32, #tile.layout<swizzle 128>, 3 : i64>
  }
  kernel.unroll %i in 8 {
    %0 = loop.load %y[%i, %t] : memref<8x32xf32>
    %1 = kernel.round_tf32 %0 : f32
    loop.store %1, %b[%i, %t] : memref<8x32xf32, #tile.layout<swizzle 128>, 3 : i64>
  }
  kernel.barrier
  scf.for %k = %c0 to %c4 step %c1 {
    %p = kernel.registers : memref<4xf32, 5 : i64>
    %q = kernel.registers : memref<2xf32, 5 : i64>
    kernel.load_matrix %a[%t mod 16, %k * 8 + %t floordiv 16 * 4] to %p[0] count 4 : memref<16x32xf32, #tile.layout<swizzle 128>, 3 : i64>, memref<4xf32, 5 : i64>
    kernel.unroll %i in 4 {
      %0 = loop.load %p[%i] : memref<4xf32, 5 : i64>
      %1 = kernel.round_tf32 %0 : f32
      loop.store %1, %p[%i] : memref<4xf32, 5 : i64>
    }
    kernel.unroll %h in 2 {
      kernel.load_matrix %b[%t mod 8, %k * 8 + %h * 4] to %q[%h] count 1 : memref<8x32xf32, #tile.layout<swizzle 128>, 3 : i64>, memref<2xf32, 5 : i64>
    }
    kernel.matrix_multiply m16n8k8_tf32 %p[0], %q[0], %d[0, 0] : memref<4xf32, 5 : i64>, memref<2xf32, 5 : i64>, memref<2x2xf32, 5 : i64>
    scf.yield
  } {unroll}
  kernel.unroll %i in 2, %j in 2 {
    %0 = loop.load %d[%i, %j] : memref<2x2xf32, 5 : i64>
    loop.store %0, %out[%i * 8 + %t floordiv 4, %t mod 4 * 2 + %j] : memref<16x8xf32>
  }
}
