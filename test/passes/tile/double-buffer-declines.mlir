// RUN: opt-tool %s -p double-buffer --remarks --check=each 2>&1 | filecheck %s

// A row that is staged once needs one slot.
// CHECK: skipped at row: no slab is filled in the steps of a loop
// CHECK: tile.stage (%i) in [100] {
loop.kernel @row(%x: memref<3x100xf32>) -> (%out: memref<3x100xf32>) {
  tile.launch (%b = block 3 row, %t = thread 100) {
    %s = tile.stage (%i) in [100] {
      %0 = loop.load %x[%b, %i] : memref<3x100xf32>
      loop.yield %0 : f32
    } : memref<100xf32, 3 : i64>
    %0 = loop.load %s[99 - %t] : memref<100xf32, 3 : i64>
    loop.store %0, %out[%b, %t] : memref<3x100xf32>
  }
}
