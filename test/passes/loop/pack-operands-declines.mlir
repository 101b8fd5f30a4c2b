// RUN: opt-tool %s -p pack-operands --check=each | filecheck %s
// RUN: opt-tool %s -p pack-operands --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// REMARK:      --- f:031_pack_operands skipped at short: packing the operand does not pay: 2.0 us to copy, 0.0 us to multiply at the peak
// REMARK-NEXT: --- f:031_pack_operands skipped at first: packing the operand does not pay: 2.0 us to copy, 0.0 us to multiply at the peak
// REMARK-NEXT: --- f:031_pack_operands skipped at second: packing the operand does not pay: 2.0 us to copy, 0.0 us to multiply at the peak
// REMARK-NEXT: --- f:031_pack_operands skipped at called: packing the operand does not pay: 2.0 us to copy, 0.0 us to multiply at the peak
// REMARK-NEXT: --- f:031_pack_operands skipped at two: the kernel is launched several times

// An input of a short product: the copy would take longer.
func.func public @input(%x: memref<2x16x9xf32>, %w: memref<4x16x3xf32>) -> memref<2x4x7xf32> {
  %y = memref.alloc() : memref<2x4x7xf32>
  loop.launch @short(%x, %w) -> (%y) : (memref<2x16x9xf32>, memref<4x16x3xf32>) -> (memref<2x4x7xf32>)
  func.return %y : memref<2x4x7xf32>
}
// CHECK-LABEL: loop.kernel @short(
// CHECK:         loop.load %w[%j, %k floordiv 3, %k mod 3] : memref<4x16x3xf32>
loop.kernel @short(%x: memref<2x16x9xf32>, %w: memref<4x16x3xf32>) -> (%out: memref<2x4x7xf32>) {
  loop.for %i in 14, %j in 4 {
    %s = loop.reduce %k in 48 with add {
      %0 = loop.load %x[%i floordiv 7, %k floordiv 3, %i mod 7 + %k mod 3] : memref<2x16x9xf32>
      %1 = loop.load %w[%j, %k floordiv 3, %k mod 3] : memref<4x16x3xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%i floordiv 7, %j, %i mod 7] : memref<2x4x7xf32>
  }
}

// A parameter that another launch reads, and one that the program changes: both are as an input.
// CHECK-LABEL: func.func public @shared(
// CHECK-SAME:    %w: memref<4x16x3xf32> {torch.name = "w", torch.kind = "parameter"}
// CHECK-SAME:    %b: memref<4x16x3xf32> {torch.name = "b", torch.kind = "buffer"}
func.func public @shared(%x: memref<2x16x9xf32>, %w: memref<4x16x3xf32> {torch.name = "w", torch.kind = "parameter"}, %b: memref<4x16x3xf32> {torch.name = "b", torch.kind = "buffer"}) -> (memref<2x4x7xf32>, memref<4x16x3xf32>, memref<2x4x7xf32>, memref<4x16x3xf32> {torch.mutates = "b"}) {
  %y = memref.alloc() : memref<2x4x7xf32>
  loop.launch @first(%x, %w) -> (%y) : (memref<2x16x9xf32>, memref<4x16x3xf32>) -> (memref<2x4x7xf32>)
  %z = memref.alloc() : memref<4x16x3xf32>
  loop.launch @twice(%w) -> (%z) : (memref<4x16x3xf32>) -> (memref<4x16x3xf32>)
  %u = memref.alloc() : memref<2x4x7xf32>
  loop.launch @second(%x, %b) -> (%u) : (memref<2x16x9xf32>, memref<4x16x3xf32>) -> (memref<2x4x7xf32>)
  func.return %y, %z, %u, %z : memref<2x4x7xf32>, memref<4x16x3xf32>, memref<2x4x7xf32>, memref<4x16x3xf32>
}
// CHECK-LABEL: loop.kernel @first(
// CHECK:         loop.load %w[%j, %k floordiv 3, %k mod 3] : memref<4x16x3xf32>
loop.kernel @first(%x: memref<2x16x9xf32>, %w: memref<4x16x3xf32>) -> (%out: memref<2x4x7xf32>) {
  loop.for %i in 14, %j in 4 {
    %s = loop.reduce %k in 48 with add {
      %0 = loop.load %x[%i floordiv 7, %k floordiv 3, %i mod 7 + %k mod 3] : memref<2x16x9xf32>
      %1 = loop.load %w[%j, %k floordiv 3, %k mod 3] : memref<4x16x3xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%i floordiv 7, %j, %i mod 7] : memref<2x4x7xf32>
  }
}
loop.kernel @twice(%w: memref<4x16x3xf32>) -> (%out: memref<4x16x3xf32>) {
  loop.for %i in 4, %j in 16, %l in 3 {
    %0 = loop.load %w[%i, %j, %l] : memref<4x16x3xf32>
    %1 = arith.addf %0, %0 : f32
    loop.store %1, %out[%i, %j, %l] : memref<4x16x3xf32>
  }
}
// CHECK-LABEL: loop.kernel @second(
// CHECK:         loop.load %w[%j, %k floordiv 3, %k mod 3] : memref<4x16x3xf32>
loop.kernel @second(%x: memref<2x16x9xf32>, %w: memref<4x16x3xf32>) -> (%out: memref<2x4x7xf32>) {
  loop.for %i in 14, %j in 4 {
    %s = loop.reduce %k in 48 with add {
      %0 = loop.load %x[%i floordiv 7, %k floordiv 3, %i mod 7 + %k mod 3] : memref<2x16x9xf32>
      %1 = loop.load %w[%j, %k floordiv 3, %k mod 3] : memref<4x16x3xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%i floordiv 7, %j, %i mod 7] : memref<2x4x7xf32>
  }
}

