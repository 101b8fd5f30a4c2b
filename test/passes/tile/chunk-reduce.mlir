// RUN: opt-tool %s -p 'chunk-reduce{chunk=8}' --check=each | filecheck %s
// RUN: opt-tool %s -p chunk-reduce,to-kernel --check=each
// RUN: opt-tool %s -p chunk-reduce,chunk-reduce --remarks 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: not opt-tool %s -p 'chunk-reduce{chunk=49}' 2>&1 | filecheck %s --check-prefix=LONG

// TWICE: skipped at sums: no reduction of 17 steps or more, apart from contractions and chunks
// LONG: in @sums: chunks of 49 for 49 steps; a chunk has 2 to 48

// 49 steps in chunks of 8: steps beyond the end of the row load zeros, which do not change the sum.
// CHECK-LABEL: loop.kernel @sums
// CHECK:         %p = loop.reduce %ko in 7 with add {
// CHECK-NEXT:      %chunk = loop.reduce %ki in 8 with add {
// CHECK-NEXT:        %0 = loop.load %x[%row, %ko * 512 + %ki * 64 + %t] where [48 - %ko * 8 - %ki, 3099 - %ko * 512 - %ki * 64 - %t]
// CHECK-NEXT:        loop.yield %0 : f32
// CHECK:       } schedule "chunk-reduce{chunk=8}"
loop.kernel @sums(%x: memref<3x3100xf32>) -> (%out: memref<3xf32>) {
  tile.launch (%row = block 3 row, %t = thread 64 k) {
    %p = loop.reduce %k in 49 with add {
      %0 = loop.load %x[%row, %k * 64 + %t] where [3099 - %k * 64 - %t] : memref<3x3100xf32>
      loop.yield %0 : f32
    } : f32
    %s = tile.combine %p across %t with add : f32
    loop.store %s, %out[%row] where [0 - %t] : memref<3xf32>
  }
}
