// RUN: opt-tool %s -p lift,inline-elementwise --check=each | filecheck %s

// Both are computed at the place of the second.
// CHECK:      func.func @relu_add(%x: memref<16x64xf32>, %bias: memref<64xf32>) -> memref<16x64xf32> {
// CHECK-NEXT:   %relu = memref.alloc() : memref<16x64xf32>
// CHECK-NEXT:   loop.launch @relu_add_1(%x, %bias) -> (%relu) : (memref<16x64xf32>, memref<64xf32>) -> (memref<16x64xf32>)
// CHECK-NEXT:   func.return %relu : memref<16x64xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @relu_add_1(%x: memref<16x64xf32>, %bias: memref<64xf32>) -> (%out: memref<16x64xf32>) {
// CHECK-NEXT:   loop.for %i in 16, %j in 64 {
// CHECK-NEXT:     %0 = loop.load %x[%i, %j] : memref<16x64xf32>
// CHECK-NEXT:     %1 = loop.load %bias[%j] : memref<64xf32>
// CHECK-NEXT:     %2 = arith.addf %0, %1 : f32
// CHECK-NEXT:     %3 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %4 = arith.maximumf %2, %3 : f32
// CHECK-NEXT:     loop.store %4, %out[%i, %j] : memref<16x64xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @relu_add(%x: tensor<16x64xf32>, %bias: tensor<64xf32>) -> tensor<16x64xf32> {
  %b = prim.index_map %bias by affine_map<(d0, d1) -> (d1)> : tensor<64xf32> -> tensor<16x64xf32>
  %add = prim.elementwise add(%x, %b) : tensor<16x64xf32>
  %zero = prim.constant 0.000000e+00 : f32 -> tensor<16x64xf32>
  %relu = prim.elementwise maximum(%add, %zero) : tensor<16x64xf32>
  func.return %relu : tensor<16x64xf32>
}

// A reduction computes the elements that it folds; the subscripts of the reader replace the axes.
// CHECK:      func.func @sum_of_squares(%x: memref<5x7x3xf32>) -> memref<7xf32> {
// CHECK-NEXT:   %sum = memref.alloc() : memref<7xf32>
// CHECK-NEXT:   loop.launch @sum_sq(%x) -> (%sum) : (memref<5x7x3xf32>) -> (memref<7xf32>)
// CHECK-NEXT:   func.return %sum : memref<7xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @sum_sq(%x: memref<5x7x3xf32>) -> (%out: memref<7xf32>) {
// CHECK-NEXT:   loop.for %i in 7 {
// CHECK-NEXT:     %sum = loop.reduce %k in 15 with add {
// CHECK-NEXT:       %0 = loop.load %x[%k floordiv 3, %i, %k mod 3] : memref<5x7x3xf32>
// CHECK-NEXT:       %1 = loop.load %x[%k floordiv 3, %i, %k mod 3] : memref<5x7x3xf32>
// CHECK-NEXT:       %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %sum, %out[%i] : memref<7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @sum_of_squares(%x: tensor<5x7x3xf32>) -> tensor<7xf32> {
  %sq = prim.elementwise mul(%x, %x) : tensor<5x7x3xf32>
  %sum = prim.reduce add(%sq) dims [0, 2] : (tensor<5x7x3xf32>) -> tensor<7xf32>
  func.return %sum : tensor<7xf32>
}

// Each of several readers computes its own.
// CHECK:      func.func @two_readers(%x: memref<9xf32>) -> (memref<9xf32>, memref<9xf32>) {
// CHECK-NEXT:   %n = memref.alloc() : memref<9xf32>
// CHECK-NEXT:   loop.launch @n_e(%x) -> (%n) : (memref<9xf32>) -> (memref<9xf32>)
// CHECK-NEXT:   %s = memref.alloc() : memref<9xf32>
// CHECK-NEXT:   loop.launch @s_e(%x) -> (%s) : (memref<9xf32>) -> (memref<9xf32>)
// CHECK-NEXT:   func.return %n, %s : memref<9xf32>, memref<9xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @n_e(%x: memref<9xf32>) -> (%out: memref<9xf32>) {
// CHECK-NEXT:   loop.for %i in 9 {
// CHECK-NEXT:     %0 = loop.load %x[%i] : memref<9xf32>
// CHECK-NEXT:     %1 = math.exp %0 : f32
// CHECK-NEXT:     %2 = arith.negf %1 : f32
// CHECK-NEXT:     loop.store %2, %out[%i] : memref<9xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @s_e(%x: memref<9xf32>) -> (%out: memref<9xf32>) {
// CHECK-NEXT:   loop.for %i in 9 {
// CHECK-NEXT:     %0 = loop.load %x[%i] : memref<9xf32>
// CHECK-NEXT:     %1 = math.exp %0 : f32
// CHECK-NEXT:     %2 = math.sqrt %1 : f32
// CHECK-NEXT:     loop.store %2, %out[%i] : memref<9xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @two_readers(%x: tensor<9xf32>) -> (tensor<9xf32>, tensor<9xf32>) {
  %e = prim.elementwise exp(%x) : tensor<9xf32>
  %n = prim.elementwise neg(%e) : tensor<9xf32>
  %s = prim.elementwise sqrt(%e) : tensor<9xf32>
  func.return %n, %s : tensor<9xf32>, tensor<9xf32>
}

