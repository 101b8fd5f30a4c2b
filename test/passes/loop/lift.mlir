// RUN: opt-tool %s -p lift --check=each --split-input-file | filecheck %s
// RUN: not opt-tool %S/Inputs/not-tensor-ir.mlir -p lift 2>&1 | filecheck %s --check-prefix=ERROR

// ERROR: error: pass 'lift': 'arith.addf' is not Tensor IR that can be lifted; run to-tensor first

// An elementwise op becomes a kernel; a broadcast is read through.
// CHECK:      func.func @broadcast(%x: memref<16x64xf32>, %bias: memref<64xf32>) -> memref<16x64xf32> {
// CHECK-NEXT:   %a = memref.alloc() : memref<16x64xf32>
// CHECK-NEXT:   loop.launch @a(%x, %bias) -> (%a) : (memref<16x64xf32>, memref<64xf32>) -> (memref<16x64xf32>)
// CHECK-NEXT:   func.return %a : memref<16x64xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @a(%x: memref<16x64xf32>, %bias: memref<64xf32>) -> (%out: memref<16x64xf32>) {
// CHECK-NEXT:   loop.for %i in 16, %j in 64 {
// CHECK-NEXT:     %0 = loop.load %x[%i, %j] : memref<16x64xf32>
// CHECK-NEXT:     %1 = loop.load %bias[%j] : memref<64xf32>
// CHECK-NEXT:     %2 = arith.addf %0, %1 : f32
// CHECK-NEXT:     loop.store %2, %out[%i, %j] : memref<16x64xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @broadcast(%x: tensor<16x64xf32>, %bias: tensor<64xf32>) -> tensor<16x64xf32> {
  %b = prim.index_map %bias by affine_map<(d0, d1) -> (d1)> : tensor<64xf32> -> tensor<16x64xf32>
  %a = prim.elementwise add(%x, %b) : tensor<16x64xf32>
  func.return %a : tensor<16x64xf32>
}

// A constant has no buffer: each reader has its own.
// CHECK:      func.func @scale(%x: memref<7xf32>) -> memref<7xf32> {
// CHECK-NEXT:   %scaled = memref.alloc() : memref<7xf32>
// CHECK-NEXT:   loop.launch @scaled(%x) -> (%scaled) : (memref<7xf32>) -> (memref<7xf32>)
// CHECK-NEXT:   func.return %scaled : memref<7xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @scaled(%x: memref<7xf32>) -> (%out: memref<7xf32>) {
// CHECK-NEXT:   loop.for %i in 7 {
// CHECK-NEXT:     %0 = loop.load %x[%i] : memref<7xf32>
// CHECK-NEXT:     %1 = arith.constant 2.000000e+00 : f32
// CHECK-NEXT:     %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:     loop.store %2, %out[%i] : memref<7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @scale(%x: tensor<7xf32>) -> tensor<7xf32> {
  %c = prim.constant 2.000000e+00 : f32 -> tensor<7xf32>
  %scaled = prim.elementwise mul(%x, %c) : tensor<7xf32>
  func.return %scaled : tensor<7xf32>
}

// The assumptions of a product about its factors stay with it.
// CHECK-LABEL: loop.kernel @product
// CHECK:         arith.mulf %0, %1 fastmath<nnan,ninf> : f32
func.func @finite(%x: tensor<7xf32>, %y: tensor<7xf32>) -> tensor<7xf32> {
  %product = prim.elementwise mul(%x, %y) fastmath<nnan,ninf> : tensor<7xf32>
  func.return %product : tensor<7xf32>
}

