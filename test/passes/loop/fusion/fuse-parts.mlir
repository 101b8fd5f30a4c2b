// RUN: opt-tool %s -p fuse-parts --check=each | filecheck %s
// RUN: opt-tool %s -p fuse-parts --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// REMARK: --- f:016_fuse_parts skipped at turned_product: turned reads elements several times
// REMARK: --- f:016_fuse_parts skipped at quarters_product: quarters would join more than 3 values at once
// REMARK: --- f:016_fuse_parts skipped at shifted_product: shifted reads it under a mask

// One half scales the other.
// CHECK:      func.func @gated(%x: memref<5x9xf32>, %w: memref<9x14xf32>) -> memref<5x7xf32> {
// CHECK-NEXT:   %out = memref.alloc() : memref<5x7xf32>
// CHECK-NEXT:   loop.launch @gate_gated_product(%x, %w) -> (%out) : (memref<5x9xf32>, memref<9x14xf32>) -> (memref<5x7xf32>)
// CHECK-NEXT:   func.return %out : memref<5x7xf32>
// CHECK-NEXT: }
// CHECK-NEXT: loop.kernel @gate_gated_product(%x: memref<5x9xf32>, %w: memref<9x14xf32>) -> (%out: memref<5x7xf32>) {
// CHECK-NEXT:   loop.for %i in 5, %j in 7 {
// CHECK-NEXT:     %sum = loop.reduce %k in 9 with add {
// CHECK-NEXT:       %0 = loop.load %x[%i, %k] : memref<5x9xf32>
// CHECK-NEXT:       %1 = loop.load %w[%k, %j] : memref<9x14xf32>
// CHECK-NEXT:       %2 = arith.mulf %0, %1 : f32
// CHECK-NEXT:       loop.yield %2 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %3 = math.exp %sum : f32
// CHECK-NEXT:     %sum_1 = loop.reduce %k_1 in 9 with add {
// CHECK-NEXT:       %4 = loop.load %x[%i, %k_1] : memref<5x9xf32>
// CHECK-NEXT:       %5 = loop.load %w[%k_1, %j + 7] : memref<9x14xf32>
// CHECK-NEXT:       %6 = arith.mulf %4, %5 : f32
// CHECK-NEXT:       loop.yield %6 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %7 = arith.mulf %3, %sum_1 : f32
// CHECK-NEXT:     %8 = arith.addf %7, %sum : f32
// CHECK-NEXT:     loop.store %8, %out[%i, %j] : memref<5x7xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: }
func.func @gated(%x: memref<5x9xf32>, %w: memref<9x14xf32>) -> memref<5x7xf32> {
  %product = memref.alloc() : memref<5x14xf32>
  loop.launch @gated_product(%x, %w) -> (%product) : (memref<5x9xf32>, memref<9x14xf32>) -> (memref<5x14xf32>)
  %out = memref.alloc() : memref<5x7xf32>
  loop.launch @gate(%product) -> (%out) : (memref<5x14xf32>) -> (memref<5x7xf32>)
  func.return %out : memref<5x7xf32>
}
loop.kernel @gated_product(%x: memref<5x9xf32>, %w: memref<9x14xf32>) -> (%out: memref<5x14xf32>) {
  loop.for %i in 5, %j in 14 {
    %sum = loop.reduce %k in 9 with add {
      %0 = loop.load %x[%i, %k] : memref<5x9xf32>
      %1 = loop.load %w[%k, %j] : memref<9x14xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %sum, %out[%i, %j] : memref<5x14xf32>
  }
}
loop.kernel @gate(%product: memref<5x14xf32>) -> (%out: memref<5x7xf32>) {
  loop.for %i in 5, %j in 7 {
    %0 = loop.load %product[%i, %j] : memref<5x14xf32>
    %1 = math.exp %0 : f32
    %2 = loop.load %product[%i, %j + 7] : memref<5x14xf32>
    %3 = arith.mulf %1, %2 : f32
    %4 = loop.load %product[%i, %j] : memref<5x14xf32>
    %5 = arith.addf %3, %4 : f32
    loop.store %5, %out[%i, %j] : memref<5x7xf32>
  }
}

// Each element is read with another: reducing both would reduce all elements twice.
// CHECK: loop.launch @turned_product(
// CHECK: loop.launch @turned(
func.func @turns(%x: memref<8x9xf32>) -> memref<8xf32> {
  %product = memref.alloc() : memref<8xf32>
  loop.launch @turned_product(%x) -> (%product) : (memref<8x9xf32>) -> (memref<8xf32>)
  %out = memref.alloc() : memref<8xf32>
  loop.launch @turned(%product) -> (%out) : (memref<8xf32>) -> (memref<8xf32>)
  func.return %out : memref<8xf32>
}
loop.kernel @turned_product(%x: memref<8x9xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
    %sum = loop.reduce %k in 9 with add {
      %0 = loop.load %x[%i, %k] : memref<8x9xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %sum, %out[%i] : memref<8xf32>
  }
}
loop.kernel @turned(%product: memref<8xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
    %0 = loop.load %product[%i] : memref<8xf32>
    %1 = loop.load %product[7 - %i] : memref<8xf32>
    %2 = arith.mulf %0, %1 : f32
    loop.store %2, %out[%i] : memref<8xf32>
  }
}

