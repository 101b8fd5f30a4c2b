// RUN: opt-tool %s -p lift,inline-elementwise,fuse-epilogue --check=each | filecheck %s

// The matmul stores relu of its result.
// CHECK:      func.func @matmul_relu(%x: memref<16x64xf32>, %w: memref<64x17xf32>) -> memref<16x17xf32> {
// CHECK-NEXT:   %relu = memref.alloc() : memref<16x17xf32>
// CHECK-NEXT:   loop.launch @relu_matmul_p(%x, %w) -> (%relu) : (memref<16x64xf32>, memref<64x17xf32>) -> (memref<16x17xf32>)
// CHECK-NEXT:   func.return %relu : memref<16x17xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @relu_matmul_p(%x: memref<16x64xf32>, %w: memref<64x17xf32>) -> (%out: memref<16x17xf32>) {
// CHECK-NEXT:   loop.for %i in 16, %j in 17 {
// CHECK-NEXT:     %sum = loop.reduce %k in 64 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<16x64xf32>
// CHECK-NEXT:       %1 = loop.load %w[%k, %j] : memref<64x17xf32>
// CHECK-NEXT:       %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %3 = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:     %4 = arith.maximumf %sum, %3 : f32
// CHECK-NEXT:     loop.store %4, %out[%i, %j] : memref<16x17xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @matmul_relu(%x: tensor<16x64xf32>, %w: tensor<64x17xf32>) -> tensor<16x17xf32> {
  %l = prim.index_map %x by affine_map<(i, j, k) -> (i, j)> : tensor<16x64xf32> -> tensor<16x64x17xf32>
  %r = prim.index_map %w by affine_map<(i, j, k) -> (j, k)> : tensor<64x17xf32> -> tensor<16x64x17xf32>
  %p = prim.elementwise mul(%l, %r) : tensor<16x64x17xf32>
  %matmul = prim.reduce add(%p) dims [1] : (tensor<16x64x17xf32>) -> tensor<16x17xf32>
  %zero = prim.constant 0.000000e+00 : f32 -> tensor<16x17xf32>
  %relu = prim.elementwise maximum(%matmul, %zero) : tensor<16x17xf32>
  func.return %relu : tensor<16x17xf32>
}

// The reader takes the transpose: the store is transposed, and so are the other reads.
// CHECK:      func.func @transposed(%x: memref<4x8x3xf32>, %bias: memref<3x4xf32>) -> memref<3x4xf32> {
// CHECK-NEXT:   %biased = memref.alloc() : memref<3x4xf32>
// CHECK-NEXT:   loop.launch @biased_s(%x, %bias) -> (%biased) : (memref<4x8x3xf32>, memref<3x4xf32>) -> (memref<3x4xf32>)
// CHECK-NEXT:   func.return %biased : memref<3x4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @biased_s(%x: memref<4x8x3xf32>, %bias: memref<3x4xf32>) -> (%out: memref<3x4xf32>) {
// CHECK-NEXT:   loop.for %i in 4, %j in 3 {
// CHECK-NEXT:     %sum = loop.reduce %k in 8 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k, %j] : memref<4x8x3xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %1 = loop.load %bias[%j, %i] : memref<3x4xf32>
// CHECK-NEXT:     %2 = arith.addf %sum, %1 : f32
// CHECK-NEXT:     loop.store %2, %out[%j, %i] : memref<3x4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @transposed(%x: tensor<4x8x3xf32>, %bias: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %s = prim.reduce add(%x) dims [1] : (tensor<4x8x3xf32>) -> tensor<4x3xf32>
  %t = prim.index_map %s by affine_map<(i, j) -> (j, i)> : tensor<4x3xf32> -> tensor<3x4xf32>
  %biased = prim.elementwise add(%t, %bias) : tensor<3x4xf32>
  func.return %biased : tensor<3x4xf32>
}

