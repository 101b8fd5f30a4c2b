// RUN: opt-tool %s -p convert-tile-to-kernel,canonicalize,cse --check=each | filecheck %s

// A masked load reads 0 outside: where 0 is the identity, the sum needs no other guard.
// CHECK-LABEL: @sum
// CHECK-NOT:     arith.select
// CHECK-LABEL: @maximum
loop.kernel @sum(%x: memref<17x100xf32>) -> (%out: memref<17xf32>) {
  tile.launch (%rb = block 9 row, %rw = thread 2 row, %t = thread 64 k) {
    %s = loop.reduce %k in 2 with add {
      %0 = loop.load %x[%rb * 2 + %rw, %k * 64 + %t] where [16 - %rb * 2 - %rw, 99 - %k * 64 - %t] : memref<17x100xf32>
      loop.yield %0 where [99 - %k * 64 - %t] : f32
    } : f32
    %c = tile.combine %s across %t with add : f32
    loop.store %c, %out[%rb * 2 + %rw] where [0 - %t, 16 - %rb * 2 - %rw] : memref<17xf32>
  }
}

// 0 is not the identity of a maximum.
// CHECK:         arith.select
// CHECK-LABEL: @wider
loop.kernel @maximum(%x: memref<100xf32>) -> (%out: memref<f32>) {
  tile.launch (%t = thread 64 k) {
    %s = loop.reduce %k in 2 with max {
      %0 = loop.load %x[%k * 64 + %t] where [99 - %k * 64 - %t] : memref<100xf32>
      loop.yield %0 where [99 - %k * 64 - %t] : f32
    } : f32
    %c = tile.combine %s across %t with max : f32
    loop.store %c, %out[] where [0 - %t] : memref<f32>
  }
}

// The load reads more elements than the sum takes.
// CHECK:         arith.select
// CHECK-LABEL: @computed
loop.kernel @wider(%x: memref<100xf32>) -> (%out: memref<f32>) {
  tile.launch (%t = thread 64 k) {
    %s = loop.reduce %k in 2 with add {
      %0 = loop.load %x[%k * 64 + %t] where [99 - %k * 64 - %t] : memref<100xf32>
      loop.yield %0 where [89 - %k * 64 - %t] : f32
    } : f32
    %c = tile.combine %s across %t with add : f32
    loop.store %c, %out[] where [0 - %t] : memref<f32>
  }
}

// exp(0) is 1.
// CHECK:         arith.select
loop.kernel @computed(%x: memref<100xf32>) -> (%out: memref<f32>) {
  tile.launch (%t = thread 64 k) {
    %s = loop.reduce %k in 2 with add {
      %0 = loop.load %x[%k * 64 + %t] where [99 - %k * 64 - %t] : memref<100xf32>
      %1 = math.exp %0 : f32
      loop.yield %1 where [99 - %k * 64 - %t] : f32
    } : f32
    %c = tile.combine %s across %t with add : f32
    loop.store %c, %out[] where [0 - %t] : memref<f32>
  }
}

// Products and differences of zeros are zero ...
// CHECK-LABEL: @dot
// CHECK-NOT:     arith.select
// CHECK-LABEL: @ratio
loop.kernel @dot(%x: memref<100xf16>, %y: memref<100xf32>) -> (%out: memref<f32>) {
  tile.launch (%t = thread 64 k) {
    %s = loop.reduce %k in 2 with add {
      %0 = loop.load %x[%k * 64 + %t] where [99 - %k * 64 - %t] : memref<100xf16>
      %1 = arith.extf %0 : f16 to f32
      %2 = loop.load %y[%k * 64 + %t] where [99 - %k * 64 - %t] : memref<100xf32>
      %3 = arith.subf %1, %2 : f32
      %4 = arith.mulf %3, %3 : f32
      loop.yield %4 where [99 - %k * 64 - %t] : f32
    } : f32
    %c = tile.combine %s across %t with add : f32
    loop.store %c, %out[] where [0 - %t] : memref<f32>
  }
}

// ... but their quotient is not, nor is a product with a factor that may be infinite.
// CHECK:         arith.select
// CHECK-LABEL: @scaled
// CHECK:         arith.select
loop.kernel @ratio(%x: memref<100xf32>) -> (%out: memref<f32>) {
  tile.launch (%t = thread 64 k) {
    %s = loop.reduce %k in 2 with add {
      %0 = loop.load %x[%k * 64 + %t] where [99 - %k * 64 - %t] : memref<100xf32>
      %1 = arith.divf %0, %0 : f32
      loop.yield %1 where [99 - %k * 64 - %t] : f32
    } : f32
    %c = tile.combine %s across %t with add : f32
    loop.store %c, %out[] where [0 - %t] : memref<f32>
  }
}
loop.kernel @scaled(%x: memref<100xf32>, %y: memref<f32>) -> (%out: memref<f32>) {
  tile.launch (%t = thread 64 k) {
    %by = loop.load %y[] : memref<f32>
    %s = loop.reduce %k in 2 with add {
      %0 = loop.load %x[%k * 64 + %t] where [99 - %k * 64 - %t] : memref<100xf32>
      %1 = arith.mulf %0, %by : f32
      loop.yield %1 where [99 - %k * 64 - %t] : f32
    } : f32
    %c = tile.combine %s across %t with add : f32
    loop.store %c, %out[] where [0 - %t] : memref<f32>
  }
}
