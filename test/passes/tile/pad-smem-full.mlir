// RUN: opt-tool %s -p pad-smem --remarks --check=each 2>&1 | filecheck %s

// A slab that takes all shared memory has no room for a pad.
// CHECK: skipped at full: no pad fits in shared memory
// CHECK-NOT: pad [
loop.kernel @full(%a: memref<908x64xf32>) -> (%out: memref<908xf32>) {
  tile.launch (%t = thread 908 row) {
    %as = tile.stage (%i, %k) in [908, 64] {
      %0 = loop.load %a[%i, %k] : memref<908x64xf32>
      loop.yield %0 : f32
    } : memref<908x64xf32, 3 : i64>
    %sum = loop.reduce %k in 64 with add {
      %x = loop.load %as[%t, %k] : memref<908x64xf32, 3 : i64>
      loop.yield %x : f32
    } : f32
    loop.store %sum, %out[%t] : memref<908xf32>
  }
}