// Several reduced axes become one loop.
// CHECK:      func.func @sum_0_2(%x: memref<3x4x5xf32>) -> memref<4xf32> {
// CHECK-NEXT:   %total = memref.alloc() : memref<4xf32>
// CHECK-NEXT:   loop.launch @total(%x) -> (%total) : (memref<3x4x5xf32>) -> (memref<4xf32>)
// CHECK-NEXT:   func.return %total : memref<4xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @total(%x: memref<3x4x5xf32>) -> (%out: memref<4xf32>) {
// CHECK-NEXT:   loop.for %i in 4 {
// CHECK-NEXT:     %sum = loop.reduce %k in 15 with add {
// CHECK-NEXT:       %0 = loop.load %x[%k floordiv 5, %i, %k mod 5] : memref<3x4x5xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %sum, %out[%i] : memref<4xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @sum_0_2(%x: tensor<3x4x5xf32>) -> tensor<4xf32> {
  %total = prim.reduce add(%x) dims [0, 2] : (tensor<3x4x5xf32>) -> tensor<4xf32>
  func.return %total : tensor<4xf32>
}

// A result without axes is stored outside any nest.
// CHECK:      func.func @amax(%x: memref<33x65xf32>) -> memref<f32> {
// CHECK-NEXT:   %max = memref.alloc() : memref<f32>
// CHECK-NEXT:   loop.launch @max(%x) -> (%max) : (memref<33x65xf32>) -> (memref<f32>)
// CHECK-NEXT:   func.return %max : memref<f32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @max(%x: memref<33x65xf32>) -> (%out: memref<f32>) {
// CHECK-NEXT:   %maximum = loop.reduce %k in 2145 with max {
// CHECK-NEXT:     %0 = loop.load %x[%k floordiv 65, %k mod 65] : memref<33x65xf32>
// CHECK-NEXT:     loop.yield %0 : f32
// CHECK-NEXT:   } : f32
// CHECK-NEXT:   loop.store %maximum, %out[] : memref<f32>
// CHECK-NEXT: }
func.func @amax(%x: tensor<33x65xf32>) -> tensor<f32> {
  %max = prim.reduce max(%x) dims [0, 1] : (tensor<33x65xf32>) -> tensor<f32>
  func.return %max : tensor<f32>
}

// A result must be in memory: a transpose is copied.
// CHECK:      func.func @transpose(%x: memref<3x5xf32>) -> memref<5x3xf32> {
// CHECK-NEXT:   %t = memref.alloc() : memref<5x3xf32>
// CHECK-NEXT:   loop.launch @t(%x) -> (%t) : (memref<3x5xf32>) -> (memref<5x3xf32>)
// CHECK-NEXT:   func.return %t : memref<5x3xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @t(%x: memref<3x5xf32>) -> (%out: memref<5x3xf32>) {
// CHECK-NEXT:   loop.for %i in 5, %j in 3 {
// CHECK-NEXT:     %0 = loop.load %x[%j, %i] : memref<3x5xf32>
// CHECK-NEXT:     loop.store %0, %out[%i, %j] : memref<5x3xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @transpose(%x: tensor<3x5xf32>) -> tensor<5x3xf32> {
  %t = prim.index_map %x by affine_map<(d0, d1) -> (d1, d0)> : tensor<3x5xf32> -> tensor<5x3xf32>
  func.return %t : tensor<5x3xf32>
}

// Index maps compose.
// CHECK:      func.func @transpose_flatten(%x: memref<3x5xf32>) -> memref<15xf32> {
// CHECK-NEXT:   %e = memref.alloc() : memref<15xf32>
// CHECK-NEXT:   loop.launch @e(%x) -> (%e) : (memref<3x5xf32>) -> (memref<15xf32>)
// CHECK-NEXT:   func.return %e : memref<15xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @e(%x: memref<3x5xf32>) -> (%out: memref<15xf32>) {
// CHECK-NEXT:   loop.for %i in 15 {
// CHECK-NEXT:     %0 = loop.load %x[%i mod 3, %i floordiv 3] : memref<3x5xf32>
// CHECK-NEXT:     %1 = math.exp %0 : f32
// CHECK-NEXT:     loop.store %1, %out[%i] : memref<15xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @transpose_flatten(%x: tensor<3x5xf32>) -> tensor<15xf32> {
  %t = prim.index_map %x by affine_map<(d0, d1) -> (d1, d0)> : tensor<3x5xf32> -> tensor<5x3xf32>
  %f = prim.index_map %t by affine_map<(d0) -> (d0 floordiv 3, d0 mod 3)>
    : tensor<5x3xf32> -> tensor<15xf32>
  %e = prim.elementwise exp(%f) : tensor<15xf32>
  func.return %e : tensor<15xf32>
}

