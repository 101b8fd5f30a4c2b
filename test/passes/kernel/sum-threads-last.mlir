// RUN: opt-tool %s -p sum-threads-last --check=each | filecheck %s
// RUN: opt-tool %s -p sum-threads-last --remarks 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: opt-tool %s -p sum-threads-last,sum-threads-last | filecheck %s

// Threads add up their registers in each step, and the eight threads of a row after the loop. The last
// keys are hidden: 61 do not divide.
// CHECK-LABEL: loop.kernel @rows
// CHECK:         %maximum, %sum = loop.reduce %ko in 2 with softmax {
// CHECK:           [[LARGEST:%[0-9]+]] = tile.combine %masked across %t, %v with max : f32
// CHECK:           [[OWN:%[0-9]+]] = tile.combine %weight across %v with add : f32
// CHECK-NEXT:      loop.yield [[LARGEST]], [[OWN]] : f32, f32
// CHECK-NEXT:    } : f32, f32
// CHECK-NEXT:    %sum_1 = tile.combine %sum across %t with add : f32
// CHECK-NEXT:    loop.store %sum_1, %out[%r] where [0 - %t, 0 - %v] : memref<5xf32>
func.func @main(%x: memref<5x61xf32>) -> memref<5xf32> {
  %out = memref.alloc() : memref<5xf32>
  loop.launch @rows(%x) -> (%out) : (memref<5x61xf32>) -> (memref<5xf32>)
  func.return %out : memref<5xf32>
}
loop.kernel @rows(%x: memref<5x61xf32>) -> (%out: memref<5xf32>) {
  tile.launch (%r = block 5 m, %t = thread 8 n, %v = register 4 n) {
    %maximum, %sum = loop.reduce %ko in 2 with softmax {
      %0 = loop.load %x[%r, %ko * 32 + %t * 4 + %v] where [60 - %ko * 32 - %t * 4 - %v] : memref<5x61xf32>
      %1 = loop.predicate [60 - %ko * 32 - %t * 4 - %v] : i1
      %2 = arith.constant 0xff800000 : f32
      %masked = arith.select %1, %0, %2 : f32
      %3 = tile.combine %masked across %t, %v with max : f32
      %4 = arith.constant -3.40282347e+38 : f32
      %finite = arith.maximumf %3, %4 : f32
      %5 = arith.subf %masked, %finite : f32
      %weight = math.exp %5 : f32
      %6 = tile.combine %weight across %t, %v with add : f32
      loop.yield %3, %6 : f32, f32
    } : f32, f32
    loop.store %sum, %out[%r] where [0 - %t, 0 - %v] : memref<5xf32>
  }
}

// Without registers a thread yields its weight.
// CHECK-LABEL: loop.kernel @threads
// CHECK:           loop.yield %{{[0-9]+}}, %weight : f32, f32
// CHECK:         %sum_1 = tile.combine %sum across %t with add : f32
loop.kernel @threads(%x: memref<5x64xf32>) -> (%out: memref<5xf32>) {
  tile.launch (%r = block 5 m, %t = thread 32 n) {
    %maximum, %sum = loop.reduce %ko in 2 with softmax {
      %0 = loop.load %x[%r, %ko * 32 + %t] : memref<5x64xf32>
      %1 = tile.combine %0 across %t with max : f32
      %2 = arith.subf %0, %1 : f32
      %weight = math.exp %2 : f32
      %3 = tile.combine %weight across %t with add : f32
      loop.yield %1, %3 : f32, f32
    } : f32, f32
    loop.store %sum, %out[%r] where [0 - %t] : memref<5xf32>
  }
}

// A masked sum stays in the loop. Sums of steps that are not relative to the largest score are none of
// this pass, and are not reported.
// REMARK: skipped at masked: a mask leaves out terms of its sum
// CHECK-LABEL: loop.kernel @masked
// CHECK:         tile.combine %weight across %t with add where [30 - %t] : f32
loop.kernel @masked(%x: memref<5x64xf32>) -> (%out: memref<5xf32>) {
  tile.launch (%r = block 5 m, %t = thread 32 n) {
    %maximum, %sum = loop.reduce %ko in 2 with softmax {
      %0 = loop.load %x[%r, %ko * 32 + %t] : memref<5x64xf32>
      %1 = tile.combine %0 across %t with max : f32
      %2 = arith.subf %0, %1 : f32
      %weight = math.exp %2 : f32
      %3 = tile.combine %weight across %t with add where [30 - %t] : f32
      loop.yield %1, %3 : f32, f32
    } : f32, f32
    loop.store %sum, %out[%r] where [0 - %t] : memref<5xf32>
  }
}

// REMARK: skipped at twice: its sum has another use in the loop
// CHECK-LABEL: loop.kernel @twice
// CHECK:         tile.combine %weight across %t with add : f32
loop.kernel @twice(%x: memref<5x64xf32>) -> (%out: memref<5xf32>) {
  tile.launch (%r = block 5 m, %t = thread 32 n) {
    %maximum, %sum, %same = loop.reduce %ko in 2 with softmax {
      %0 = loop.load %x[%r, %ko * 32 + %t] : memref<5x64xf32>
      %1 = tile.combine %0 across %t with max : f32
      %2 = arith.subf %0, %1 : f32
      %weight = math.exp %2 : f32
      %3 = tile.combine %weight across %t with add : f32
      loop.yield %1, %3, %3 : f32, f32, f32
    } : f32, f32, f32
    loop.store %sum, %out[%r] where [0 - %t] : memref<5xf32>
  }
}