// A column that sixteen rows read is computed sixteen times (fusion-cost.mlir: when it is not).
// CHECK:      func.func @broadcast_16(%x: memref<16x64xf32>, %v: memref<64xf32>) -> memref<16x64xf32> {
// CHECK-NEXT:   %y16 = memref.alloc() : memref<16x64xf32>
// CHECK-NEXT:   loop.launch @y16_cheap(%x, %v) -> (%y16) : (memref<16x64xf32>, memref<64xf32>) -> (memref<16x64xf32>)
// CHECK-NEXT:   func.return %y16 : memref<16x64xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @y16_cheap(%x: memref<16x64xf32>, %v: memref<64xf32>) -> (%out: memref<16x64xf32>) {
// CHECK-NEXT:   loop.for %i in 16, %j in 64 {
// CHECK-NEXT:     %0 = loop.load %x[%i, %j] : memref<16x64xf32>
// CHECK-NEXT:     %1 = loop.load %v[%j] : memref<64xf32>
// CHECK-NEXT:     %2 = math.exp %1 : f32
// CHECK-NEXT:     %3 = arith.mulf %0, %2 : f32
// CHECK-NEXT:     loop.store %3, %out[%i, %j] : memref<16x64xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @broadcast_16(%x: tensor<16x64xf32>, %v: tensor<64xf32>) -> tensor<16x64xf32> {
  %cheap = prim.elementwise exp(%v) : tensor<64xf32>
  %b = prim.index_map %cheap by affine_map<(d0, d1) -> (d1)> : tensor<64xf32> -> tensor<16x64xf32>
  %y16 = prim.elementwise mul(%x, %b) : tensor<16x64xf32>
  func.return %y16 : tensor<16x64xf32>
}

// A value that is also a result stays.
// CHECK:      func.func @returned(%x: memref<9xf32>) -> (memref<9xf32>, memref<9xf32>) {
// CHECK-NEXT:   %kept = memref.alloc() : memref<9xf32>
// CHECK-NEXT:   loop.launch @kept(%x) -> (%kept) : (memref<9xf32>) -> (memref<9xf32>)
// CHECK-NEXT:   %f = memref.alloc() : memref<9xf32>
// CHECK-NEXT:   loop.launch @f(%kept) -> (%f) : (memref<9xf32>) -> (memref<9xf32>)
// CHECK-NEXT:   func.return %kept, %f : memref<9xf32>, memref<9xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @kept(%x: memref<9xf32>) -> (%out: memref<9xf32>) {
// CHECK-NEXT:   loop.for %i in 9 {
// CHECK-NEXT:     %0 = loop.load %x[%i] : memref<9xf32>
// CHECK-NEXT:     %1 = arith.negf %0 : f32
// CHECK-NEXT:     loop.store %1, %out[%i] : memref<9xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @f(%kept: memref<9xf32>) -> (%out: memref<9xf32>) {
// CHECK-NEXT:   loop.for %i in 9 {
// CHECK-NEXT:     %0 = loop.load %kept[%i] : memref<9xf32>
// CHECK-NEXT:     %1 = math.exp %0 : f32
// CHECK-NEXT:     loop.store %1, %out[%i] : memref<9xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @returned(%x: tensor<9xf32>) -> (tensor<9xf32>, tensor<9xf32>) {
  %kept = prim.elementwise neg(%x) : tensor<9xf32>
  %f = prim.elementwise exp(%kept) : tensor<9xf32>
  func.return %kept, %f : tensor<9xf32>, tensor<9xf32>
}

// A transposed read, and an axis of size 1 that is broadcast.
// CHECK:      func.func @views(%x: memref<3x1xf32>, %y: memref<5x3xf32>) -> memref<5x3xf32> {
// CHECK-NEXT:   %m = memref.alloc() : memref<5x3xf32>
// CHECK-NEXT:   loop.launch @m_n(%y, %x) -> (%m) : (memref<5x3xf32>, memref<3x1xf32>) -> (memref<5x3xf32>)
// CHECK-NEXT:   func.return %m : memref<5x3xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @m_n(%y: memref<5x3xf32>, %x: memref<3x1xf32>) -> (%out: memref<5x3xf32>) {
// CHECK-NEXT:   loop.for %i in 5, %j in 3 {
// CHECK-NEXT:     %0 = loop.load %x[%j, 0] : memref<3x1xf32>
// CHECK-NEXT:     %1 = arith.negf %0 : f32
// CHECK-NEXT:     %2 = loop.load %y[%i, %j] : memref<5x3xf32>
// CHECK-NEXT:     %3 = arith.mulf %1, %2 : f32
// CHECK-NEXT:     loop.store %3, %out[%i, %j] : memref<5x3xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @views(%x: tensor<3x1xf32>, %y: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %n = prim.elementwise neg(%x) : tensor<3x1xf32>
  %t = prim.index_map %n by affine_map<(d0, d1) -> (d1, 0)> : tensor<3x1xf32> -> tensor<5x3xf32>
  %m = prim.elementwise mul(%t, %y) : tensor<5x3xf32>
  func.return %m : tensor<5x3xf32>
}
