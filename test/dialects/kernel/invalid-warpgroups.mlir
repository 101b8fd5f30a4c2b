// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Invalid multiplications by warpgroups.

kernel.func grid 1 block 96 @k(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  // CHECK: a block of 96 threads is not whole warpgroups, which execute this op; give it a multiple of 128
  kernel.group_fence
}

// -----

kernel.func grid 1 block 128 @k(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  // CHECK: expected integer >= 0, got -1
  kernel.group_wait -1
}

// -----

kernel.func grid 1 block 128 @k(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  %a = kernel.shared : memref<64x64xf16, #tile.layout<swizzle 128>, 3 : i64>
  %d = kernel.registers : memref<64xf32, 5 : i64>
  // CHECK: m16n8k16_f16 is an instruction of one warp; use kernel.matrix_multiply
  kernel.group_multiply m16n8k16_f16 columns 64 %a[0, 0] along [0, 1], %a[0, 0] along [0, 1], %d[0]
    : memref<64x64xf16, #tile.layout<swizzle 128>, 3 : i64>, memref<64x64xf16, #tile.layout<swizzle 128>, 3 : i64>, memref<64xf32, 5 : i64>
}

// -----

kernel.func grid 1 block 128 @k(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  %a = kernel.registers : memref<8xf16, 5 : i64>
  %b = kernel.registers : memref<4xf16, 5 : i64>
  %d = kernel.registers : memref<4xf32, 5 : i64>
  // CHECK: m64nNk16_f16 is an instruction of a warpgroup; use kernel.group_multiply
  kernel.matrix_multiply m64nNk16_f16 %a[0], %b[0], %d[0] : memref<8xf16, 5 : i64>, memref<4xf16, 5 : i64>, memref<4xf32, 5 : i64>
}

// -----

kernel.func grid 1 block 128 @k(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  %a = kernel.shared : memref<64x64xf16, #tile.layout<swizzle 128>, 3 : i64>
  %d = kernel.registers : memref<64xf32, 5 : i64>
  // CHECK: D has a multiple of 8 columns up to 256, not 60
  kernel.group_multiply m64nNk16_f16 columns 60 %a[0, 0] along [0, 1], %a[0, 0] along [0, 1], %d[0]
    : memref<64x64xf16, #tile.layout<swizzle 128>, 3 : i64>, memref<64x64xf16, #tile.layout<swizzle 128>, 3 : i64>, memref<64xf32, 5 : i64>
}

// -----

kernel.func grid 1 block 128 @k(%x: memref<64x64xf16>) -> (%out: memref<4xf32>) {
  %a = kernel.shared : memref<64x64xf16, #tile.layout<swizzle 128>, 3 : i64>
  %d = kernel.registers : memref<64xf32, 5 : i64>
  // CHECK: A is read from shared memory of the block; stage it there
  kernel.group_multiply m64nNk16_f16 columns 64 %x[0, 0] along [0, 1], %a[0, 0] along [0, 1], %d[0]
    : memref<64x64xf16>, memref<64x64xf16, #tile.layout<swizzle 128>, 3 : i64>, memref<64xf32, 5 : i64>
}

// -----

kernel.func grid 1 block 128 @k(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  %a = kernel.shared : memref<64x64xf16, #tile.layout<swizzle 128>, 3 : i64>
  %b = kernel.shared : memref<64x64xbf16, #tile.layout<swizzle 128>, 3 : i64>
  %d = kernel.registers : memref<64xf32, 5 : i64>
  // CHECK: B of m64nNk16_f16 has elements f16, not bf16
  kernel.group_multiply m64nNk16_f16 columns 64 %a[0, 0] along [0, 1], %b[0, 0] along [0, 1], %d[0]
    : memref<64x64xf16, #tile.layout<swizzle 128>, 3 : i64>, memref<64x64xbf16, #tile.layout<swizzle 128>, 3 : i64>, memref<64xf32, 5 : i64>
}

// -----

