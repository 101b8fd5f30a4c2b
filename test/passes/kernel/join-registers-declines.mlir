// RUN: opt-tool %s -p join-registers --remarks 2>&1 | filecheck %s

// A step yields the moments of several numbers.
// CHECK: skipped at several: its steps yield values that stand for several elements
// CHECK-LABEL: loop.kernel @several
// CHECK: tile.combine %mean, %squares, %count across %t, %v with moments
loop.kernel @several(%x: memref<3x1024xf32>) -> (%out: memref<3xf32>) {
  tile.launch (%rb = block 3 row, %t = thread 32 k, %v = register 4 k) {
    %mean, %squares, %count = loop.reduce %k in 8 with moments {
      %0 = loop.load %x[%rb, %k * 128 + %t * 4 + %v] : memref<3x1024xf32>
      %1 = arith.constant 0.0 : f32
      %2 = arith.constant 2.0 : f32
      loop.yield %0, %1, %2 : f32, f32, f32
    } : f32, f32, f32
    %a, %b, %c = tile.combine %mean, %squares, %count across %t, %v with moments : f32, f32, f32
    loop.store %b, %out[%rb] where [0 - %t * 4 - %v] : memref<3xf32>
  }
}

// Sums are joined in one instruction. Moments that differ in no register are joined already.
// CHECK-LABEL: loop.kernel @unchanged
// CHECK: tile.combine %sum across %t, %v with add
// CHECK: tile.combine %mean, %squares, %count across %t with moments
loop.kernel @unchanged(%x: memref<3x1024xf32>) -> (%out: memref<3xf32>, %out_1: memref<3xf32>) {
  tile.launch (%rb = block 3 row, %t = thread 32 k, %v = register 4 k) {
    %sum = loop.reduce %k in 8 with add {
      %0 = loop.load %x[%rb, %k * 128 + %t * 4 + %v] : memref<3x1024xf32>
      loop.yield %0 : f32
    } : f32
    %a = tile.combine %sum across %t, %v with add : f32
    loop.store %a, %out[%rb] where [0 - %t * 4 - %v] : memref<3xf32>
    %mean, %squares, %count = loop.reduce %k_1 in 32 with moments {
      %1 = loop.load %x[%rb, %k_1 * 32 + %t] : memref<3x1024xf32>
      %2 = arith.constant 0.0 : f32
      %3 = arith.constant 1.0 : f32
      loop.yield %1, %2, %3 : f32, f32, f32
    } : f32, f32, f32
    %b, %c, %d = tile.combine %mean, %squares, %count across %t with moments : f32, f32, f32
    loop.store %c, %out_1[%rb] where [0 - %t * 4 - %v] : memref<3xf32>
  }
}
