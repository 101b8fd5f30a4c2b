// RUN: opt-tool %s -p chunk-reduce --remarks --check=each 2>&1 | filecheck %s
// RUN: opt-tool %s -p chunk-reduce,chunk-reduce --remarks --check=each 2>&1 | filecheck %s --check-prefix=TWICE

// CHECK:     --- t:006_chunk_reduce skipped at product: no reduction of 17 steps or more, apart from contractions and chunks
// CHECK:     --- t:006_chunk_reduce skipped at short: no reduction of 17 steps or more
// CHECK-NOT: skipped at long
// TWICE:     --- t:006_chunk_reduce skipped at long: no reduction of 17 steps or more, apart from contractions and chunks

// A contraction is left to chunk-matmul-k.
// CHECK-LABEL: loop.kernel @product
// CHECK:         loop.reduce %k in 65 with add {
loop.kernel @product(%x: memref<8x65xf32>, %w: memref<65x8xf32>) -> (%out: memref<8x8xf32>) {
  tile.launch (%i = thread 8 m, %j = thread 8 n) {
    %s = loop.reduce %k in 65 with add {
      %0 = loop.load %x[%i, %k] : memref<8x65xf32>
      %1 = loop.load %w[%k, %j] : memref<65x8xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%i, %j] : memref<8x8xf32>
  }
}

// Sixteen steps are unrolled, so that their loads overlap.
// CHECK-LABEL: loop.kernel @short
// CHECK:         loop.reduce %k in 16 with add {
loop.kernel @short(%x: memref<16x40xf32>) -> (%out: memref<40xf32>) {
  tile.launch (%t = thread 40) {
    %s = loop.reduce %k in 16 with add {
      %0 = loop.load %x[%k, %t] : memref<16x40xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%t] : memref<40xf32>
  }
}

// A reduction in chunks is not chunked again.
loop.kernel @long(%x: memref<65x40xf32>) -> (%out: memref<40xf32>) {
  tile.launch (%t = thread 40) {
    %s = loop.reduce %k in 65 with add {
      %0 = loop.load %x[%k, %t] : memref<65x40xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%t] : memref<40xf32>
  }
}
