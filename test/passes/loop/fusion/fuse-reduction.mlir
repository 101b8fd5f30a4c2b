// RUN: opt-tool %s -p lift,inline-elementwise,fuse-epilogue,fuse-reduction --check=each | filecheck %s
// RUN: opt-tool %s -p lift,inline-elementwise,fuse-epilogue,fuse-reduction --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// Each row is summed by the kernel that divides it.
// CHECK:      func.func @normalized(%x: memref<32x2048xf32>) -> memref<32x2048xf32> {
// CHECK-NEXT:   %div = memref.alloc() : memref<32x2048xf32>
// CHECK-NEXT:   loop.launch @div_sum(%x) -> (%div) : (memref<32x2048xf32>) -> (memref<32x2048xf32>)
// CHECK-NEXT:   func.return %div : memref<32x2048xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @div_sum(%x: memref<32x2048xf32>) -> (%out: memref<32x2048xf32>) {
// CHECK-NEXT:   loop.for %i in 32 {
// CHECK-NEXT:     %sum = loop.reduce %k in 2048 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<32x2048xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.for %j in 2048 {
// CHECK-NEXT:       %1 = loop.load %x[%i, %j] : memref<32x2048xf32>
// CHECK-NEXT:       %2 = arith.divf %1, %sum : f32
// CHECK-NEXT:       loop.store %2, %out[%i, %j] : memref<32x2048xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @normalized(%x: tensor<32x2048xf32>) -> tensor<32x2048xf32> {
  %sum = prim.reduce add(%x) dims [1] : (tensor<32x2048xf32>) -> tensor<32xf32>
  %b = prim.index_map %sum by affine_map<(i, j) -> (i)> : tensor<32xf32> -> tensor<32x2048xf32>
  %div = prim.elementwise div(%x, %b) : tensor<32x2048xf32>
  func.return %div : tensor<32x2048xf32>
}

// Softmax: the maximum goes into the sum, and both into the division.
// CHECK:      func.func @softmax(%x: memref<17x100xf32>) -> memref<17x100xf32> {
// CHECK-NEXT:   %softmax = memref.alloc() : memref<17x100xf32>
// CHECK-NEXT:   loop.launch @softmax_e_d_sum_max(%x) -> (%softmax) : (memref<17x100xf32>) -> (memref<17x100xf32>)
// CHECK-NEXT:   func.return %softmax : memref<17x100xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @softmax_e_d_sum_max(%x: memref<17x100xf32>) -> (%out: memref<17x100xf32>) {
// CHECK-NEXT:   loop.for %i in 17 {
// CHECK-NEXT:     %maximum = loop.reduce %k in 100 with max {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<17x100xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %sum = loop.reduce %k_1 in 100 with add {
// CHECK-NEXT:       %1 = loop.load %x[%i, %k_1] : memref<17x100xf32>
// CHECK-NEXT:       %2 = arith.subf %1, %maximum : f32
// CHECK-NEXT:       %3 = math.exp %2 : f32
// CHECK-NEXT:       loop.yield %3 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.for %j in 100 {
// CHECK-NEXT:       %4 = loop.load %x[%i, %j] : memref<17x100xf32>
// CHECK-NEXT:       %5 = arith.subf %4, %maximum : f32
// CHECK-NEXT:       %6 = math.exp %5 : f32
// CHECK-NEXT:       %7 = arith.divf %6, %sum : f32
// CHECK-NEXT:       loop.store %7, %out[%i, %j] : memref<17x100xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @softmax(%x: tensor<17x100xf32>) -> tensor<17x100xf32> {
  %max = prim.reduce max(%x) dims [1] : (tensor<17x100xf32>) -> tensor<17xf32>
  %mb = prim.index_map %max by affine_map<(i, j) -> (i)> : tensor<17xf32> -> tensor<17x100xf32>
  %d = prim.elementwise sub(%x, %mb) : tensor<17x100xf32>
  %e = prim.elementwise exp(%d) : tensor<17x100xf32>
  %sum = prim.reduce add(%e) dims [1] : (tensor<17x100xf32>) -> tensor<17xf32>
  %sb = prim.index_map %sum by affine_map<(i, j) -> (i)> : tensor<17xf32> -> tensor<17x100xf32>
  %softmax = prim.elementwise div(%e, %sb) : tensor<17x100xf32>
  func.return %softmax : tensor<17x100xf32>
}