// An axis of size 1 needs no loop.
// CHECK:      func.func @column(%x: memref<1x5x1xf32>) -> memref<1x5x1xf32> {
// CHECK-NEXT:   %n = memref.alloc() : memref<1x5x1xf32>
// CHECK-NEXT:   loop.launch @n(%x) -> (%n) : (memref<1x5x1xf32>) -> (memref<1x5x1xf32>)
// CHECK-NEXT:   func.return %n : memref<1x5x1xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @n(%x: memref<1x5x1xf32>) -> (%out: memref<1x5x1xf32>) {
// CHECK-NEXT:   loop.for %i in 5 {
// CHECK-NEXT:     %0 = loop.load %x[0, %i, 0] : memref<1x5x1xf32>
// CHECK-NEXT:     %1 = arith.negf %0 : f32
// CHECK-NEXT:     loop.store %1, %out[0, %i, 0] : memref<1x5x1xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @column(%x: tensor<1x5x1xf32>) -> tensor<1x5x1xf32> {
  %n = prim.elementwise neg(%x) : tensor<1x5x1xf32>
  func.return %n : tensor<1x5x1xf32>
}

// A result that is an input is not copied.
// CHECK:      func.func @same(%x: memref<5xf32>) -> memref<5xf32> {
// CHECK-NEXT:   func.return %x : memref<5xf32>
// CHECK-NEXT: }
func.func @same(%x: tensor<5xf32>) -> tensor<5xf32> {
  func.return %x : tensor<5xf32>
}

// A result without elements needs no kernel ...
// CHECK:      func.func @empty(%x: memref<0x5xf32>) -> memref<0x5xf32> {
// CHECK-NEXT:   %none = memref.alloc() : memref<0x5xf32>
// CHECK-NEXT:   func.return %none : memref<0x5xf32>
// CHECK-NEXT: }
func.func @empty(%x: tensor<0x5xf32>) -> tensor<0x5xf32> {
  %none = prim.elementwise neg(%x) : tensor<0x5xf32>
  func.return %none : tensor<0x5xf32>
}

// ... but a sum of no elements is zero.
// CHECK:      func.func @sum_of_none(%x: memref<5x0xf32>) -> memref<5xf32> {
// CHECK-NEXT:   %zero = memref.alloc() : memref<5xf32>
// CHECK-NEXT:   loop.launch @zero(%x) -> (%zero) : (memref<5x0xf32>) -> (memref<5xf32>)
// CHECK-NEXT:   func.return %zero : memref<5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @zero(%x: memref<5x0xf32>) -> (%out: memref<5xf32>) {
// CHECK-NEXT:   loop.for %i in 5 {
// CHECK-NEXT:     %sum = loop.reduce %k in 0 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<5x0xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %sum, %out[%i] : memref<5xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @sum_of_none(%x: tensor<5x0xf32>) -> tensor<5xf32> {
  %zero = prim.reduce add(%x) dims [1] : (tensor<5x0xf32>) -> tensor<5xf32>
  func.return %zero : tensor<5xf32>
}

// Values without uses are not stored.
// CHECK:      loop.kernel @at(%x: memref<5x8xf32>, %n: memref<5x8xi64>) -> (%out: memref<5xi64>) {
// CHECK-NEXT:   loop.for %i in 5 {
// CHECK-NEXT:     %maximum, %position = loop.reduce %k in 8 with argmax {
// CHECK:          loop.store %position, %out[%i] : memref<5xi64>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @position_alone(%x: tensor<5x8xf32>, %n: tensor<5x8xi64>) -> tensor<5xi64> {
  %v, %at = prim.reduce argmax(%x, %n) dims [1]
      : (tensor<5x8xf32>, tensor<5x8xi64>) -> (tensor<5xf32>, tensor<5xi64>)
  func.return %at : tensor<5xi64>
}

