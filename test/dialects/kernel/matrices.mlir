// RUN: opt-tool %s | opt-tool - | filecheck %s
// RUN: opt-tool %s --print-op-generic | opt-tool - | filecheck %s

// Loads of matrices, multiplications, and roundings to tf32.

// CHECK-LABEL: kernel.func grid 1 block 32 @halves
kernel.func grid 1 block 32 @halves(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  %t = kernel.thread_id
  %s = kernel.shared : memref<16x16xbf16, 3 : i64>
  %a = kernel.registers : memref<8xbf16, 5 : i64>
  %b = kernel.registers : memref<2x4xbf16, 5 : i64>
  %d = kernel.registers : memref<4xf32, 5 : i64>
  // CHECK: kernel.load_matrix %s[%t mod 16, %t floordiv 16 * 8] to %a[0] count 4 : memref<16x16xbf16, 3 : i64>, memref<8xbf16, 5 : i64>
  kernel.load_matrix %s[%t mod 16, %t floordiv 16 * 8] to %a[0] count 4
    : memref<16x16xbf16, 3 : i64>, memref<8xbf16, 5 : i64>
  // CHECK-NEXT: kernel.load_matrix %s[%t mod 16, 8] to %b[1, 0] count 2 transposed : memref<16x16xbf16, 3 : i64>, memref<2x4xbf16, 5 : i64>
  kernel.load_matrix %s[%t mod 16, 8] to %b[1, 0] count 2 transposed : memref<16x16xbf16, 3 : i64>, memref<2x4xbf16, 5 : i64>
  // CHECK-NEXT: kernel.matrix_multiply m16n8k16_bf16 %a[0], %b[1, 0], %d[0] : memref<8xbf16, 5 : i64>, memref<2x4xbf16, 5 : i64>, memref<4xf32, 5 : i64>
  kernel.matrix_multiply m16n8k16_bf16 %a[0], %b[1, 0], %d[0] : memref<8xbf16, 5 : i64>, memref<2x4xbf16, 5 : i64>, memref<4xf32, 5 : i64>
  // CHECK-NEXT: kernel.matrix_multiply m16n8k16_bf16 %a[0], %b[0, 0], %d[0] : memref<8xbf16, 5 : i64>, memref<2x4xbf16, 5 : i64>, memref<4xf32, 5 : i64>
  kernel.matrix_multiply m16n8k16_bf16 %a[0], %b[0, 0], %d[0]
    : memref<8xbf16, 5 : i64>, memref<2x4xbf16, 5 : i64>, memref<4xf32, 5 : i64>
}

// CHECK-LABEL: kernel.func grid 1 block 32 @words
kernel.func grid 1 block 32 @words(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  %t = kernel.thread_id
  %s = kernel.shared : memref<8x4xf32, 3 : i64>
  %a = kernel.registers : memref<3x4xf32, 5 : i64>
  kernel.unroll %i in 3 {
    // CHECK: kernel.load_matrix %s[%t mod 8, 0] to %a[%i, 1] count 1 : memref<8x4xf32, 3 : i64>, memref<3x4xf32, 5 : i64>
    kernel.load_matrix %s[%t mod 8, 0] to %a[%i, 1] count 1 : memref<8x4xf32, 3 : i64>, memref<3x4xf32, 5 : i64>
    %0 = loop.load %a[%i, 1] : memref<3x4xf32, 5 : i64>
    // CHECK: kernel.round_tf32 %0 : f32
    %1 = kernel.round_tf32 %0 : f32
    // CHECK: kernel.halve_tf32 %0 : f32
    %2 = kernel.halve_tf32 %0 : f32
    // CHECK: kernel.nearest_finite %0 : f32
    %3 = kernel.nearest_finite %0 : f32
    loop.store %1, %a[%i, 1] : memref<3x4xf32, 5 : i64>
  }
  // CHECK: kernel.matrix_multiply m16n8k8_tf32 %a[0, 0], %a[1, 0], %a[2, 0] : memref<3x4xf32, 5 : i64>, memref<3x4xf32, 5 : i64>, memref<3x4xf32, 5 : i64>
  kernel.matrix_multiply m16n8k8_tf32 %a[0, 0], %a[1, 0], %a[2, 0] : memref<3x4xf32, 5 : i64>, memref<3x4xf32, 5 : i64>, memref<3x4xf32, 5 : i64>
}