// A parameter of a function that is called: its callers pass the weight of a layer.
func.func public @layers(%x: memref<2x16x9xf32>, %w: memref<4x16x3xf32> {torch.name = "w", torch.kind = "parameter"}) -> memref<2x4x7xf32> {
  %y = func.call @layer(%x, %w) : (memref<2x16x9xf32>, memref<4x16x3xf32>) -> memref<2x4x7xf32>
  func.return %y : memref<2x4x7xf32>
}
func.func private @layer(%x: memref<2x16x9xf32>, %w: memref<4x16x3xf32>) -> memref<2x4x7xf32> {
  %y = memref.alloc() : memref<2x4x7xf32>
  loop.launch @called(%x, %w) -> (%y) : (memref<2x16x9xf32>, memref<4x16x3xf32>) -> (memref<2x4x7xf32>)
  func.return %y : memref<2x4x7xf32>
}
// CHECK-LABEL: loop.kernel @called(
// CHECK:         loop.load %w[%j, %k floordiv 3, %k mod 3] : memref<4x16x3xf32>
loop.kernel @called(%x: memref<2x16x9xf32>, %w: memref<4x16x3xf32>) -> (%out: memref<2x4x7xf32>) {
  loop.for %i in 14, %j in 4 {
    %s = loop.reduce %k in 48 with add {
      %0 = loop.load %x[%i floordiv 7, %k floordiv 3, %i mod 7 + %k mod 3] : memref<2x16x9xf32>
      %1 = loop.load %w[%j, %k floordiv 3, %k mod 3] : memref<4x16x3xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%i floordiv 7, %j, %i mod 7] : memref<2x4x7xf32>
  }
}

