// RUN: opt-tool %s -p lift,merge-siblings,merge-loops --check=each | filecheck %s
// RUN: opt-tool %s -p lift,merge-siblings --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// REMARK: --- f:007_merge_siblings skipped at five_a_b_c_d: it shares 36 B with five_e, but 5 outputs keep too many loads in flight

// Sums and maxima of the same rows: the rows are read by one kernel.
// CHECK:      func.func @rows(%x: memref<5x33xf32>) -> (memref<5xf32>, memref<5xf32>) {
// CHECK-NEXT:   %sum = memref.alloc() : memref<5xf32>
// CHECK-NEXT:   %max = memref.alloc() : memref<5xf32>
// CHECK-NEXT:   loop.launch @sum_max(%x) -> (%sum, %max) : (memref<5x33xf32>) -> (memref<5xf32>, memref<5xf32>)
// CHECK-NEXT:   func.return %sum, %max : memref<5xf32>, memref<5xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @sum_max(%x: memref<5x33xf32>) -> (%out: memref<5xf32>, %out_1: memref<5xf32>) {
// CHECK-NEXT:   loop.for %i in 5 {
// CHECK-NEXT:     %sum = loop.reduce %k in 33 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<5x33xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %sum, %out[%i] : memref<5xf32>
// CHECK-NEXT:     %maximum = loop.reduce %k_1 in 33 with max {
// CHECK-NEXT:       %1 = loop.load %x[%i, %k_1] : memref<5x33xf32>
// CHECK-NEXT:       loop.yield %1 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %maximum, %out_1[%i] : memref<5xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @rows(%x: tensor<5x33xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %sum = prim.reduce add(%x) dims [1] : (tensor<5x33xf32>) -> tensor<5xf32>
  %max = prim.reduce max(%x) dims [1] : (tensor<5x33xf32>) -> tensor<5xf32>
  func.return %sum, %max : tensor<5xf32>, tensor<5xf32>
}

// A third kernel reads the first result before the second kernel is launched: both go first.
// CHECK:      func.func @in_between(%x: memref<7xf32>) -> (memref<7xf32>, memref<7xf32>) {
// CHECK-NEXT:   %a = memref.alloc() : memref<7xf32>
// CHECK-NEXT:   %c = memref.alloc() : memref<7xf32>
// CHECK-NEXT:   loop.launch @a_c(%x) -> (%a, %c) : (memref<7xf32>) -> (memref<7xf32>, memref<7xf32>)
// CHECK-NEXT:   %b = memref.alloc() : memref<7xf32>
// CHECK-NEXT:   loop.launch @b(%a) -> (%b) : (memref<7xf32>) -> (memref<7xf32>)
// CHECK-NEXT:   func.return %b, %c : memref<7xf32>, memref<7xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @a_c(%x: memref<7xf32>) -> (%out: memref<7xf32>, %out_1: memref<7xf32>) {
// CHECK-NEXT:   loop.for %i in 7 {
// CHECK-NEXT:     %0 = loop.load %x[%i] : memref<7xf32>
// CHECK-NEXT:     %1 = math.exp %0 : f32
// CHECK-NEXT:     loop.store %1, %out[%i] : memref<7xf32>
// CHECK-NEXT:     %2 = math.sqrt %0 : f32
// CHECK-NEXT:     loop.store %2, %out_1[%i] : memref<7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @b(%a: memref<7xf32>) -> (%out: memref<7xf32>) {
// CHECK-NEXT:   loop.for %i in 7 {
// CHECK-NEXT:     %0 = loop.load %a[%i] : memref<7xf32>
// CHECK-NEXT:     %1 = arith.negf %0 : f32
// CHECK-NEXT:     loop.store %1, %out[%i] : memref<7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @in_between(%x: tensor<7xf32>) -> (tensor<7xf32>, tensor<7xf32>) {
  %a = prim.elementwise exp(%x) : tensor<7xf32>
  %b = prim.elementwise neg(%a) : tensor<7xf32>
  %c = prim.elementwise sqrt(%x) : tensor<7xf32>
  func.return %b, %c : tensor<7xf32>, tensor<7xf32>
}