// A single element.
// CHECK:      func.func @mean(%x: memref<6x7xf32>) -> memref<f32> {
// CHECK-NEXT:   %mean = memref.alloc() : memref<f32>
// CHECK-NEXT:   loop.launch @mean_sum(%x) -> (%mean) : (memref<6x7xf32>) -> (memref<f32>)
// CHECK-NEXT:   func.return %mean : memref<f32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @mean_sum(%x: memref<6x7xf32>) -> (%out: memref<f32>) {
// CHECK-NEXT:   %sum = loop.reduce %k in 42 with add {
// CHECK-NEXT:     %0 = loop.load %x[%k floordiv 7, %k mod 7] : memref<6x7xf32>
// CHECK-NEXT:     loop.yield %0 : f32
// CHECK-NEXT:   } : f32
// CHECK-NEXT:   %1 = arith.constant 0.0238095243 : f32
// CHECK-NEXT:   %2 = arith.mulf %sum, %1 : f32
// CHECK-NEXT:   loop.store %2, %out[] : memref<f32>
// CHECK-NEXT: }
func.func @mean(%x: tensor<6x7xf32>) -> tensor<f32> {
  %sum = prim.reduce add(%x) dims [0, 1] : (tensor<6x7xf32>) -> tensor<f32>
  %n = prim.constant 0.023809524 : f32 -> tensor<f32>
  %mean = prim.elementwise mul(%sum, %n) : tensor<f32>
  func.return %mean : tensor<f32>
}

// An axis of size 1 that the reader adds.
// CHECK:      func.func @keepdim(%x: memref<6x7xf32>) -> memref<6x1xf32> {
// CHECK-NEXT:   %neg = memref.alloc() : memref<6x1xf32>
// CHECK-NEXT:   loop.launch @neg_m(%x) -> (%neg) : (memref<6x7xf32>) -> (memref<6x1xf32>)
// CHECK-NEXT:   func.return %neg : memref<6x1xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @neg_m(%x: memref<6x7xf32>) -> (%out: memref<6x1xf32>) {
// CHECK-NEXT:   loop.for %i in 6 {
// CHECK-NEXT:     %maximum = loop.reduce %k in 7 with max {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<6x7xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %1 = arith.negf %maximum : f32
// CHECK-NEXT:     loop.store %1, %out[%i, 0] : memref<6x1xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @keepdim(%x: tensor<6x7xf32>) -> tensor<6x1xf32> {
  %m = prim.reduce max(%x) dims [1] : (tensor<6x7xf32>) -> tensor<6xf32>
  %k = prim.index_map %m by affine_map<(i, j) -> (i)> : tensor<6xf32> -> tensor<6x1xf32>
  %neg = prim.elementwise neg(%k) : tensor<6x1xf32>
  func.return %neg : tensor<6x1xf32>
}

// The result of a chain is computed with the reduction; both its uses of the sum are one value.
// CHECK:      func.func @square(%x: memref<6x7xf32>) -> memref<6xf32> {
// CHECK-NEXT:   %square = memref.alloc() : memref<6xf32>
// CHECK-NEXT:   loop.launch @square_sum(%x) -> (%square) : (memref<6x7xf32>) -> (memref<6xf32>)
// CHECK-NEXT:   func.return %square : memref<6xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @square_sum(%x: memref<6x7xf32>) -> (%out: memref<6xf32>) {
// CHECK-NEXT:   loop.for %i in 6 {
// CHECK-NEXT:     %sum = loop.reduce %k in 7 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<6x7xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %1 = arith.mulf %sum, %sum : f32
// CHECK-NEXT:     loop.store %1, %out[%i] : memref<6xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @square(%x: tensor<6x7xf32>) -> tensor<6xf32> {
  %sum = prim.reduce add(%x) dims [1] : (tensor<6x7xf32>) -> tensor<6xf32>
  %square = prim.elementwise mul(%sum, %sum) : tensor<6xf32>
  func.return %square : tensor<6xf32>
}