// Three channels, and windows of 16 steps: chunks lie in one channel, or in none whatever the order.
func.func public @parameters(%x: memref<1x3x9xf32>, %w: memref<4x3x3xf32> {torch.name = "w", torch.kind = "parameter"}, %v: memref<1x16x20xf32>, %u: memref<4x16x16xf32> {torch.name = "u", torch.kind = "parameter"}) -> (memref<1x4x7xf32>, memref<1x4x5xf32>) {
  %y = memref.alloc() : memref<1x4x7xf32>
  loop.launch @colours(%x, %w) -> (%y) : (memref<1x3x9xf32>, memref<4x3x3xf32>) -> (memref<1x4x7xf32>)
  %z = memref.alloc() : memref<1x4x5xf32>
  loop.launch @even(%v, %u) -> (%z) : (memref<1x16x20xf32>, memref<4x16x16xf32>) -> (memref<1x4x5xf32>)
  func.return %y, %z : memref<1x4x7xf32>, memref<1x4x5xf32>
}
// CHECK-LABEL: loop.kernel @colours(
// CHECK:         loop.load %w[%j, %k floordiv 3, %k mod 3] : memref<4x3x3xf32>
loop.kernel @colours(%x: memref<1x3x9xf32>, %w: memref<4x3x3xf32>) -> (%out: memref<1x4x7xf32>) {
  loop.for %i in 7, %j in 4 {
    %s = loop.reduce %k in 9 with add {
      %0 = loop.load %x[0, %k floordiv 3, %i + %k mod 3] : memref<1x3x9xf32>
      %1 = loop.load %w[%j, %k floordiv 3, %k mod 3] : memref<4x3x3xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[0, %j, %i] : memref<1x4x7xf32>
  }
}
// CHECK-LABEL: loop.kernel @even(
// CHECK:         loop.load %u[%j, %k floordiv 16, %k mod 16] : memref<4x16x16xf32>
loop.kernel @even(%v: memref<1x16x20xf32>, %u: memref<4x16x16xf32>) -> (%out: memref<1x4x5xf32>) {
  loop.for %i in 5, %j in 4 {
    %s = loop.reduce %k in 256 with add {
      %0 = loop.load %v[0, %k floordiv 16, %i + %k mod 16] : memref<1x16x20xf32>
      %1 = loop.load %u[%j, %k floordiv 16, %k mod 16] : memref<4x16x16xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[0, %j, %i] : memref<1x4x5xf32>
  }
}

// Channels that lie last in memory already: only the order of the sum changes.
func.func public @view(%x: memref<2x16x9xf32>, %w: memref<4x3x16xf32>) -> memref<2x4x7xf32> {
  %y = memref.alloc() : memref<2x4x7xf32>
  loop.launch @packed(%x, %w) -> (%y) : (memref<2x16x9xf32>, memref<4x3x16xf32>) -> (memref<2x4x7xf32>)
  func.return %y : memref<2x4x7xf32>
}
// CHECK-LABEL: loop.kernel @packed(
// CHECK:         loop.load %x[%i floordiv 7, %k mod 16, %i mod 7 + %k floordiv 16] : memref<2x16x9xf32>
// CHECK-NEXT:    loop.load %w[%j, %k floordiv 16, %k mod 16] : memref<4x3x16xf32>
loop.kernel @packed(%x: memref<2x16x9xf32>, %w: memref<4x3x16xf32>) -> (%out: memref<2x4x7xf32>) {
  loop.for %i in 14, %j in 4 {
    %s = loop.reduce %k in 48 with add {
      %0 = loop.load %x[%i floordiv 7, %k floordiv 3, %i mod 7 + %k mod 3] : memref<2x16x9xf32>
      %1 = loop.load %w[%j, %k mod 3, %k floordiv 3] : memref<4x3x16xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%i floordiv 7, %j, %i mod 7] : memref<2x4x7xf32>
  }
}

// One kernel of two launches keeps the order of both.
func.func public @both(%x: memref<2x16x9xf32>, %v: memref<4x16x3xf32> {torch.name = "v", torch.kind = "parameter"}, %w: memref<4x16x3xf32> {torch.name = "w", torch.kind = "parameter"}) -> (memref<2x4x7xf32>, memref<2x4x7xf32>) {
  %y = memref.alloc() : memref<2x4x7xf32>
  loop.launch @two(%x, %v) -> (%y) : (memref<2x16x9xf32>, memref<4x16x3xf32>) -> (memref<2x4x7xf32>)
  %z = memref.alloc() : memref<2x4x7xf32>
  loop.launch @two(%x, %w) -> (%z) : (memref<2x16x9xf32>, memref<4x16x3xf32>) -> (memref<2x4x7xf32>)
  func.return %y, %z : memref<2x4x7xf32>, memref<2x4x7xf32>
}
// CHECK-LABEL: loop.kernel @two(
// CHECK:         loop.load %w[%j, %k floordiv 3, %k mod 3] : memref<4x16x3xf32>
loop.kernel @two(%x: memref<2x16x9xf32>, %w: memref<4x16x3xf32>) -> (%out: memref<2x4x7xf32>) {
  loop.for %i in 14, %j in 4 {
    %s = loop.reduce %k in 48 with add {
      %0 = loop.load %x[%i floordiv 7, %k floordiv 3, %i mod 7 + %k mod 3] : memref<2x16x9xf32>
      %1 = loop.load %w[%j, %k floordiv 3, %k mod 3] : memref<4x16x3xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%i floordiv 7, %j, %i mod 7] : memref<2x4x7xf32>
  }
}

// Images that a linear layer reads flattened: `k` runs through both operands as they lie in memory.
func.func public @flattened(%x: memref<5x16x3x3xf32>, %w: memref<4x16x3x3xf32> {torch.name = "w", torch.kind = "parameter"}) -> memref<5x4xf32> {
  %y = memref.alloc() : memref<5x4xf32>
  loop.launch @linear(%x, %w) -> (%y) : (memref<5x16x3x3xf32>, memref<4x16x3x3xf32>) -> (memref<5x4xf32>)
  func.return %y : memref<5x4xf32>
}
// CHECK-LABEL: loop.kernel @linear(
// CHECK:         loop.load %w[%j, %k floordiv 9, (%k floordiv 3) mod 3, %k mod 3] : memref<4x16x3x3xf32>
loop.kernel @linear(%x: memref<5x16x3x3xf32>, %w: memref<4x16x3x3xf32>) -> (%out: memref<5x4xf32>) {
  loop.for %i in 5, %j in 4 {
    %s = loop.reduce %k in 144 with add {
      %0 = loop.load %x[%i, %k floordiv 9, (%k floordiv 3) mod 3, %k mod 3] : memref<5x16x3x3xf32>
      %1 = loop.load %w[%j, %k floordiv 9, (%k floordiv 3) mod 3, %k mod 3] : memref<4x16x3x3xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %s, %out[%i, %j] : memref<5x4xf32>
  }
}

// A sum of no steps stays beside one whose channels come last.
func.func public @nothing(%x: memref<2x16x9xf32>, %w: memref<4x16x3xf32> {torch.name = "w", torch.kind = "parameter"}, %q: memref<2x0x9xf32>, %u: memref<4x0x3xf32> {torch.name = "u", torch.kind = "parameter"}) -> memref<2x4x7xf32> {
  %y = memref.alloc() : memref<2x4x7xf32>
  loop.launch @beside_none(%x, %w, %q, %u) -> (%y) : (memref<2x16x9xf32>, memref<4x16x3xf32>, memref<2x0x9xf32>, memref<4x0x3xf32>) -> (memref<2x4x7xf32>)
  func.return %y : memref<2x4x7xf32>
}
// CHECK-LABEL: loop.kernel @beside_none(
// CHECK:         loop.load %u[%j, %k floordiv 3, %k mod 3] : memref<4x0x3xf32>
// CHECK:         loop.load %w[%j, %k_1 floordiv 16, %k_1 mod 16] : memref<4x3x16xf32>
loop.kernel @beside_none(%x: memref<2x16x9xf32>, %w: memref<4x16x3xf32>, %q: memref<2x0x9xf32>, %u: memref<4x0x3xf32>) -> (%out: memref<2x4x7xf32>) {
  loop.for %i in 14, %j in 4 {
    %e = loop.reduce %k in 0 with add {
      %0 = loop.load %q[%i floordiv 7, %k floordiv 3, %i mod 7 + %k mod 3] : memref<2x0x9xf32>
      %1 = loop.load %u[%j, %k floordiv 3, %k mod 3] : memref<4x0x3xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    %s = loop.reduce %k in 48 with add {
      %0 = loop.load %x[%i floordiv 7, %k floordiv 3, %i mod 7 + %k mod 3] : memref<2x16x9xf32>
      %1 = loop.load %w[%j, %k floordiv 3, %k mod 3] : memref<4x16x3xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    %t = arith.addf %s, %e : f32
    loop.store %t, %out[%i floordiv 7, %j, %i mod 7] : memref<2x4x7xf32>
  }
}
