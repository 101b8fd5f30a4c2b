// RUN: opt-tool %s | opt-tool - | filecheck %s
// RUN: opt-tool %s --print-op-generic | opt-tool - | filecheck %s

// Multiplications by warpgroups.

// CHECK-LABEL: kernel.func grid 1 block 128 @product
kernel.func grid 1 block 128 @product(%x: memref<4xf32>) -> (%out: memref<4xf32>) {
  %a = kernel.shared : memref<2x64x32xbf16, #tile.layout<slots, swizzle 64>, 3 : i64>
  %b = kernel.shared : memref<32x128xbf16, #tile.layout<inner 64, swizzle 128>, 3 : i64>
  %d = kernel.registers : memref<2x16x2x2xf32, 5 : i64>
  %one = arith.constant 1 : index
  // CHECK: kernel.proxy_fence
  kernel.proxy_fence
  // CHECK-NEXT: kernel.group_fence
  kernel.group_fence
  // CHECK-NEXT: kernel.group_multiply m64nNk16_bf16 columns 128 %a[%one, 0, 16] along [1, 2], %b[16, 0] along [1, 0], %d[1, 0, 0, 0] : memref<2x64x32xbf16, #tile.layout<slots, swizzle 64>, 3 : i64>, memref<32x128xbf16, #tile.layout<inner 64, swizzle 128>, 3 : i64>, memref<2x16x2x2xf32, 5 : i64>
  kernel.group_multiply m64nNk16_bf16 columns 128 %a[%one, 0, 16] along [1, 2], %b[16, 0] along [1, 0], %d[1, 0, 0, 0]
    : memref<2x64x32xbf16, #tile.layout<slots, swizzle 64>, 3 : i64>, memref<32x128xbf16, #tile.layout<inner 64, swizzle 128>, 3 : i64>, memref<2x16x2x2xf32, 5 : i64>
  // CHECK-NEXT: kernel.group_commit
  kernel.group_commit
  // CHECK-NEXT: kernel.group_wait 0
  kernel.group_wait 0
}