// Each row of the reader reads the same sums: computing it where they are stored is impossible.
// CHECK:      func.func @broadcast(%x: memref<6x7xf32>, %y: memref<5x6xf32>) -> memref<5x6xf32> {
// CHECK-NEXT:   %bsum = memref.alloc() : memref<6xf32>
// CHECK-NEXT:   loop.launch @bsum(%x) -> (%bsum) : (memref<6x7xf32>) -> (memref<6xf32>)
// CHECK-NEXT:   %sub = memref.alloc() : memref<5x6xf32>
// CHECK-NEXT:   loop.launch @sub(%y, %bsum) -> (%sub) : (memref<5x6xf32>, memref<6xf32>) -> (memref<5x6xf32>)
// CHECK-NEXT:   func.return %sub : memref<5x6xf32>
// CHECK-NEXT: }
func.func @broadcast(%x: tensor<6x7xf32>, %y: tensor<5x6xf32>) -> tensor<5x6xf32> {
  %bsum = prim.reduce add(%x) dims [1] : (tensor<6x7xf32>) -> tensor<6xf32>
  %b = prim.index_map %bsum by affine_map<(i, j) -> (j)> : tensor<6xf32> -> tensor<5x6xf32>
  %sub = prim.elementwise sub(%y, %b) : tensor<5x6xf32>
  func.return %sub : tensor<5x6xf32>
}

// Half of the sums are read: the rest has no place in the reader.
// CHECK:      func.func @half(%x: memref<6x7xf32>) -> memref<3xf32> {
// CHECK-NEXT:   %all = memref.alloc() : memref<6xf32>
// CHECK-NEXT:   loop.launch @all(%x) -> (%all) : (memref<6x7xf32>) -> (memref<6xf32>)
// CHECK-NEXT:   %exp = memref.alloc() : memref<3xf32>
// CHECK-NEXT:   loop.launch @exp(%all) -> (%exp) : (memref<6xf32>) -> (memref<3xf32>)
// CHECK-NEXT:   func.return %exp : memref<3xf32>
// CHECK-NEXT: }
func.func @half(%x: tensor<6x7xf32>) -> tensor<3xf32> {
  %all = prim.reduce add(%x) dims [1] : (tensor<6x7xf32>) -> tensor<6xf32>
  %some = prim.index_map %all by affine_map<(i) -> (i)> : tensor<6xf32> -> tensor<3xf32>
  %exp = prim.elementwise exp(%some) : tensor<3xf32>
  func.return %exp : tensor<3xf32>
}

// Two launches read the sum.
// CHECK:      func.func @two_readers(%x: memref<6x7xf32>) -> (memref<6xf32>, memref<6xf32>) {
// CHECK-NEXT:   %s2 = memref.alloc() : memref<6xf32>
// CHECK-NEXT:   loop.launch @s2(%x) -> (%s2) : (memref<6x7xf32>) -> (memref<6xf32>)
// CHECK-NEXT:   %e = memref.alloc() : memref<6xf32>
// CHECK-NEXT:   loop.launch @e(%s2) -> (%e) : (memref<6xf32>) -> (memref<6xf32>)
// CHECK-NEXT:   %n = memref.alloc() : memref<6xf32>
// CHECK-NEXT:   loop.launch @n(%s2) -> (%n) : (memref<6xf32>) -> (memref<6xf32>)
// CHECK-NEXT:   func.return %e, %n : memref<6xf32>, memref<6xf32>
// CHECK-NEXT: }
func.func @two_readers(%x: tensor<6x7xf32>) -> (tensor<6xf32>, tensor<6xf32>) {
  %s2 = prim.reduce add(%x) dims [1] : (tensor<6x7xf32>) -> tensor<6xf32>
  %e = prim.elementwise exp(%s2) : tensor<6xf32>
  %n = prim.elementwise neg(%s2) : tensor<6xf32>
  func.return %e, %n : tensor<6xf32>, tensor<6xf32>
}
