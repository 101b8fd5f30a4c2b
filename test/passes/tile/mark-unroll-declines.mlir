// RUN: opt-tool %s -p 'mark-unroll{limit=2},mark-unroll{limit=16}' --remarks --check=each 2>&1 | filecheck %s

// The step that closes a schedule runs only once.
// CHECK: --- t:016_mark_unroll skipped at sums: its schedule is closed
// CHECK: loop.reduce %k in 3 with add {
// CHECK: } schedule "mark-unroll{limit=2}"
loop.kernel @sums(%x: memref<32x3xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%b = block 1 row, %t = thread 32 row) {
    %s = loop.reduce %k in 3 with add {
      %0 = loop.load %x[%t, %k] : memref<32x3xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%t] : memref<32xf32>
  }
}
