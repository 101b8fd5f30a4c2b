// RUN: opt-tool %s -p fuse-scores | filecheck %s
// RUN: opt-tool %s -p fuse-scores --remarks 2>&1 | filecheck %s --check-prefix=REMARK
// RUN: opt-tool %s -p 'decide-fusion{fused="fuse-scores:odd_scores>odd_product"},fuse-scores' --check=each | filecheck %s --check-prefix=ODD

// Scores of queries and keys that a block stages in slices: it has no room for 128 whole ones.

// REMARK-NOT: skipped at half_scores

// Products of halves are fast: memory traffic of the scores would take longer.
// CHECK-LABEL: loop.kernel @half_
// CHECK:         loop.reduce %k in 2048 with softmax weights(f16) {
// CHECK-NEXT:      loop.reduce %d in 1024 with add {
func.func @half(%v: memref<32x2048x64xf16>, %q: memref<32x2048x1024xf16>, %keys: memref<32x2048x1024xf16>) -> memref<32x2048x64xf32> {
  %s = memref.alloc() : memref<32x2048x2048xf32>
  loop.launch @half_scores(%q, %keys) -> (%s) : (memref<32x2048x1024xf16>, memref<32x2048x1024xf16>) -> (memref<32x2048x2048xf32>)
  %out = memref.alloc() : memref<32x2048x64xf32>
  loop.launch @half_product(%s, %v) -> (%out) : (memref<32x2048x2048xf32>, memref<32x2048x64xf16>) -> (memref<32x2048x64xf32>)
  func.return %out : memref<32x2048x64xf32>
}
loop.kernel @half_scores(%q: memref<32x2048x1024xf16>, %keys: memref<32x2048x1024xf16>) -> (%out: memref<32x2048x2048xf32>) {
  loop.for %h in 32, %i in 2048, %k in 2048 {
    %dot = loop.reduce %d in 1024 with add {
      %0 = loop.load %q[%h, %i, %d] : memref<32x2048x1024xf16>
      %1 = loop.load %keys[%h, %k, %d] : memref<32x2048x1024xf16>
      %2 = arith.extf %0 : f16 to f32
      %3 = arith.extf %1 : f16 to f32
      %4 = arith.mulf %2, %3 : f32
      loop.yield %4 : f32
    } : f32
    %scale = arith.constant 0.03125 : f32
    %score = arith.mulf %dot, %scale : f32
    loop.store %score, %out[%h, %i, %k] : memref<32x2048x2048xf32>
  }
}
loop.kernel @half_product(%s: memref<32x2048x2048xf32>, %v: memref<32x2048x64xf16>) -> (%out: memref<32x2048x64xf32>) {
  loop.for %h in 32, %i in 2048, %e in 64 {
    %largest, %sum, %product = loop.reduce %k in 2048 with softmax weights(f16) {
      %x = loop.load %s[%h, %i, %k] : memref<32x2048x2048xf32>
      %one = arith.constant 1.0 : f32
      %g = loop.load %v[%h, %k, %e] : memref<32x2048x64xf16>
      %w = arith.extf %g : f16 to f32
      loop.yield %x, %one, %w : f32, f32, f32
    } : f32, f32, f32
    %0 = arith.divf %product, %sum : f32
    loop.store %0, %out[%h, %i, %e] : memref<32x2048x64xf32>
  }
}

