// RUN: opt-tool %s -p cut-recompute --check=each | filecheck %s
// RUN: opt-tool %s -p cut-recompute --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// REMARK:     --- f:010_cut_recompute skipped at by_sum: recompute 64x of powf over 1200 elements: 2.18 us against 4.19 us apart, saves 9.6 kB
// REMARK:     --- f:010_cut_recompute skipped at by_short_sum: recompute 3x of reduce over 30 elements: 2.00 us against 4.00 us apart, saves 600 B
// REMARK-NOT: ---

// Each of 1200 columns would sum the row again, which takes longer than a launch; powers of the
// columns do not.
// CHECK:      func.func @rows(%x: memref<64x1200xf32>, %v: memref<1200xf32>) -> memref<64x1200xf32> {
// CHECK-NEXT:   %y = memref.alloc() : memref<64x1200xf32>
// CHECK-NEXT:   %sum = memref.alloc() : memref<64xf32>
// CHECK-NEXT:   loop.launch @by_sum_part(%x) -> (%sum) : (memref<64x1200xf32>) -> (memref<64xf32>)
// CHECK-NEXT:   loop.launch @by_sum(%x, %v, %sum) -> (%y) : (memref<64x1200xf32>, memref<1200xf32>, memref<64xf32>) -> (memref<64x1200xf32>)
// CHECK-NEXT:   func.return %y : memref<64x1200xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @by_sum_part(%x: memref<64x1200xf32>) -> (%out: memref<64xf32>) {
// CHECK-NEXT:   loop.for %i in 64 {
// CHECK-NEXT:     %sum = loop.reduce %k in 1200 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<64x1200xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %sum, %out[%i] : memref<64xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @by_sum(%x: memref<64x1200xf32>, %v: memref<1200xf32>, %sum: memref<64xf32>) -> (%out: memref<64x1200xf32>) {
// CHECK-NEXT:   loop.for %i in 64, %j in 1200 {
// CHECK-NEXT:     %sum_1 = loop.load %sum[%i] : memref<64xf32>
// CHECK-NEXT:     %0 = loop.load %x[%i, %j] : memref<64x1200xf32>
// CHECK-NEXT:     %1 = arith.divf %0, %sum_1 : f32
// CHECK-NEXT:     %2 = loop.load %v[%j] : memref<1200xf32>
// CHECK-NEXT:     %3 = math.powf %2, %2 : f32
// CHECK-NEXT:     %4 = arith.mulf %1, %3 : f32
// CHECK-NEXT:     loop.store %4, %out[%i, %j] : memref<64x1200xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @rows(%x: memref<64x1200xf32>, %v: memref<1200xf32>) -> memref<64x1200xf32> {
  %y = memref.alloc() : memref<64x1200xf32>
  loop.launch @by_sum(%x, %v) -> (%y) : (memref<64x1200xf32>, memref<1200xf32>) -> (memref<64x1200xf32>)
  func.return %y : memref<64x1200xf32>
}
loop.kernel @by_sum(%x: memref<64x1200xf32>, %v: memref<1200xf32>) -> (%out: memref<64x1200xf32>) {
  loop.for %i in 64, %j in 1200 {
    %sum = loop.reduce %k in 1200 with add {
      %0 = loop.load %x[%i, %k] : memref<64x1200xf32>
      loop.yield %0 : f32
    } : f32
    %1 = loop.load %x[%i, %j] : memref<64x1200xf32>
    %2 = arith.divf %1, %sum : f32
    %3 = loop.load %v[%j] : memref<1200xf32>
    %4 = math.powf %3, %3 : f32
    %5 = arith.mulf %2, %4 : f32
    loop.store %5, %out[%i, %j] : memref<64x1200xf32>
  }
}

// A row of 3 is summed faster than a kernel is launched.
// CHECK:      func.func @short_rows(%x: memref<30x3xf32>) -> memref<30x3xf32> {
// CHECK-NEXT:   %y = memref.alloc() : memref<30x3xf32>
// CHECK-NEXT:   loop.launch @by_short_sum(%x) -> (%y) : (memref<30x3xf32>) -> (memref<30x3xf32>)
// CHECK-NEXT:   func.return %y : memref<30x3xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @by_short_sum(%x: memref<30x3xf32>) -> (%out: memref<30x3xf32>) {
// CHECK-NEXT:   loop.for %i in 30, %j in 3 {
// CHECK-NEXT:     %sum = loop.reduce %k in 3 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<30x3xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %1 = loop.load %x[%i, %j] : memref<30x3xf32>
// CHECK-NEXT:     %2 = arith.divf %1, %sum : f32
// CHECK-NEXT:     loop.store %2, %out[%i, %j] : memref<30x3xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @short_rows(%x: memref<30x3xf32>) -> memref<30x3xf32> {
  %y = memref.alloc() : memref<30x3xf32>
  loop.launch @by_short_sum(%x) -> (%y) : (memref<30x3xf32>) -> (memref<30x3xf32>)
  func.return %y : memref<30x3xf32>
}
loop.kernel @by_short_sum(%x: memref<30x3xf32>) -> (%out: memref<30x3xf32>) {
  loop.for %i in 30, %j in 3 {
    %sum = loop.reduce %k in 3 with add {
      %0 = loop.load %x[%i, %k] : memref<30x3xf32>
      loop.yield %0 : f32
    } : f32
    %1 = loop.load %x[%i, %j] : memref<30x3xf32>
    %2 = arith.divf %1, %sum : f32
    loop.store %2, %out[%i, %j] : memref<30x3xf32>
  }
}
