// RUN: opt-tool %s -p chunk-matmul-k,chunk-matmul-k --check=each --remarks 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: opt-tool %s -p 'chunk-matmul-k{bk=8}' | filecheck %s
// RUN: not opt-tool %s -p 'chunk-matmul-k{bk=0}' 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not opt-tool %s -p 'chunk-matmul-k{bk=16}' 2>&1 | filecheck %s --check-prefix=LONG
// RUN: not opt-tool %s -p 'chunk-matmul-k{bk=8 slice=4}' 2>&1 | filecheck %s --check-prefix=SLICE

// SLICE: error: pass 'chunk-matmul-k': cannot do 'chunk-matmul-k{bk=8 slice=4}' in @short: its contractions have no products inside that could be sliced
// NONE: error: pass 'chunk-matmul-k': cannot do 'chunk-matmul-k{bk=0}' in @short: chunks of 0 for a K of 5; bk is 1 to 8
// LONG: error: pass 'chunk-matmul-k': cannot do 'chunk-matmul-k{bk=16}' in @short: chunks of 16 for a K of 5; bk is 1 to 8

// REMARK: --- t:002_chunk_matmul_k skipped at row_dot: no contraction: no reduction loads one operand along m and another along n
// REMARK: --- t:002_chunk_matmul_k skipped at empty: no contraction
// REMARK: --- t:002_chunk_matmul_k skipped at short: its contractions are in chunks already

// Both operands vary with the same row: other elements do not reuse them.
// CHECK-LABEL: @row_dot
// CHECK:         loop.reduce %k in 65
loop.kernel @row_dot(%x: memref<33x65xf32>, %y: memref<33x65xf32>) -> (%out: memref<33xf32>) {
  tile.launch (%i = block 33 row) {
    %sum = loop.reduce %k in 65 with add {
      %0 = loop.load %x[%i, %k] : memref<33x65xf32>
      %1 = loop.load %y[%i, %k] : memref<33x65xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %sum, %out[%i] : memref<33xf32>
  }
}

// A reduction without steps has nothing to chunk.
// CHECK-LABEL: @empty
// CHECK:         loop.reduce %k in 0
loop.kernel @empty(%x: memref<33x0xf32>, %w: memref<0x17xf32>) -> (%out: memref<33x17xf32>) {
  tile.launch (%i = block 33 m, %j = block 17 n) {
    %sum = loop.reduce %k in 0 with add {
      %0 = loop.load %x[%i, %k] : memref<33x0xf32>
      %1 = loop.load %w[%k, %j] : memref<0x17xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %sum, %out[%i, %j] : memref<33x17xf32>
  }
}

// A single chunk may be longer than K.
// CHECK-LABEL: @short
// CHECK:         loop.reduce %ko in 1
// CHECK-NEXT:      loop.reduce %ki in 8
loop.kernel @short(%x: memref<33x5xf32>, %w: memref<5x17xf32>) -> (%out: memref<33x17xf32>) {
  tile.launch (%i = block 33 m, %j = block 17 n) {
    %sum = loop.reduce %k in 5 with add {
      %0 = loop.load %x[%i, %k] : memref<33x5xf32>
      %1 = loop.load %w[%k, %j] : memref<5x17xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %sum, %out[%i, %j] : memref<33x17xf32>
  }
}