// A reduction of one element is that element ...
// CHECK:      loop.kernel @alone(%x: memref<5x1xf32>) -> (%out: memref<5xf32>) {
// CHECK-NEXT:   loop.for %i in 5 {
// CHECK-NEXT:     %0 = loop.load %x[%i, 0] : memref<5x1xf32>
// CHECK-NEXT:     loop.store %0, %out[%i] : memref<5xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @max_of_one(%x: tensor<5x1xf32>) -> tensor<5xf32> {
  %alone = prim.reduce max(%x) dims [1] : (tensor<5x1xf32>) -> tensor<5xf32>
  func.return %alone : tensor<5xf32>
}

// ... but the sum of -0 is 0.
// CHECK:      loop.kernel @of_one(%x: memref<5x1xf32>) -> (%out: memref<5xf32>) {
// CHECK-NEXT:   loop.for %i in 5 {
// CHECK-NEXT:     %sum = loop.reduce %k in 1 with add {
func.func @sum_of_one(%x: tensor<5x1xf32>) -> tensor<5xf32> {
  %of_one = prim.reduce add(%x) dims [1] : (tensor<5x1xf32>) -> tensor<5xf32>
  func.return %of_one : tensor<5xf32>
}

// Two kernels never have the same name.
// CHECK:      func.func @twice(%x: memref<5xf32>) -> (memref<5xf32>, memref<5xf32>) {
// CHECK-NEXT:   %0 = memref.alloc() : memref<5xf32>
// CHECK-NEXT:   loop.launch @kernel(%x) -> (%0) : (memref<5xf32>) -> (memref<5xf32>)
// CHECK-NEXT:   %kernel = memref.alloc() : memref<5xf32>
// CHECK-NEXT:   loop.launch @kernel_1(%x) -> (%kernel) : (memref<5xf32>) -> (memref<5xf32>)
// CHECK-NEXT:   func.return %0, %kernel : memref<5xf32>, memref<5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @kernel(%x: memref<5xf32>) -> (%out: memref<5xf32>) {
// CHECK-NEXT:   loop.for %i in 5 {
// CHECK-NEXT:     %0 = loop.load %x[%i] : memref<5xf32>
// CHECK-NEXT:     %1 = arith.negf %0 : f32
// CHECK-NEXT:     loop.store %1, %out[%i] : memref<5xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @kernel_1(%x: memref<5xf32>) -> (%out: memref<5xf32>) {
// CHECK-NEXT:   loop.for %i in 5 {
// CHECK-NEXT:     %0 = loop.load %x[%i] : memref<5xf32>
// CHECK-NEXT:     %1 = math.exp %0 : f32
// CHECK-NEXT:     loop.store %1, %out[%i] : memref<5xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @twice(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %0 = prim.elementwise neg(%x) : tensor<5xf32>
  %kernel = prim.elementwise exp(%x) : tensor<5xf32>
  func.return %0, %kernel : tensor<5xf32>, tensor<5xf32>
}

// A function need not have inputs.
// CHECK:      func.func @constant() -> memref<3xf32> {
// CHECK-NEXT:   %c = memref.alloc() : memref<3xf32>
// CHECK-NEXT:   loop.launch @c() -> (%c) : () -> (memref<3xf32>)
// CHECK-NEXT:   func.return %c : memref<3xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @c() -> (%out: memref<3xf32>) {
// CHECK-NEXT:   loop.for %i in 3 {
// CHECK-NEXT:     %0 = arith.constant 2.000000e+00 : f32
// CHECK-NEXT:     loop.store %0, %out[%i] : memref<3xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @constant() -> tensor<3xf32> {
  %c = prim.constant 2.000000e+00 : f32 -> tensor<3xf32>
  func.return %c : tensor<3xf32>
}

// -----

