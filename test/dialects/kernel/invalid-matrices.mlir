// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Invalid loads and multiplications of matrices.

kernel.func grid 1 block 32 @k(%x: memref<8x8xf16>) -> (%out: memref<8x8xf16>) {
  %t = kernel.thread_id
  %r = kernel.registers : memref<2xf16, 5 : i64>
  // CHECK: matrices are loaded from shared memory; stage them there first
  kernel.load_matrix %x[%t mod 8, 0] to %r[0] count 1 : memref<8x8xf16>, memref<2xf16, 5 : i64>
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<8x8xf16>) -> (%out: memref<8x8xf16>) {
  %t = kernel.thread_id
  %c0 = arith.constant 0 : index
  %s = kernel.shared : memref<8x8xf16, 3 : i64>
  %theirs = kernel.remote %s of %c0 : memref<8x8xf16, 3 : i64>
  %r = kernel.registers : memref<2xf16, 5 : i64>
  // CHECK: matrices of another block are loaded by loop.load, not at once
  kernel.load_matrix %theirs[%t mod 8, 0] to %r[0] count 1 : memref<8x8xf16, 3 : i64>, memref<2xf16, 5 : i64>
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<8x8xf16>) -> (%out: memref<8x8xf16>) {
  %t = kernel.thread_id
  %s = kernel.shared : memref<8x8xf16, 3 : i64>
  // CHECK: matrices are loaded to registers; go through kernel.registers
  kernel.load_matrix %s[%t mod 8, 0] to %out[0, 0] count 1 : memref<8x8xf16, 3 : i64>, memref<8x8xf16>
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<8x8xf16>) -> (%out: memref<8x8xf16>) {
  %t = kernel.thread_id
  %s = kernel.shared : memref<8x8xf64, 3 : i64>
  %r = kernel.registers : memref<8xf64, 5 : i64>
  // CHECK: matrices have elements bf16, f16 or f32, not f64
  kernel.load_matrix %s[%t mod 8, 0] to %r[0] count 1 : memref<8x8xf64, 3 : i64>, memref<8xf64, 5 : i64>
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<8x8xf16>) -> (%out: memref<8x8xf16>) {
  %t = kernel.thread_id
  %s = kernel.shared : memref<8x8xf16, 3 : i64>
  %r = kernel.registers : memref<8xf16, 5 : i64>
  // CHECK: one instruction loads (1, 2, 4) matrices, not 3
  kernel.load_matrix %s[%t mod 8, 0] to %r[0] count 3 : memref<8x8xf16, 3 : i64>, memref<8xf16, 5 : i64>
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<8x8xf16>) -> (%out: memref<8x8xf16>) {
  %t = kernel.thread_id
  %s = kernel.shared : memref<8x8xf32, 3 : i64>
  %r = kernel.registers : memref<8xf32, 5 : i64>
  // CHECK: only 16-bit elements are transposed; store the slab of f32 transposed
  kernel.load_matrix %s[%t mod 8, 0] to %r[0] count 1 transposed : memref<8x8xf32, 3 : i64>, memref<8xf32, 5 : i64>
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<8x8xf16>) -> (%out: memref<8x8xf16>) {
  %t = kernel.thread_id
  %s = kernel.shared : memref<8x8xf16, 3 : i64>
  %r = kernel.registers : memref<6xf16, 5 : i64>
  // CHECK: a lane holds 8 elements of the matrix, not 6
  kernel.load_matrix %s[%t mod 8, 0] to %r[0] count 4 : memref<8x8xf16, 3 : i64>, memref<6xf16, 5 : i64>
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<8x8xf16>) -> (%out: memref<8x8xf16>) {
  %t = kernel.thread_id
  %s = kernel.shared : memref<8x8xf16, 3 : i64>
  %r = kernel.registers : memref<8xf16, 5 : i64>
  // CHECK: memref<8x8xf16, 3 : i64> takes 2 subscripts, got 1
  kernel.load_matrix %s[%t mod 8] to %r[0] count 1 : memref<8x8xf16, 3 : i64>, memref<8xf16, 5 : i64>
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<8x8xf16>) -> (%out: memref<8x8xf16>) {
  %t = kernel.thread_id
  %s = kernel.shared : memref<8x8xf16, 3 : i64>
  %r = kernel.registers : memref<8xf16, 5 : i64>
  // CHECK: memref<8xf16, 5 : i64> takes 1 subscripts, got 2
  kernel.load_matrix %s[%t mod 8, 0] to %r[0, 0] count 1 : memref<8x8xf16, 3 : i64>, memref<8xf16, 5 : i64>
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<8x8xf16>) -> (%out: memref<8x8xf16>) {
  %a = kernel.registers : memref<4xf32, 5 : i64>
  %b = kernel.registers : memref<2xf32, 5 : i64>
  %d = kernel.registers : memref<4xf32, 5 : i64>
  // CHECK: m16n8k8_tf32x3 is several instructions; write its multiplications one by one
  kernel.matrix_multiply m16n8k8_tf32x3 %a[0], %b[0], %d[0] : memref<4xf32, 5 : i64>, memref<2xf32, 5 : i64>, memref<4xf32, 5 : i64>
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<8x8xf16>) -> (%out: memref<8x8xf16>) {
  %a = kernel.shared : memref<8xf16, 3 : i64>
  %b = kernel.registers : memref<4xf16, 5 : i64>
  %d = kernel.registers : memref<4xf32, 5 : i64>
  // CHECK: A of a multiplication is in registers; load it by kernel.load_matrix
  kernel.matrix_multiply m16n8k16_f16 %a[0], %b[0], %d[0] : memref<8xf16, 3 : i64>, memref<4xf16, 5 : i64>, memref<4xf32, 5 : i64>
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<8x8xf16>) -> (%out: memref<8x8xf16>) {
  %a = kernel.registers : memref<8xf16, 5 : i64>
  %b = kernel.registers : memref<4xbf16, 5 : i64>
  %d = kernel.registers : memref<4xf32, 5 : i64>
  // CHECK: B of m16n8k16_f16 has elements f16, not bf16
  kernel.matrix_multiply m16n8k16_f16 %a[0], %b[0], %d[0] : memref<8xf16, 5 : i64>, memref<4xbf16, 5 : i64>, memref<4xf32, 5 : i64>
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<8x8xf16>) -> (%out: memref<8x8xf16>) {
  %a = kernel.registers : memref<8xf16, 5 : i64>
  %b = kernel.registers : memref<4xf16, 5 : i64>
  %d = kernel.registers : memref<4xf16, 5 : i64>
  // CHECK: D of m16n8k16_f16 has elements f32, not f16
  kernel.matrix_multiply m16n8k16_f16 %a[0], %b[0], %d[0] : memref<8xf16, 5 : i64>, memref<4xf16, 5 : i64>, memref<4xf16, 5 : i64>
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<8x8xf16>) -> (%out: memref<8x8xf16>) {
  %a = kernel.registers : memref<4xf16, 5 : i64>
  %b = kernel.registers : memref<4xf16, 5 : i64>
  %d = kernel.registers : memref<4xf32, 5 : i64>
  // CHECK: a lane holds 8 elements of the matrix, not 4
  kernel.matrix_multiply m16n8k16_f16 %a[0], %b[0], %d[0] : memref<4xf16, 5 : i64>, memref<4xf16, 5 : i64>, memref<4xf32, 5 : i64>
}