// Over columns: the columns' axis becomes the outer one.
// CHECK:      func.func @columns(%x: memref<100x17xf32>) -> memref<100x17xf32> {
// CHECK-NEXT:   %by_columns = memref.alloc() : memref<100x17xf32>
// CHECK-NEXT:   loop.launch @by_columns_sum(%x) -> (%by_columns) : (memref<100x17xf32>) -> (memref<100x17xf32>)
// CHECK-NEXT:   func.return %by_columns : memref<100x17xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @by_columns_sum(%x: memref<100x17xf32>) -> (%out: memref<100x17xf32>) {
// CHECK-NEXT:   loop.for %j in 17 {
// CHECK-NEXT:     %sum = loop.reduce %k in 100 with add {
// CHECK-NEXT:       %0 = loop.load %x[%k, %j] : memref<100x17xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.for %i in 100 {
// CHECK-NEXT:       %1 = loop.load %x[%i, %j] : memref<100x17xf32>
// CHECK-NEXT:       %2 = arith.divf %1, %sum : f32
// CHECK-NEXT:       loop.store %2, %out[%i, %j] : memref<100x17xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @columns(%x: tensor<100x17xf32>) -> tensor<100x17xf32> {
  %sum = prim.reduce add(%x) dims [0] : (tensor<100x17xf32>) -> tensor<17xf32>
  %b = prim.index_map %sum by affine_map<(i, j) -> (j)> : tensor<17xf32> -> tensor<100x17xf32>
  %by_columns = prim.elementwise div(%x, %b) : tensor<100x17xf32>
  func.return %by_columns : tensor<100x17xf32>
}

// Softmax over columns: both reductions, each after the axes are in order.
// CHECK:      func.func @softmax_0(%x: memref<50x7xf32>) -> memref<50x7xf32> {
// CHECK-NEXT:   %softmax_columns = memref.alloc() : memref<50x7xf32>
// CHECK-NEXT:   loop.launch @softmax_columns_e_d_sum_max(%x) -> (%softmax_columns) : (memref<50x7xf32>) -> (memref<50x7xf32>)
// CHECK-NEXT:   func.return %softmax_columns : memref<50x7xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @softmax_columns_e_d_sum_max(%x: memref<50x7xf32>) -> (%out: memref<50x7xf32>) {
// CHECK-NEXT:   loop.for %j in 7 {
// CHECK-NEXT:     %maximum = loop.reduce %k in 50 with max {
// CHECK-NEXT:       %0 = loop.load %x[%k, %j] : memref<50x7xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %sum = loop.reduce %k_1 in 50 with add {
// CHECK-NEXT:       %1 = loop.load %x[%k_1, %j] : memref<50x7xf32>
// CHECK-NEXT:       %2 = arith.subf %1, %maximum : f32
// CHECK-NEXT:       %3 = math.exp %2 : f32
// CHECK-NEXT:       loop.yield %3 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.for %i in 50 {
// CHECK-NEXT:       %4 = loop.load %x[%i, %j] : memref<50x7xf32>
// CHECK-NEXT:       %5 = arith.subf %4, %maximum : f32
// CHECK-NEXT:       %6 = math.exp %5 : f32
// CHECK-NEXT:       %7 = arith.divf %6, %sum : f32
// CHECK-NEXT:       loop.store %7, %out[%i, %j] : memref<50x7xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @softmax_0(%x: tensor<50x7xf32>) -> tensor<50x7xf32> {
  %max = prim.reduce max(%x) dims [0] : (tensor<50x7xf32>) -> tensor<7xf32>
  %mb = prim.index_map %max by affine_map<(i, j) -> (j)> : tensor<7xf32> -> tensor<50x7xf32>
  %d = prim.elementwise sub(%x, %mb) : tensor<50x7xf32>
  %e = prim.elementwise exp(%d) : tensor<50x7xf32>
  %sum = prim.reduce add(%e) dims [0] : (tensor<50x7xf32>) -> tensor<7xf32>
  %sb = prim.index_map %sum by affine_map<(i, j) -> (j)> : tensor<7xf32> -> tensor<50x7xf32>
  %softmax_columns = prim.elementwise div(%e, %sb) : tensor<50x7xf32>
  func.return %softmax_columns : tensor<50x7xf32>
}

