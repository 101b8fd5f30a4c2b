// RUN: not opt-tool %s -p convert-tile-to-kernel 2>&1 | filecheck %s

// In Tile IR every thread may compute one element; a GPU has no blocks of that size.

// CHECK: cannot lower @k: 2048 threads a block; a block has at most 1024: give each several elements (register-tile)
loop.kernel @k(%x: memref<2048xf32>) -> (%out: memref<2048xf32>) {
  tile.launch (%w = warp 32, %t = thread 2, %l = lane 32) {
    %0 = loop.load %x[%w * 64 + %t * 32 + %l] : memref<2048xf32>
    loop.store %0, %out[%w * 64 + %t * 32 + %l] : memref<2048xf32>
  }
}
