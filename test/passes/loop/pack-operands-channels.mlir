// RUN: opt-tool %s -p pack-operands --check=each | filecheck %s

// 24 channels of float32 are three times the 8 steps of a matrix instruction.
// CHECK-LABEL: loop.kernel @eights(
// CHECK:         %s = loop.reduce %k in 72 with add {
// CHECK-NEXT:      loop.load %x[0, %k mod 24, %k floordiv 24 + %i] : memref<1x24x9xf32>
// CHECK-NEXT:      loop.load %w[%j, %k floordiv 24, %k mod 24] : memref<4x3x24xf32>
func.func public @a(%x: memref<1x24x9xf32>, %w: memref<4x24x3xf32> {torch.name = "w", torch.kind = "parameter"}) -> memref<1x4x7xf32> {
  %y = memref.alloc() : memref<1x4x7xf32>
  loop.launch @eights(%x, %w) -> (%y) : (memref<1x24x9xf32>, memref<4x24x3xf32>) -> (memref<1x4x7xf32>)
  func.return %y : memref<1x4x7xf32>
}
loop.kernel @eights(%x: memref<1x24x9xf32>, %w: memref<4x24x3xf32>) -> (%out: memref<1x4x7xf32>) {
  loop.for %i in 7, %j in 4 {
    %s = loop.reduce %k in 72 with add {
      %0 = loop.load %x[0, %k floordiv 3, %i + %k mod 3] : memref<1x24x9xf32>
      %1 = loop.load %w[%j, %k floordiv 3, %k mod 3] : memref<4x24x3xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[0, %j, %i] : memref<1x4x7xf32>
  }
}

// 24 channels of a half type are padded to 32 by zeros: an instruction does 16 steps.
// CHECK-LABEL: loop.kernel @padded(
// CHECK:         %s = loop.reduce %k in 96 with add {
// CHECK-NEXT:      loop.load %x[0, %k mod 32, %k floordiv 32 + %i] where [23 - %k mod 32] : memref<1x24x9xbf16>
// CHECK:           loop.load %w[%j, %k floordiv 32, %k mod 32] where [23 - %k mod 32] : memref<4x3x24xbf16>
func.func public @b(%x: memref<1x24x9xbf16>, %w: memref<4x24x3xbf16> {torch.name = "w", torch.kind = "parameter"}) -> memref<1x4x7xf32> {
  %y = memref.alloc() : memref<1x4x7xf32>
  loop.launch @padded(%x, %w) -> (%y) : (memref<1x24x9xbf16>, memref<4x24x3xbf16>) -> (memref<1x4x7xf32>)
  func.return %y : memref<1x4x7xf32>
}
loop.kernel @padded(%x: memref<1x24x9xbf16>, %w: memref<4x24x3xbf16>) -> (%out: memref<1x4x7xf32>) {
  loop.for %i in 7, %j in 4 {
    %s = loop.reduce %k in 72 with add {
      %0 = loop.load %x[0, %k floordiv 3, %i + %k mod 3] : memref<1x24x9xbf16>
      %1 = arith.extf %0 : bf16 to f32
      %2 = loop.load %w[%j, %k floordiv 3, %k mod 3] : memref<4x24x3xbf16>
      %3 = arith.extf %2 : bf16 to f32
      %4 = arith.mulf %1, %3 : f32
      loop.yield %4 : f32
    } : f32
    loop.store %s, %out[0, %j, %i] : memref<1x4x7xf32>
  }
}

// A reciprocal of an element beyond the channels would be infinite, and no product with zero. Five
// channels would become eight, which costs more than it saves.
// CHECK-LABEL: loop.kernel @reciprocal(
// CHECK:         loop.load %w[%j, %k floordiv 3, %k mod 3] : memref<4x12x3xf32>
// CHECK-LABEL: loop.kernel @five(
// CHECK:         loop.load %w[%j, %k floordiv 3, %k mod 3] : memref<4x5x3xf32>
func.func public @c(%x: memref<1x12x9xf32>, %w: memref<4x12x3xf32> {torch.name = "w", torch.kind = "parameter"}, %u: memref<1x5x9xf32>, %v: memref<4x5x3xf32> {torch.name = "v", torch.kind = "parameter"}) -> (memref<1x4x7xf32>, memref<1x4x7xf32>) {
  %y = memref.alloc() : memref<1x4x7xf32>
  loop.launch @reciprocal(%x, %w) -> (%y) : (memref<1x12x9xf32>, memref<4x12x3xf32>) -> (memref<1x4x7xf32>)
  %z = memref.alloc() : memref<1x4x7xf32>
  loop.launch @five(%u, %v) -> (%z) : (memref<1x5x9xf32>, memref<4x5x3xf32>) -> (memref<1x4x7xf32>)
  func.return %y, %z : memref<1x4x7xf32>, memref<1x4x7xf32>
}
loop.kernel @reciprocal(%x: memref<1x12x9xf32>, %w: memref<4x12x3xf32>) -> (%out: memref<1x4x7xf32>) {
  loop.for %i in 7, %j in 4 {
    %one = arith.constant 1.0 : f32
    %s = loop.reduce %k in 36 with add {
      %0 = loop.load %x[0, %k floordiv 3, %i + %k mod 3] : memref<1x12x9xf32>
      %1 = arith.divf %one, %0 : f32
      %2 = loop.load %w[%j, %k floordiv 3, %k mod 3] : memref<4x12x3xf32>
      %3 = arith.mulf %1, %2 : f32
      loop.yield %3 : f32
    } : f32
    loop.store %s, %out[0, %j, %i] : memref<1x4x7xf32>
  }
}
loop.kernel @five(%u: memref<1x5x9xf32>, %w: memref<4x5x3xf32>) -> (%out: memref<1x4x7xf32>) {
  loop.for %i in 7, %j in 4 {
    %s = loop.reduce %k in 15 with add {
      %0 = loop.load %u[0, %k floordiv 3, %i + %k mod 3] : memref<1x5x9xf32>
      %1 = loop.load %w[%j, %k floordiv 3, %k mod 3] : memref<4x5x3xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[0, %j, %i] : memref<1x4x7xf32>
  }
}

// A transposed convolution with stride 2: a phase of the column is added to twice a step.
// CHECK-LABEL: loop.kernel @phases(
// CHECK:         loop.load %x[0, %k mod 16, %i - %k floordiv 16] where [%i - %k floordiv 16, 8 + %k floordiv 16 - %i] : memref<1x16x9xf32>
// CHECK-NEXT:    loop.load %w[%j floordiv 2, %k floordiv 16 * 2 + %j mod 2, %k mod 16] : memref<4x4x16xf32>
func.func public @d(%x: memref<1x16x9xf32>, %w: memref<16x4x4xf32> {torch.name = "w", torch.kind = "parameter"}) -> memref<1x4x20xf32> {
  %y = memref.alloc() : memref<1x4x20xf32>
  loop.launch @phases(%x, %w) -> (%y) : (memref<1x16x9xf32>, memref<16x4x4xf32>) -> (memref<1x4x20xf32>)
  func.return %y : memref<1x4x20xf32>
}
loop.kernel @phases(%x: memref<1x16x9xf32>, %w: memref<16x4x4xf32>) -> (%out: memref<1x4x20xf32>) {
  loop.for %i in 10, %j in 8 {
    %s = loop.reduce %k in 32 with add {
      %0 = loop.load %x[0, %k floordiv 2, %i - %k mod 2] where [%i - %k mod 2, 8 - %i + %k mod 2] : memref<1x16x9xf32>
      %1 = loop.load %w[%k floordiv 2, %j floordiv 2, %k mod 2 * 2 + %j mod 2] : memref<16x4x4xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[0, %j floordiv 2, %i * 2 + %j mod 2] : memref<1x4x20xf32>
  }
}

// Zeros would exceed negative products.
// CHECK-LABEL: loop.kernel @largest(
// CHECK:         loop.load %w[%j, %k floordiv 3, %k mod 3] : memref<4x12x3xf32>
func.func public @e(%x: memref<1x12x9xf32>, %w: memref<4x12x3xf32> {torch.name = "w", torch.kind = "parameter"}) -> memref<1x4x7xf32> {
  %y = memref.alloc() : memref<1x4x7xf32>
  loop.launch @largest(%x, %w) -> (%y) : (memref<1x12x9xf32>, memref<4x12x3xf32>) -> (memref<1x4x7xf32>)
  func.return %y : memref<1x4x7xf32>
}
loop.kernel @largest(%x: memref<1x12x9xf32>, %w: memref<4x12x3xf32>) -> (%out: memref<1x4x7xf32>) {
  loop.for %i in 7, %j in 4 {
    %s = loop.reduce %k in 36 with max {
      %0 = loop.load %x[0, %k floordiv 3, %i + %k mod 3] : memref<1x12x9xf32>
      %1 = loop.load %w[%j, %k floordiv 3, %k mod 3] : memref<4x12x3xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[0, %j, %i] : memref<1x4x7xf32>
  }
}
