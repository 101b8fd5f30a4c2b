// RUN: opt-tool %s -p to-kernel,to-cuda -t cuda | filecheck %s

// Where a quotient or a rest of the thread's number has a name, subscripts go by the name.
// CHECK:      const int t = thread / 8;
// CHECK-NEXT: const int rw = thread % 8;
// CHECK:      partial[w * 8 + rw]
loop.kernel @column_sums(%x: memref<64x16xf32>) -> (%out: memref<16xf32>) {
  tile.launch (%rb = block 2 row, %t = thread 8 k, %rw = thread 8 row) {
    %s = loop.reduce %k in 8 with add {
      %0 = loop.load %x[%k * 8 + %t, %rb * 8 + %rw] : memref<64x16xf32>
      loop.yield %0 : f32
    } : f32
    %c = tile.combine %s across %t with add : f32
    loop.store %c, %out[%rb * 8 + %rw] where [0 - %t] : memref<16xf32>
  }
}
