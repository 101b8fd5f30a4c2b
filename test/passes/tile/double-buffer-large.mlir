// RUN: not opt-tool %s -p 'double-buffer{depth=4}' 2>&1 | filecheck %s
// RUN: opt-tool %s -p 'double-buffer{depth=3}' --check=each | filecheck %s --check-prefix=FITS

// All slots of a block have to fit in shared memory.
// CHECK: cannot do 'double-buffer{depth=4}' in @sums: 4 slots take 262144 bytes of shared memory, and a block of sm_90a has 232448; take fewer slots or smaller slabs
// FITS:  ring(depth 3)
loop.kernel @sums(%x: memref<256x4096xf32>) -> (%out: memref<256xf32>) {
  tile.launch (%t = thread 256 m) {
    %sum = loop.reduce %ko in 64 with add {
      %xs = tile.stage (%i, %k) in [256, 64] {
        %0 = loop.load %x[%i, %ko * 64 + %k] : memref<256x4096xf32>
        loop.yield %0 : f32
      } : memref<256x64xf32, 3 : i64>
      %chunk = loop.reduce %ki in 64 with add {
        %0 = loop.load %xs[%t, %ki] : memref<256x64xf32, 3 : i64>
        loop.yield %0 : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %sum, %out[%t] : memref<256xf32>
  }
}