// The middle of three axes moves inside.
// CHECK:      func.func @middle(%x: memref<3x50x7xf32>) -> memref<3x50x7xf32> {
// CHECK-NEXT:   %by_middle = memref.alloc() : memref<3x50x7xf32>
// CHECK-NEXT:   loop.launch @by_middle_sum(%x) -> (%by_middle) : (memref<3x50x7xf32>) -> (memref<3x50x7xf32>)
// CHECK-NEXT:   func.return %by_middle : memref<3x50x7xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @by_middle_sum(%x: memref<3x50x7xf32>) -> (%out: memref<3x50x7xf32>) {
// CHECK-NEXT:   loop.for %i in 3, %l in 7 {
// CHECK-NEXT:     %sum = loop.reduce %k in 50 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k, %l] : memref<3x50x7xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.for %j in 50 {
// CHECK-NEXT:       %1 = loop.load %x[%i, %j, %l] : memref<3x50x7xf32>
// CHECK-NEXT:       %2 = arith.divf %1, %sum : f32
// CHECK-NEXT:       loop.store %2, %out[%i, %j, %l] : memref<3x50x7xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @middle(%x: tensor<3x50x7xf32>) -> tensor<3x50x7xf32> {
  %sum = prim.reduce add(%x) dims [1] : (tensor<3x50x7xf32>) -> tensor<3x7xf32>
  %b = prim.index_map %sum by affine_map<(i, j, k) -> (i, k)> : tensor<3x7xf32> -> tensor<3x50x7xf32>
  %by_middle = prim.elementwise div(%x, %b) : tensor<3x50x7xf32>
  func.return %by_middle : tensor<3x50x7xf32>
}

// A sum of all elements: the kernel has no free axis left outside.
// CHECK:      func.func @all(%x: memref<6x7xf32>) -> memref<6x7xf32> {
// CHECK-NEXT:   %by_all = memref.alloc() : memref<6x7xf32>
// CHECK-NEXT:   loop.launch @by_all_sum(%x) -> (%by_all) : (memref<6x7xf32>) -> (memref<6x7xf32>)
// CHECK-NEXT:   func.return %by_all : memref<6x7xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @by_all_sum(%x: memref<6x7xf32>) -> (%out: memref<6x7xf32>) {
// CHECK-NEXT:   %sum = loop.reduce %k in 42 with add {
// CHECK-NEXT:     %0 = loop.load %x[%k floordiv 7, %k mod 7] : memref<6x7xf32>
// CHECK-NEXT:     loop.yield %0 : f32
// CHECK-NEXT:   } : f32
// CHECK-NEXT:   loop.for %i in 6, %j in 7 {
// CHECK-NEXT:     %1 = loop.load %x[%i, %j] : memref<6x7xf32>
// CHECK-NEXT:     %2 = arith.divf %1, %sum : f32
// CHECK-NEXT:     loop.store %2, %out[%i, %j] : memref<6x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @all(%x: tensor<6x7xf32>) -> tensor<6x7xf32> {
  %sum = prim.reduce add(%x) dims [0, 1] : (tensor<6x7xf32>) -> tensor<f32>
  %b = prim.index_map %sum by affine_map<(i, j) -> ()> : tensor<f32> -> tensor<6x7xf32>
  %by_all = prim.elementwise div(%x, %b) : tensor<6x7xf32>
  func.return %by_all : tensor<6x7xf32>
}

// The reader sums products along k: each of its elements would sum the row again.
// CHECK:      func.func @matmul(%x: memref<8x16xf32>, %w: memref<16x9xf32>) -> memref<8x9xf32> {
// CHECK-NEXT:   %r = memref.alloc() : memref<8xf32>
// CHECK-NEXT:   loop.launch @r(%x) -> (%r) : (memref<8x16xf32>) -> (memref<8xf32>)
// CHECK-NEXT:   %y = memref.alloc() : memref<8x9xf32>
// CHECK-NEXT:   loop.launch @y_p_n(%w, %x, %r) -> (%y) : (memref<16x9xf32>, memref<8x16xf32>, memref<8xf32>) -> (memref<8x9xf32>)
// CHECK-NEXT:   func.return %y : memref<8x9xf32>
// CHECK-NEXT: }
// REMARK: --- f:003_fuse_reduction skipped at r: y_p_n reduces along the axes that would move inside
func.func @matmul(%x: tensor<8x16xf32>, %w: tensor<16x9xf32>) -> tensor<8x9xf32> {
  %r = prim.reduce add(%x) dims [1] : (tensor<8x16xf32>) -> tensor<8xf32>
  %rb = prim.index_map %r by affine_map<(i, k, j) -> (i)> : tensor<8xf32> -> tensor<8x16x9xf32>
  %xb = prim.index_map %x by affine_map<(i, k, j) -> (i, k)> : tensor<8x16xf32> -> tensor<8x16x9xf32>
  %wb = prim.index_map %w by affine_map<(i, k, j) -> (k, j)> : tensor<16x9xf32> -> tensor<8x16x9xf32>
  %n = prim.elementwise div(%xb, %rb) : tensor<8x16x9xf32>
  %p = prim.elementwise mul(%n, %wb) : tensor<8x16x9xf32>
  %y = prim.reduce add(%p) dims [1] : (tensor<8x16x9xf32>) -> tensor<8x9xf32>
  func.return %y : tensor<8x9xf32>
}

