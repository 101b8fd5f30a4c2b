// RUN: opt-tool %s -p 'cooperative-reduce{row=registers rows=2}' --check=each | filecheck %s
// RUN: not opt-tool %s -p 'cooperative-reduce{row=registers threads=64}' 2>&1 | filecheck %s --check-prefix=FEW
// RUN: not opt-tool %s -p 'cooperative-reduce{row=cache}' 2>&1 | filecheck %s --check-prefix=WORD

// FEW: in @softmax: row=registers needs a thread for each of 100 elements, not 64
// WORD: in @softmax: row=cache is neither 'registers' nor 'stage'

// A thread for each element of a row, and 28 threads beyond its end: no loops remain, and the row is
// loaded once.
// CHECK-LABEL: loop.kernel @softmax
// CHECK-NEXT:    tile.launch (%rb = block 9 row, %rw = thread 2 row, %t = thread 128 k) {
// CHECK-NEXT:      %0 = loop.load %x[%rb * 2 + %rw, %t] where [16 - %rb * 2 - %rw, 99 - %t] : memref<17x100xf32>
// CHECK-NEXT:      %m = tile.combine %0 across %t with max where [99 - %t] : f32
// CHECK-NEXT:      %1 = arith.subf %0, %m : f32
// CHECK-NEXT:      %2 = math.exp %1 : f32
// CHECK-NEXT:      %s = tile.combine %2 across %t with add where [99 - %t] : f32
// CHECK-NEXT:      %3 = arith.divf %2, %s : f32
// CHECK-NEXT:      loop.store %3, %out[%rb * 2 + %rw, %t] where [16 - %rb * 2 - %rw, 99 - %t] : memref<17x100xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:  } schedule "cooperative-reduce{threads=128 rows=2 row=registers}"
loop.kernel @softmax(%x: memref<17x100xf32>) -> (%out: memref<17x100xf32>) {
  tile.launch (%i = block 17 row) {
    %m = loop.reduce %k in 100 with max {
      %0 = loop.load %x[%i, %k] : memref<17x100xf32>
      loop.yield %0 : f32
    } : f32
    %s = loop.reduce %k in 100 with add {
      %0 = loop.load %x[%i, %k] : memref<17x100xf32>
      %1 = arith.subf %0, %m : f32
      %2 = math.exp %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.for %j in 100 {
      %0 = loop.load %x[%i, %j] : memref<17x100xf32>
      %1 = arith.subf %0, %m : f32
      %2 = math.exp %1 : f32
      %3 = arith.divf %2, %s : f32
      loop.store %3, %out[%i, %j] : memref<17x100xf32>
    }
  }
}

// The longest loop determines the threads; a shorter loop is shared by the same threads, and masked.
// CHECK-LABEL: loop.kernel @lengths
// CHECK:         %m = tile.combine %0 across %t with max where [39 - %t] : f32
// CHECK-NEXT:    loop.store %m, %out[%rb * 2 + %rw, %t] where [2 - %rb * 2 - %rw, 129 - %t]
// CHECK:       } schedule "cooperative-reduce{threads=160 rows=2 row=registers}"
loop.kernel @lengths(%x: memref<3x40xf32>) -> (%out: memref<3x130xf32>) {
  tile.launch (%i = block 3 row) {
    %m = loop.reduce %k in 40 with max {
      %0 = loop.load %x[%i, %k] : memref<3x40xf32>
      loop.yield %0 : f32
    } : f32
    loop.for %j in 130 {
      loop.store %m, %out[%i, %j] : memref<3x130xf32>
    }
  }
}