// Different numbers of heads, rotated by one table: the smaller number is masked.
// CHECK:      func.func @heads(%k: memref<2x6xf32>, %q: memref<3x6xf32>, %t: memref<6xf32>) -> (memref<2x6xf32>, memref<3x6xf32>) {
// CHECK-NEXT:   %k_rot = memref.alloc() : memref<2x6xf32>
// CHECK-NEXT:   %q_rot = memref.alloc() : memref<3x6xf32>
// CHECK-NEXT:   loop.launch @q_rot_k(%q, %t, %k) -> (%q_rot, %k_rot) : (memref<3x6xf32>, memref<6xf32>, memref<2x6xf32>) -> (memref<3x6xf32>, memref<2x6xf32>)
// CHECK-NEXT:   func.return %k_rot, %q_rot : memref<2x6xf32>, memref<3x6xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @q_rot_k(%q: memref<3x6xf32>, %t: memref<6xf32>, %k: memref<2x6xf32>) -> (%out: memref<3x6xf32>, %out_1: memref<2x6xf32>) {
// CHECK-NEXT:   loop.for %i in 3, %j in 6 {
// CHECK-NEXT:     %0 = loop.load %q[%i, %j] : memref<3x6xf32>
// CHECK-NEXT:     %1 = loop.load %t[%j] : memref<6xf32>
// CHECK-NEXT:     %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:     loop.store %2, %out[%i, %j] : memref<3x6xf32>
// CHECK-NEXT:     %3 = loop.load %k[%i, %j] where [1 - %i] : memref<2x6xf32>
// CHECK-NEXT:     %4 = arith.mulf %3, %1 : f32
// CHECK-NEXT:     loop.store %4, %out_1[%i, %j] where [1 - %i] : memref<2x6xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @heads(%k: tensor<2x6xf32>, %q: tensor<3x6xf32>, %t: tensor<6xf32>) -> (tensor<2x6xf32>, tensor<3x6xf32>) {
  %tk = prim.index_map %t by affine_map<(h, d) -> (d)> : tensor<6xf32> -> tensor<2x6xf32>
  %tq = prim.index_map %t by affine_map<(h, d) -> (d)> : tensor<6xf32> -> tensor<3x6xf32>
  %k_rot = prim.elementwise mul(%k, %tk) : tensor<2x6xf32>
  %q_rot = prim.elementwise mul(%q, %tq) : tensor<3x6xf32>
  func.return %k_rot, %q_rot : tensor<2x6xf32>, tensor<3x6xf32>
}

// One kernel needs the result of the other.
// CHECK:      func.func @chain(%x: memref<7xf32>) -> memref<7xf32> {
// CHECK-NEXT:   %chain_a = memref.alloc() : memref<7xf32>
// CHECK-NEXT:   loop.launch @chain_a(%x) -> (%chain_a) : (memref<7xf32>) -> (memref<7xf32>)
// CHECK-NEXT:   %chain_b = memref.alloc() : memref<7xf32>
// CHECK-NEXT:   loop.launch @chain_b(%x, %chain_a) -> (%chain_b) : (memref<7xf32>, memref<7xf32>) -> (memref<7xf32>)
// CHECK-NEXT:   func.return %chain_b : memref<7xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @chain_a(%x: memref<7xf32>) -> (%out: memref<7xf32>) {
// CHECK-NEXT:   loop.for %i in 7 {
// CHECK-NEXT:     %0 = loop.load %x[%i] : memref<7xf32>
// CHECK-NEXT:     %1 = math.exp %0 : f32
// CHECK-NEXT:     loop.store %1, %out[%i] : memref<7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @chain_b(%x: memref<7xf32>, %chain_a: memref<7xf32>) -> (%out: memref<7xf32>) {
// CHECK-NEXT:   loop.for %i in 7 {
// CHECK-NEXT:     %0 = loop.load %x[%i] : memref<7xf32>
// CHECK-NEXT:     %1 = loop.load %chain_a[%i] : memref<7xf32>
// CHECK-NEXT:     %2 = arith.addf %0, %1 : f32
// CHECK-NEXT:     loop.store %2, %out[%i] : memref<7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @chain(%x: tensor<7xf32>) -> tensor<7xf32> {
  %chain_a = prim.elementwise exp(%x) : tensor<7xf32>
  %chain_b = prim.elementwise add(%x, %chain_a) : tensor<7xf32>
  func.return %chain_b : tensor<7xf32>
}