// -----

kernel.func grid 1 block 32 @k(%x: memref<8x8xf16>) -> (%out: memref<8x8xf16>) {
  %a = kernel.registers : memref<8xf16, 5 : i64>
  %b = kernel.registers : memref<4xf16, 5 : i64>
  %d = kernel.registers : memref<4xf32, 5 : i64>
  // CHECK: memref<8xf16, 5 : i64> takes 1 subscripts, got 2
  kernel.matrix_multiply m16n8k16_f16 %a[0, 0], %b[0], %d[0] : memref<8xf16, 5 : i64>, memref<4xf16, 5 : i64>, memref<4xf32, 5 : i64>
}

// -----

kernel.func grid 1 block 48 @k(%x: memref<8x8xf16>) -> (%out: memref<8x8xf16>) {
  %t = kernel.thread_id
  %s = kernel.shared : memref<8x8xf16, 3 : i64>
  %r = kernel.registers : memref<2xf16, 5 : i64>
  // CHECK: a block of 48 threads is not whole warps, which execute this op; give it a multiple of 32
  kernel.load_matrix %s[%t mod 8, 0] to %r[0] count 1 : memref<8x8xf16, 3 : i64>, memref<2xf16, 5 : i64>
}

// -----

kernel.func grid 1 block 16 @k(%x: memref<8x8xf16>) -> (%out: memref<8x8xf16>) {
  %a = kernel.registers : memref<8xf16, 5 : i64>
  %b = kernel.registers : memref<4xf16, 5 : i64>
  %d = kernel.registers : memref<4xf32, 5 : i64>
  // CHECK: a block of 16 threads is not whole warps, which execute this op; give it a multiple of 32
  kernel.matrix_multiply m16n8k16_f16 %a[0], %b[0], %d[0] : memref<8xf16, 5 : i64>, memref<4xf16, 5 : i64>, memref<4xf32, 5 : i64>
}
