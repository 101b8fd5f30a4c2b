// RUN: not opt-tool %s -p convert-kernel-to-cuda 2>&1 | filecheck %s

// CHECK: :[[#]]:3: error: {{.*}}: cannot lower @k: CUDA IR has no form for 'kernel.tma_copy' of a fill that is not acquired before it
kernel.func grid 1 block 32 @k(%x: memref<8x16xf32> {plan.align = 16 : i64}) -> (%out: memref<8x16xf32>) {
  %c0 = arith.constant 0 : index
  %s = kernel.shared : memref<1x8x16xf32, #tile.layout<slots>, 3 : i64>
  %ring = kernel.ring bytes 512 : !kernel.ring<1, tma>
  kernel.tma_copy %x[0, 0] box [8, 16] to %s[%c0] on %ring, %c0 : memref<8x16xf32>, memref<1x8x16xf32, #tile.layout<slots>, 3 : i64>, !kernel.ring<1, tma>
}