// Both read %w, but at different elements.
// CHECK:      func.func @across(%w: memref<7x7xf32>) -> (memref<7x7xf32>, memref<7x7xf32>) {
// CHECK-NEXT:   %across_a = memref.alloc() : memref<7x7xf32>
// CHECK-NEXT:   loop.launch @across_a(%w) -> (%across_a) : (memref<7x7xf32>) -> (memref<7x7xf32>)
// CHECK-NEXT:   %across_b = memref.alloc() : memref<7x7xf32>
// CHECK-NEXT:   loop.launch @across_b(%w) -> (%across_b) : (memref<7x7xf32>) -> (memref<7x7xf32>)
// CHECK-NEXT:   func.return %across_a, %across_b : memref<7x7xf32>, memref<7x7xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @across_a(%w: memref<7x7xf32>) -> (%out: memref<7x7xf32>) {
// CHECK-NEXT:   loop.for %i in 7, %j in 7 {
// CHECK-NEXT:     %0 = loop.load %w[%i, %j] : memref<7x7xf32>
// CHECK-NEXT:     %1 = math.exp %0 : f32
// CHECK-NEXT:     loop.store %1, %out[%i, %j] : memref<7x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @across_b(%w: memref<7x7xf32>) -> (%out: memref<7x7xf32>) {
// CHECK-NEXT:   loop.for %i in 7, %j in 7 {
// CHECK-NEXT:     %0 = loop.load %w[%j, %i] : memref<7x7xf32>
// CHECK-NEXT:     %1 = math.exp %0 : f32
// CHECK-NEXT:     loop.store %1, %out[%i, %j] : memref<7x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @across(%w: tensor<7x7xf32>) -> (tensor<7x7xf32>, tensor<7x7xf32>) {
  %across_a = prim.elementwise exp(%w) : tensor<7x7xf32>
  %wt = prim.index_map %w by affine_map<(i, j) -> (j, i)> : tensor<7x7xf32> -> tensor<7x7xf32>
  %across_b = prim.elementwise exp(%wt) : tensor<7x7xf32>
  func.return %across_a, %across_b : tensor<7x7xf32>, tensor<7x7xf32>
}

// Five functions of one input: four outputs and then another kernel.
// CHECK:      func.func @five(%x: memref<9xf32>) -> (memref<9xf32>, memref<9xf32>, memref<9xf32>, memref<9xf32>, memref<9xf32>) {
// CHECK-NEXT:   %five_a = memref.alloc() : memref<9xf32>
// CHECK-NEXT:   %five_b = memref.alloc() : memref<9xf32>
// CHECK-NEXT:   %five_c = memref.alloc() : memref<9xf32>
// CHECK-NEXT:   %five_d = memref.alloc() : memref<9xf32>
// CHECK-NEXT:   loop.launch @five_a_b_c_d(%x) -> (%five_a, %five_b, %five_c, %five_d) : (memref<9xf32>) -> (memref<9xf32>, memref<9xf32>, memref<9xf32>, memref<9xf32>)
// CHECK-NEXT:   %five_e = memref.alloc() : memref<9xf32>
// CHECK-NEXT:   loop.launch @five_e(%x) -> (%five_e) : (memref<9xf32>) -> (memref<9xf32>)
// CHECK-NEXT:   func.return %five_a, %five_b, %five_c, %five_d, %five_e : memref<9xf32>, memref<9xf32>, memref<9xf32>, memref<9xf32>, memref<9xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @five_a_b_c_d(%x: memref<9xf32>) -> (%out: memref<9xf32>, %out_1: memref<9xf32>, %out_2: memref<9xf32>, %out_3: memref<9xf32>) {
// CHECK-NEXT:   loop.for %i in 9 {
// CHECK-NEXT:     %0 = loop.load %x[%i] : memref<9xf32>
// CHECK-NEXT:     %1 = math.exp %0 : f32
// CHECK-NEXT:     loop.store %1, %out[%i] : memref<9xf32>
// CHECK-NEXT:     %2 = arith.negf %0 : f32
// CHECK-NEXT:     loop.store %2, %out_1[%i] : memref<9xf32>
// CHECK-NEXT:     %3 = math.tanh %0 : f32
// CHECK-NEXT:     loop.store %3, %out_2[%i] : memref<9xf32>
// CHECK-NEXT:     %4 = math.absf %0 : f32
// CHECK-NEXT:     loop.store %4, %out_3[%i] : memref<9xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @five_e(%x: memref<9xf32>) -> (%out: memref<9xf32>) {
// CHECK-NEXT:   loop.for %i in 9 {
// CHECK-NEXT:     %0 = loop.load %x[%i] : memref<9xf32>
// CHECK-NEXT:     %1 = math.sin %0 : f32
// CHECK-NEXT:     loop.store %1, %out[%i] : memref<9xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @five(%x: tensor<9xf32>) -> (tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>) {
  %five_a = prim.elementwise exp(%x) : tensor<9xf32>
  %five_b = prim.elementwise neg(%x) : tensor<9xf32>
  %five_c = prim.elementwise tanh(%x) : tensor<9xf32>
  %five_d = prim.elementwise abs(%x) : tensor<9xf32>
  %five_e = prim.elementwise sin(%x) : tensor<9xf32>
  func.return %five_a, %five_b, %five_c, %five_d, %five_e : tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>
}