// Subscripts from data are checked; positions are values of the axes.
// CHECK:      loop.kernel @e(%ids: memref<4xi64>, %w: memref<100x8xf32>) -> (%out: memref<4x8xf32>) {
// CHECK-NEXT:   loop.for %i in 4, %j in 8 {
// CHECK-NEXT:     %0 = loop.load %ids[%i] : memref<4xi64>
// CHECK-NEXT:     %1 = loop.to_index %0 below 100 : i64
// CHECK-NEXT:     %2 = loop.load %w[%1, %j] : memref<100x8xf32>
// CHECK-NEXT:     loop.store %2, %out[%i, %j] : memref<4x8xf32>
// CHECK:      loop.kernel @v(%e: memref<4x8xf32>) -> (%out: memref<4xf32>, %out_1: memref<4xi64>) {
// CHECK-NEXT:   loop.for %i in 4 {
// CHECK-NEXT:     %maximum, %position = loop.reduce %k in 8 with argmax {
// CHECK-NEXT:       %0 = loop.load %e[%i, %k] : memref<4x8xf32>
// CHECK-NEXT:       %1 = loop.index [%k] : i64
// CHECK-NEXT:       loop.yield %0, %1 : f32, i64
// CHECK-NEXT:     } : f32, i64
// CHECK-NEXT:     loop.store %maximum, %out[%i] : memref<4xf32>
// CHECK-NEXT:     loop.store %position, %out_1[%i] : memref<4xi64>
func.func @gather(%w: tensor<100x8xf32>, %ids: tensor<4xi64>) -> (tensor<4xf32>, tensor<4xi64>) {
  %rows = prim.index_map %ids by affine_map<(d0, d1) -> (d0)> : tensor<4xi64> -> tensor<4x8xi64>
  %e = prim.gather %w[%rows] by affine_map<(d0, d1)[s0] -> (s0, d1)>
      : (tensor<100x8xf32>, tensor<4x8xi64>) -> tensor<4x8xf32>
  %i = prim.iota affine_map<(d0, d1) -> (d1)> : tensor<4x8xi64>
  %v, %p = prim.reduce argmax(%e, %i) dims [1]
      : (tensor<4x8xf32>, tensor<4x8xi64>) -> (tensor<4xf32>, tensor<4xi64>)
  func.return %v, %p : tensor<4xf32>, tensor<4xi64>
}

// -----

// A running sum takes its axis in order; the other axes are free.
// CHECK:      loop.for %i in 4 {
// CHECK-NEXT:   loop.scan %k in 8 {
// CHECK-NEXT:     %0 = loop.load %x[%k, %i] : memref<8x4xf32>
// CHECK-NEXT:     %sum = loop.prefix %0 with add : f32
// CHECK-NEXT:     loop.store %sum, %out[%k, %i] : memref<8x4xf32>
func.func @scan(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %s = prim.scan add(%x) dim 0 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  func.return %s : tensor<8x4xf32>
}

// -----

// Padding with zeros is a masked load, any other value is selected, and so is one of two sources.
// CHECK:      loop.kernel @sum
// CHECK:          %0 = loop.load %x[%i - 1] where [%i - 1, 4 - %i] : memref<4xf32>
// CHECK-NEXT:     %1 = loop.load %x[%i - 1] where [%i - 1, 4 - %i] : memref<4xf32>
// CHECK-NEXT:     %2 = arith.constant 1.000000e+00 : f32
// CHECK-NEXT:     %3 = loop.predicate [%i - 1, 4 - %i] : i1
// CHECK-NEXT:     %4 = arith.select %3, %1, %2 : f32
// CHECK-NEXT:     %5 = arith.addf %0, %4 : f32
// CHECK:      loop.kernel @product
// CHECK:          %1 = loop.load %x[%i - 2] where [%i - 2] : memref<4xf32>
// CHECK-NEXT:     %2 = loop.load %x[%i] where [1 - %i] : memref<4xf32>
// CHECK-NEXT:     %3 = loop.predicate [1 - %i] : i1
// CHECK-NEXT:     %4 = arith.select %3, %2, %1 : f32
func.func @padded(%x: tensor<4xf32>) -> tensor<6xf32> {
  %zeros = prim.index_map %x by affine_map<(d0) -> (d0 - 1)>
      where affine_map<(d0) -> (d0 - 1, d0 * -1 + 4)> else 0.0 : f32 : tensor<4xf32> -> tensor<6xf32>
  %ones = prim.index_map %x by affine_map<(d0) -> (d0 - 1)>
      where affine_map<(d0) -> (d0 - 1, d0 * -1 + 4)> else 1.0 : f32 : tensor<4xf32> -> tensor<6xf32>
  %sum = prim.elementwise add(%zeros, %ones) : tensor<6xf32>
  %joined = prim.index_map %x by affine_map<(d0) -> (d0)> where affine_map<(d0) -> (d0 * -1 + 1)>,
      %x by affine_map<(d0) -> (d0 - 2)> where affine_map<(d0) -> (d0 - 2)> else 0.0 : f32
      : (tensor<4xf32>, tensor<4xf32>) -> tensor<6xf32>
  %product = prim.elementwise mul(%sum, %joined) : tensor<6xf32>
  func.return %product : tensor<6xf32>
}

