// RUN: opt-tool %s -p join-registers --check=each | filecheck %s

// A thread joins its four numbers in each step: two sums, a division, and a sum of squares. A mask
// of the yield becomes that of the sums.
// CHECK-LABEL: loop.kernel @moments
// CHECK:      loop.reduce %k in 8 with moments {
// CHECK-NEXT:   [[X:%[0-9]+]] = loop.load
// CHECK-NEXT:   arith.constant 0.000000e+00 : f32
// CHECK-NEXT:   [[ONE:%[0-9]+]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   [[SUM:%[0-9]+]], [[N:%[0-9]+]] = tile.combine [[X]], [[ONE]] across %v with add where [1020 - %k * 128 - %t * 4 - %v] : f32, f32
// CHECK-NEXT:   [[MOST:%[0-9]+]] = arith.maximumf [[N]], [[ONE]] : f32
// CHECK-NEXT:   [[M:%[0-9]+]] = arith.divf [[SUM]], [[MOST]] : f32
// CHECK-NEXT:   [[D:%[0-9]+]] = arith.subf [[X]], [[M]] : f32
// CHECK-NEXT:   [[DD:%[0-9]+]] = arith.mulf [[D]], [[D]] : f32
// CHECK-NEXT:   [[Q:%[0-9]+]] = tile.combine [[DD]] across %v with add where [1020 - %k * 128 - %t * 4 - %v] : f32
// CHECK-NEXT:   loop.yield [[M]], [[Q]], [[N]] : f32, f32, f32
// CHECK-NEXT: } : f32, f32, f32
// CHECK-NEXT: %a, %b, %c = tile.combine %mean, %squares, %count across %t with moments : f32, f32, f32
loop.kernel @moments(%x: memref<3x1021xf32>) -> (%out: memref<3xf32>) {
  tile.launch (%rb = block 3 row, %t = thread 32 k, %v = register 4 k) {
    %mean, %squares, %count = loop.reduce %k in 8 with moments {
      %0 = loop.load %x[%rb, %k * 128 + %t * 4 + %v] where [1020 - %k * 128 - %t * 4 - %v] : memref<3x1021xf32>
      %1 = arith.constant 0.0 : f32
      %2 = arith.constant 1.0 : f32
      loop.yield %0, %1, %2 where [1020 - %k * 128 - %t * 4 - %v] : f32, f32, f32
    } : f32, f32, f32
    %a, %b, %c = tile.combine %mean, %squares, %count across %t, %v with moments : f32, f32, f32
    loop.store %b, %out[%rb] where [0 - %t * 4 - %v] : memref<3xf32>
  }
}

// A thread joins four scores of each step, by one maximum. A chunk is joined in the same way.
// CHECK-LABEL: loop.kernel @softmax
// CHECK:      loop.reduce %ki in 4 with softmax unroll {
// CHECK-NEXT:   [[X:%[0-9]+]] = loop.load
// CHECK-NEXT:   arith.constant 1.000000e+00 : f32
// CHECK-NEXT:   [[MAX:%[0-9]+]] = tile.combine [[X]] across %v with max : f32
// CHECK-NEXT:   [[LOWEST:%[0-9]+]] = arith.constant -3.40282347e+38 : f32
// CHECK-NEXT:   [[FINITE:%[0-9]+]] = arith.maximumf [[MAX]], [[LOWEST]] : f32
// CHECK-NEXT:   [[LESS:%[0-9]+]] = arith.subf [[X]], [[FINITE]] : f32
// CHECK-NEXT:   [[WEIGHT:%[0-9]+]] = math.exp [[LESS]] : f32
// CHECK-NEXT:   [[SUM:%[0-9]+]] = tile.combine [[WEIGHT]] across %v with add : f32
// CHECK-NEXT:   loop.yield [[MAX]], [[SUM]] : f32, f32
// CHECK:      tile.combine %m, %s across %t with softmax : f32, f32
loop.kernel @softmax(%x: memref<3x1024xf32>) -> (%out: memref<3xf32>) {
  tile.launch (%rb = block 3 row, %t = thread 16 k, %v = register 4 k) {
    %m, %s = loop.reduce %ko in 4 with softmax {
      %chunk, %chunk_1 = loop.reduce %ki in 4 with softmax unroll {
        %0 = loop.load %x[%rb, %ko * 256 + %ki * 64 + %t * 4 + %v] : memref<3x1024xf32>
        %1 = arith.constant 1.0 : f32
        loop.yield %0, %1 : f32, f32
      } : f32, f32
      loop.yield %chunk, %chunk_1 : f32, f32
    } : f32, f32
    %a, %b = tile.combine %m, %s across %t, %v with softmax : f32, f32
    loop.store %b, %out[%rb] where [0 - %t * 4 - %v] : memref<3xf32>
  }
}

// No thread is left to join with. The flags of the reduction are those of its products.
// CHECK-LABEL: loop.kernel @alone
// CHECK:      [[X:%[0-9]+]] = loop.load
// CHECK:      [[TERM:%[0-9]+]] = arith.mulf {{%[0-9]+}}, [[X]] fastmath<nnan> : f32
// CHECK-NEXT: [[SUM:%[0-9]+]] = tile.combine [[TERM]] across %v with add : f32
// CHECK:      loop.store %s, %out[%t]
loop.kernel @alone(%x: memref<3x32xf32>) -> (%out: memref<3xf32>) {
  tile.launch (%t = thread 3 row, %v = register 4 k) {
    %m, %s = loop.reduce %k in 8 with softmax fastmath<nnan> {
      %0 = loop.load %x[%t, %k * 4 + %v] : memref<3x32xf32>
      loop.yield %0, %0 : f32, f32
    } : f32, f32
    %a, %b = tile.combine %m, %s across %v with softmax : f32, f32
    loop.store %b, %out[%t] where [0 - %v] : memref<3xf32>
  }
}
