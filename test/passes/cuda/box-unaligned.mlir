// RUN: not opt-tool %s -p convert-kernel-to-cuda 2>&1 | filecheck %s

// CHECK: :[[#]]:3: error: {{.*}}: cannot lower @k: rows of 260 bytes in memref<8x65xf32>; rows that TMA copies must begin at multiples of 16 bytes
kernel.func grid 1 block 32 @k(%x: memref<8x65xf32> {plan.align = 16 : i64}) -> (%out: memref<8x16xf32>) {
  %c0 = arith.constant 0 : index
  %s = kernel.shared : memref<1x8x16xf32, #tile.layout<slots>, 3 : i64>
  %ring = kernel.ring bytes 512 : !kernel.ring<1, tma>
  kernel.ring_acquire %ring, %c0 : !kernel.ring<1, tma>
  kernel.tma_copy %x[0, 0] box [8, 16] to %s[%c0] on %ring, %c0 : memref<8x65xf32>, memref<1x8x16xf32, #tile.layout<slots>, 3 : i64>, !kernel.ring<1, tma>
}