// -----

// Predicates are values; half types are computed in f32. A cast to f32 gets no kernel.
// CHECK:      func.func @causal
// CHECK:        loop.launch @s(%x) -> (%s) : (memref<4x4xf16>) -> (memref<4x4xf32>)
// CHECK:      %0 = loop.predicate [%i - %j] : i1
// CHECK-NEXT: %1 = loop.load %x[%i, %j] : memref<4x4xf16>
// CHECK-NEXT: %2 = arith.extf %1 : f16 to f32
// CHECK-NEXT: %3 = arith.constant 0xff800000 : f32
// CHECK-NEXT: %4 = arith.select %0, %2, %3 : f32
func.func @causal(%x: tensor<4x4xf16>) -> tensor<4x4xf32> {
  %c = prim.predicate affine_map<(d0, d1) -> (d0 - d1)> : tensor<4x4xi1>
  %wide = prim.elementwise cast(%x) : (tensor<4x4xf16>) -> tensor<4x4xf32>
  %none = prim.constant 0xFF800000 : f32 -> tensor<4x4xf32>
  %s = prim.elementwise select(%c, %wide, %none)
      : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %s : tensor<4x4xf32>
}

// -----

// Readers of a widened tensor load the half type, through views on both sides of the cast. Padding
// with zeros is still a mask of the load.
// CHECK:      func.func @widened(%x: memref<3x5xbf16>, %w: memref<5x7xbf16>) -> memref<4x7xf32> {
// CHECK-NEXT:   %product = memref.alloc() : memref<4x7x5xf32>
// CHECK-NEXT:   loop.launch @product(%x, %w)
// CHECK:      loop.kernel @product
// CHECK:          %0 = loop.load %x[%i - 1, %l] where [%i - 1] : memref<3x5xbf16>
// CHECK-NEXT:     %1 = arith.extf %0 : bf16 to f32
// CHECK-NEXT:     %2 = loop.load %w[%l, %j] : memref<5x7xbf16>
// CHECK-NEXT:     %3 = arith.extf %2 : bf16 to f32
// CHECK-NEXT:     %4 = arith.mulf %1, %3 : f32
func.func @widened(%x: tensor<3x5xbf16>, %w: tensor<5x7xbf16>) -> tensor<4x7xf32> {
  %t = prim.index_map %w by affine_map<(d0, d1) -> (d1, d0)> : tensor<5x7xbf16> -> tensor<7x5xbf16>
  %a = prim.elementwise cast(%x) : (tensor<3x5xbf16>) -> tensor<3x5xf32>
  %b = prim.elementwise cast(%t) : (tensor<7x5xbf16>) -> tensor<7x5xf32>
  %padded = prim.index_map %a by affine_map<(d0, d1) -> (d0 - 1, d1)>
      where affine_map<(d0, d1) -> (d0 - 1)> else 0.0 : f32 : tensor<3x5xf32> -> tensor<4x5xf32>
  %l = prim.index_map %padded by affine_map<(d0, d1, d2) -> (d0, d2)>
      : tensor<4x5xf32> -> tensor<4x7x5xf32>
  %r = prim.index_map %b by affine_map<(d0, d1, d2) -> (d1, d2)>
      : tensor<7x5xf32> -> tensor<4x7x5xf32>
  %product = prim.elementwise mul(%l, %r) : tensor<4x7x5xf32>
  %sum = prim.reduce add(%product) dims [2] : (tensor<4x7x5xf32>) -> tensor<4x7xf32>
  func.return %sum : tensor<4x7xf32>
}