kernel.func grid 1 block 128 @k(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  %a = kernel.shared : memref<64x64xf16, #tile.layout<swizzle 128>, 3 : i64>
  %d = kernel.registers : memref<64xf32, 5 : i64>
  // CHECK: B lies along two different axes of its slab
  kernel.group_multiply m64nNk16_f16 columns 64 %a[0, 0] along [0, 1], %a[0, 0] along [1, 1], %d[0]
    : memref<64x64xf16, #tile.layout<swizzle 128>, 3 : i64>, memref<64x64xf16, #tile.layout<swizzle 128>, 3 : i64>, memref<64xf32, 5 : i64>
}

// -----

kernel.func grid 1 block 128 @k(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  %a = kernel.shared : memref<64x64xf16, #tile.layout<swizzle 128>, 3 : i64>
  %b = kernel.shared : memref<64x64xf16, #tile.layout<pad [0, 8]>, 3 : i64>
  %d = kernel.registers : memref<64xf32, 5 : i64>
  // CHECK: B is not swizzled; give its slab a swizzle over its innermost axis, such as '#tile.layout<swizzle 128>'
  kernel.group_multiply m64nNk16_f16 columns 64 %a[0, 0] along [0, 1], %b[0, 0] along [0, 1], %d[0]
    : memref<64x64xf16, #tile.layout<swizzle 128>, 3 : i64>, memref<64x64xf16, #tile.layout<pad [0, 8]>, 3 : i64>, memref<64xf32, 5 : i64>
}

// -----

kernel.func grid 1 block 128 @k(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  %a = kernel.shared : memref<32x64xf16, #tile.layout<swizzle 128>, 3 : i64>
  %d = kernel.registers : memref<64xf32, 5 : i64>
  // CHECK: A is smaller than 64 by 16 elements
  kernel.group_multiply m64nNk16_f16 columns 64 %a[0, 0] along [0, 1], %a[0, 0] along [1, 0], %d[0]
    : memref<32x64xf16, #tile.layout<swizzle 128>, 3 : i64>, memref<32x64xf16, #tile.layout<swizzle 128>, 3 : i64>, memref<64xf32, 5 : i64>
}

// -----

kernel.func grid 1 block 128 @k(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  %a = kernel.shared : memref<64x64xf16, #tile.layout<deal 4, swizzle 128>, 3 : i64>
  %d = kernel.registers : memref<64xf32, 5 : i64>
  // CHECK: A is stored in an order that no descriptor has
  kernel.group_multiply m64nNk16_f16 columns 64 %a[0, 0] along [0, 1], %a[0, 0] along [1, 0], %d[0]
    : memref<64x64xf16, #tile.layout<deal 4, swizzle 128>, 3 : i64>, memref<64x64xf16, #tile.layout<deal 4, swizzle 128>, 3 : i64>, memref<64xf32, 5 : i64>
}

// -----

kernel.func grid 1 block 128 @k(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  %a = kernel.shared : memref<16x64x64xf16, #tile.layout<swizzle 128>, 3 : i64>
  %d = kernel.registers : memref<64xf32, 5 : i64>
  // CHECK: A has neither its rows nor K innermost in memory
  kernel.group_multiply m64nNk16_f16 columns 64 %a[0, 0, 0] along [1, 0], %a[0, 0, 0] along [1, 2], %d[0]
    : memref<16x64x64xf16, #tile.layout<swizzle 128>, 3 : i64>, memref<16x64x64xf16, #tile.layout<swizzle 128>, 3 : i64>, memref<64xf32, 5 : i64>
}

// -----

kernel.func grid 1 block 128 @k(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  %a = kernel.shared : memref<64x64xf16, #tile.layout<swizzle 128>, 3 : i64>
  %d = kernel.registers : memref<32xf16, 5 : i64>
  // CHECK: D is f32 in registers, not memref<32xf16, 5 : i64>; go through kernel.registers
  kernel.group_multiply m64nNk16_f16 columns 64 %a[0, 0] along [0, 1], %a[0, 0] along [0, 1], %d[0]
    : memref<64x64xf16, #tile.layout<swizzle 128>, 3 : i64>, memref<64x64xf16, #tile.layout<swizzle 128>, 3 : i64>, memref<32xf16, 5 : i64>
}