// CHECK: loop.launch @quarters_product(
// CHECK: loop.launch @quarters(
func.func @four(%x: memref<8x9xf32>) -> memref<2xf32> {
  %product = memref.alloc() : memref<8xf32>
  loop.launch @quarters_product(%x) -> (%product) : (memref<8x9xf32>) -> (memref<8xf32>)
  %out = memref.alloc() : memref<2xf32>
  loop.launch @quarters(%product) -> (%out) : (memref<8xf32>) -> (memref<2xf32>)
  func.return %out : memref<2xf32>
}
loop.kernel @quarters_product(%x: memref<8x9xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
    %sum = loop.reduce %k in 9 with add {
      %0 = loop.load %x[%i, %k] : memref<8x9xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %sum, %out[%i] : memref<8xf32>
  }
}
loop.kernel @quarters(%product: memref<8xf32>) -> (%out: memref<2xf32>) {
  loop.for %i in 2 {
    %0 = loop.load %product[%i] : memref<8xf32>
    %1 = loop.load %product[%i + 2] : memref<8xf32>
    %2 = arith.mulf %0, %1 : f32
    %3 = loop.load %product[%i + 4] : memref<8xf32>
    %4 = arith.mulf %2, %3 : f32
    %5 = loop.load %product[%i + 6] : memref<8xf32>
    %6 = arith.mulf %4, %5 : f32
    loop.store %6, %out[%i] : memref<2xf32>
  }
}

// CHECK: loop.launch @shifted_product(
// CHECK: loop.launch @shifted(
func.func @shift(%x: memref<8x9xf32>) -> memref<4xf32> {
  %product = memref.alloc() : memref<8xf32>
  loop.launch @shifted_product(%x) -> (%product) : (memref<8x9xf32>) -> (memref<8xf32>)
  %out = memref.alloc() : memref<4xf32>
  loop.launch @shifted(%product) -> (%out) : (memref<8xf32>) -> (memref<4xf32>)
  func.return %out : memref<4xf32>
}
loop.kernel @shifted_product(%x: memref<8x9xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
    %sum = loop.reduce %k in 9 with add {
      %0 = loop.load %x[%i, %k] : memref<8x9xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %sum, %out[%i] : memref<8xf32>
  }
}
loop.kernel @shifted(%product: memref<8xf32>) -> (%out: memref<4xf32>) {
  loop.for %i in 4 {
    %0 = loop.load %product[%i] : memref<8xf32>
    %1 = loop.load %product[%i + 5] where [2 - %i] : memref<8xf32>
    %2 = arith.mulf %0, %1 : f32
    loop.store %2, %out[%i] : memref<4xf32>
  }
}