// In float32 slices cost more than the traffic.
// REMARK: skipped at single_scores: compute each score once for 64 columns, in slices that take 1.3x as long: {{.*}} us against {{.*}} us apart, saves
// CHECK-LABEL: loop.kernel @single_scores
func.func @single(%v: memref<32x2048x64xf32>, %q: memref<32x2048x1024xf32>, %keys: memref<32x2048x1024xf32>) -> memref<32x2048x64xf32> {
  %s = memref.alloc() : memref<32x2048x2048xf32>
  loop.launch @single_scores(%q, %keys) -> (%s) : (memref<32x2048x1024xf32>, memref<32x2048x1024xf32>) -> (memref<32x2048x2048xf32>)
  %out = memref.alloc() : memref<32x2048x64xf32>
  loop.launch @single_product(%s, %v) -> (%out) : (memref<32x2048x2048xf32>, memref<32x2048x64xf32>) -> (memref<32x2048x64xf32>)
  func.return %out : memref<32x2048x64xf32>
}
loop.kernel @single_scores(%q: memref<32x2048x1024xf32>, %keys: memref<32x2048x1024xf32>) -> (%out: memref<32x2048x2048xf32>) {
  loop.for %h in 32, %i in 2048, %k in 2048 {
    %dot = loop.reduce %d in 1024 with add {
      %0 = loop.load %q[%h, %i, %d] : memref<32x2048x1024xf32>
      %1 = loop.load %keys[%h, %k, %d] : memref<32x2048x1024xf32>
      %4 = arith.mulf %0, %1 : f32
      loop.yield %4 : f32
    } : f32
    %scale = arith.constant 0.03125 : f32
    %score = arith.mulf %dot, %scale : f32
    loop.store %score, %out[%h, %i, %k] : memref<32x2048x2048xf32>
  }
}
loop.kernel @single_product(%s: memref<32x2048x2048xf32>, %v: memref<32x2048x64xf32>) -> (%out: memref<32x2048x64xf32>) {
  loop.for %h in 32, %i in 2048, %e in 64 {
    %largest, %sum, %product = loop.reduce %k in 2048 with softmax {
      %x = loop.load %s[%h, %i, %k] : memref<32x2048x2048xf32>
      %one = arith.constant 1.0 : f32
      %g = loop.load %v[%h, %k, %e] : memref<32x2048x64xf32>
      loop.yield %x, %one, %g : f32, f32, f32
    } : f32, f32, f32
    %0 = arith.divf %product, %sum : f32
    loop.store %0, %out[%h, %i, %e] : memref<32x2048x64xf32>
  }
}

// Few blocks compute few scores, unless the fusion is requested.
// REMARK: skipped at odd_scores: compute each score once for 3 columns, in slices that take 1.3x as long: {{.*}} us against {{.*}} us apart, saves
// CHECK-LABEL: loop.kernel @odd_scores
// ODD-LABEL:   loop.kernel @odd_
// ODD:           loop.reduce %k in 70 with softmax {
// ODD-NEXT:        loop.reduce %d in 1030 with add {
func.func @odd(%v: memref<1x70x3xf32>, %q: memref<1x33x1030xf32>, %keys: memref<1x70x1030xf32>) -> memref<1x33x3xf32> {
  %s = memref.alloc() : memref<1x33x70xf32>
  loop.launch @odd_scores(%q, %keys) -> (%s) : (memref<1x33x1030xf32>, memref<1x70x1030xf32>) -> (memref<1x33x70xf32>)
  %out = memref.alloc() : memref<1x33x3xf32>
  loop.launch @odd_product(%s, %v) -> (%out) : (memref<1x33x70xf32>, memref<1x70x3xf32>) -> (memref<1x33x3xf32>)
  func.return %out : memref<1x33x3xf32>
}
loop.kernel @odd_scores(%q: memref<1x33x1030xf32>, %keys: memref<1x70x1030xf32>) -> (%out: memref<1x33x70xf32>) {
  loop.for %h in 1, %i in 33, %k in 70 {
    %dot = loop.reduce %d in 1030 with add {
      %0 = loop.load %q[%h, %i, %d] : memref<1x33x1030xf32>
      %1 = loop.load %keys[%h, %k, %d] : memref<1x70x1030xf32>
      %4 = arith.mulf %0, %1 : f32
      loop.yield %4 : f32
    } : f32
    %scale = arith.constant 0.03125 : f32
    %score = arith.mulf %dot, %scale : f32
    loop.store %score, %out[%h, %i, %k] : memref<1x33x70xf32>
  }
}
loop.kernel @odd_product(%s: memref<1x33x70xf32>, %v: memref<1x70x3xf32>) -> (%out: memref<1x33x3xf32>) {
  loop.for %h in 1, %i in 33, %e in 3 {
    %largest, %sum, %product = loop.reduce %k in 70 with softmax {
      %x = loop.load %s[%h, %i, %k] : memref<1x33x70xf32>
      %one = arith.constant 1.0 : f32
      %g = loop.load %v[%h, %k, %e] : memref<1x70x3xf32>
      loop.yield %x, %one, %g : f32, f32, f32
    } : f32, f32, f32
    %0 = arith.divf %product, %sum : f32
    loop.store %0, %out[%h, %i, %e] : memref<1x33x3xf32>
  }
}