// Sums that the reader multiplies with each other, two by two.
// CHECK:      func.func @outer_product(%x: memref<5x16xf32>) -> memref<5x5xf32> {
// CHECK-NEXT:   %s = memref.alloc() : memref<5xf32>
// CHECK-NEXT:   loop.launch @s(%x) -> (%s) : (memref<5x16xf32>) -> (memref<5xf32>)
// CHECK-NEXT:   %outer = memref.alloc() : memref<5x5xf32>
// CHECK-NEXT:   loop.launch @outer(%s) -> (%outer) : (memref<5xf32>) -> (memref<5x5xf32>)
// CHECK-NEXT:   func.return %outer : memref<5x5xf32>
// CHECK-NEXT: }
// REMARK: --- f:003_fuse_reduction skipped at s: outer reads it in more than one way
func.func @outer_product(%x: tensor<5x16xf32>) -> tensor<5x5xf32> {
  %s = prim.reduce add(%x) dims [1] : (tensor<5x16xf32>) -> tensor<5xf32>
  %a = prim.index_map %s by affine_map<(i, j) -> (i)> : tensor<5xf32> -> tensor<5x5xf32>
  %b = prim.index_map %s by affine_map<(i, j) -> (j)> : tensor<5xf32> -> tensor<5x5xf32>
  %outer = prim.elementwise mul(%a, %b) : tensor<5x5xf32>
  func.return %outer : tensor<5x5xf32>
}

// Every sum is read at two places: summing the row again takes less time than a launch.
// CHECK:      func.func @repeated(%x: memref<5x16xf32>, %y: memref<10xf32>) -> memref<10xf32> {
// CHECK-NEXT:   %twice = memref.alloc() : memref<10xf32>
// CHECK-NEXT:   loop.launch @twice_u(%y, %x) -> (%twice) : (memref<10xf32>, memref<5x16xf32>) -> (memref<10xf32>)
// CHECK-NEXT:   func.return %twice : memref<10xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @twice_u(%y: memref<10xf32>, %x: memref<5x16xf32>) -> (%out: memref<10xf32>) {
// CHECK-NEXT:   loop.for %i in 10 {
// CHECK-NEXT:     %sum = loop.reduce %k in 16 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i floordiv 2, %k] : memref<5x16xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %1 = loop.load %y[%i] : memref<10xf32>
// CHECK-NEXT:     %2 = arith.mulf %sum, %1 : f32
// CHECK-NEXT:     loop.store %2, %out[%i] : memref<10xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @repeated(%x: tensor<5x16xf32>, %y: tensor<10xf32>) -> tensor<10xf32> {
  %u = prim.reduce add(%x) dims [1] : (tensor<5x16xf32>) -> tensor<5xf32>
  %ub = prim.index_map %u by affine_map<(i) -> (i floordiv 2)> : tensor<5xf32> -> tensor<10xf32>
  %twice = prim.elementwise mul(%ub, %y) : tensor<10xf32>
  func.return %twice : tensor<10xf32>
}

// Sums that are summed.
// CHECK:      func.func @sum_of_sums(%x: memref<5x16xf32>, %y: memref<5xf32>) -> memref<f32> {
// CHECK-NEXT:   %v = memref.alloc() : memref<5xf32>
// CHECK-NEXT:   loop.launch @v(%x) -> (%v) : (memref<5x16xf32>) -> (memref<5xf32>)
// CHECK-NEXT:   %dot = memref.alloc() : memref<f32>
// CHECK-NEXT:   loop.launch @dot_q(%v, %y) -> (%dot) : (memref<5xf32>, memref<5xf32>) -> (memref<f32>)
// CHECK-NEXT:   func.return %dot : memref<f32>
// CHECK-NEXT: }
// REMARK: --- f:003_fuse_reduction skipped at v: dot_q reads it along axes that are not its outermost free axes
func.func @sum_of_sums(%x: tensor<5x16xf32>, %y: tensor<5xf32>) -> tensor<f32> {
  %v = prim.reduce add(%x) dims [1] : (tensor<5x16xf32>) -> tensor<5xf32>
  %q = prim.elementwise mul(%v, %y) : tensor<5xf32>
  %dot = prim.reduce add(%q) dims [0] : (tensor<5xf32>) -> tensor<f32>
  func.return %dot : tensor<f32>
}

// REMARK-NOT: ---