// -----

// A widened tensor is written only if the function returns it. Other casts get kernels.
// CHECK:      loop.kernel @narrow(%x: memref<7xf32>) -> (%out: memref<7xf16>) {
// CHECK:          %1 = arith.truncf %0 : f32 to f16
// CHECK-NEXT:     loop.store %1, %out[%i] : memref<7xf16>
// CHECK:      loop.kernel @negated(%narrow: memref<7xf16>) -> (%out: memref<7xf32>) {
// CHECK:          %1 = arith.extf %0 : f16 to f32
// CHECK-NEXT:     %2 = arith.negf %1 : f32
// CHECK:      loop.kernel @doubled(%x: memref<7xf32>) -> (%out: memref<7xf64>) {
// CHECK:      loop.kernel @wide(%narrow: memref<7xf16>) -> (%out: memref<7xf32>) {
// CHECK:          %1 = arith.extf %0 : f16 to f32
// CHECK-NEXT:     loop.store %1, %out[%i] : memref<7xf32>
func.func @rounded(%x: tensor<7xf32>) -> (tensor<7xf32>, tensor<7xf32>, tensor<7xf64>) {
  %narrow = prim.elementwise cast(%x) : (tensor<7xf32>) -> tensor<7xf16>
  %wide = prim.elementwise cast(%narrow) : (tensor<7xf16>) -> tensor<7xf32>
  %negated = prim.elementwise neg(%wide) : tensor<7xf32>
  %doubled = prim.elementwise cast(%x) : (tensor<7xf32>) -> tensor<7xf64>
  func.return %wide, %negated, %doubled : tensor<7xf32>, tensor<7xf32>, tensor<7xf64>
}

// -----

// A half type is cast from and to integers by way of f32; arith has no unsigned constants.
// CHECK:      %1 = arith.extf %0 : f16 to f32
// CHECK-NEXT: %2 = arith.fptosi %1 : f32 to i64
// CHECK:      %1 = arith.extsi %0 : i8 to i32
// CHECK-NEXT: %2 = arith.sitofp %1 : i32 to f32
// CHECK-NEXT: %3 = arith.truncf %2 : f32 to bf16
// CHECK:      %1 = arith.constant 255 : i32
// CHECK-NEXT: %2 = arith.trunci %1 : i32 to ui8
func.func @casts(%h: tensor<4xf16>, %n: tensor<4xi8>, %u: tensor<4xui8>)
    -> (tensor<4xi64>, tensor<4xbf16>, tensor<5xui8>) {
  %l = prim.elementwise cast(%h) : (tensor<4xf16>) -> tensor<4xi64>
  %b = prim.elementwise cast(%n) : (tensor<4xi8>) -> tensor<4xbf16>
  %p = prim.index_map %u by affine_map<(d0) -> (d0)> where affine_map<(d0) -> (d0 * -1 + 3)>
      else 255 : ui8 : tensor<4xui8> -> tensor<5xui8>
  func.return %l, %b, %p : tensor<4xi64>, tensor<4xbf16>, tensor<5xui8>
}

// -----

// A call passes buffers: a view is copied for it.
// CHECK:      func.func @calls(%x: memref<4x4xf32>) -> memref<4x4xf32> {
// CHECK-NEXT:   %t = memref.alloc() : memref<4x4xf32>
// CHECK-NEXT:   loop.launch @t(%x) -> (%t) : (memref<4x4xf32>) -> (memref<4x4xf32>)
// CHECK-NEXT:   %y = func.call @layer(%t) : (memref<4x4xf32>) -> memref<4x4xf32>
// CHECK-NEXT:   func.return %y : memref<4x4xf32>
func.func @calls(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %t = prim.index_map %x by affine_map<(d0, d1) -> (d1, d0)> : tensor<4x4xf32> -> tensor<4x4xf32>
  %y = func.call @layer(%t) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}
func.func private @layer(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = prim.elementwise exp(%x) : tensor<4x4xf32>
  func.return %e : tensor<4x4xf32>
}
