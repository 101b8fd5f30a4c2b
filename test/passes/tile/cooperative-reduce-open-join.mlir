// RUN: opt-tool %s -p 'cooperative-reduce{threads=64 rows=1 split=4}' --check=each | filecheck %s
// RUN: opt-tool %s -p 'cooperative-reduce{threads=32 split=33}' --check=each | filecheck %s --check-prefix=MANY

// If the options state the number of blocks for a row but no join, the join is one that all targets
// support.
// CHECK: %s_2 = tile.combine %s_1 across %s, %t with add join(last_block) : f32
// CHECK: } schedule "cooperative-reduce{threads=64 rows=1 row=stage split=4 join=last_block}"
// MANY: split=33 join=last_block}"
loop.kernel @row_sum(%x: memref<3x1000xf32>) -> (%out: memref<3xf32>) {
  tile.launch (%i = block 3 row) {
    %s = loop.reduce %k in 1000 with add {
      %0 = loop.load %x[%i, %k] : memref<3x1000xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%i] : memref<3xf32>
  }
}
