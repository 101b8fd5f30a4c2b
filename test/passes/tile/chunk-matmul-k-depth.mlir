// RUN: opt-tool %s -p 'chunk-matmul-k{bk=16 depth=16}' --check=each | filecheck %s
// RUN: opt-tool %s -p 'chunk-matmul-k{bk=16 depth=5}' --check=each | filecheck %s --check-prefix=DIVIDES
// RUN: not opt-tool %s -p 'chunk-matmul-k{bk=16 depth=0}' 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not opt-tool %s -p 'chunk-matmul-k{depth=0}' 2>&1 | filecheck %s --check-prefix=NONE

// NONE: error: pass 'chunk-matmul-k': cannot do 'chunk-matmul-k{bk=16 depth=0}' in @attention: depth is at least 1, not 0

// A number of steps that divides is kept.
// DIVIDES:     loop.reduce %d in 20 with add {
// DIVIDES-NOT: where [19 - %d]

// A score gets 32 steps: its factors are zero beyond the 20 that it has.
// CHECK-LABEL: @attention
// CHECK:             %s = loop.reduce %d in 32 with add {
// CHECK-NEXT:          %0 = loop.load %q[%i, %d] where [19 - %d] : memref<32x20xbf16>
// CHECK-NEXT:          %1 = arith.extf %0 : bf16 to f32
// CHECK-NEXT:          %2 = loop.load %key[%ko * 16 + %ki, %d] where [19 - %d] : memref<32x20xbf16>
// CHECK-NEXT:          %3 = arith.extf %2 : bf16 to f32
// CHECK-NEXT:          %4 = arith.mulf %1, %3 : f32
// CHECK-NEXT:          loop.yield %4 : f32
// CHECK-NEXT:        } : f32
// CHECK:       schedule "chunk-matmul-k{bk=16 depth=16}"
loop.kernel @attention(%q: memref<32x20xbf16>, %key: memref<32x20xbf16>, %v: memref<32x16xbf16>) -> (%out: memref<32x16xf32>) {
  tile.launch (%i = block 32 m, %e = block 16 n) {
    %max, %acc = loop.reduce %k in 32 with softmax weights(bf16) {
      %s = loop.reduce %d in 20 with add {
        %0 = loop.load %q[%i, %d] : memref<32x20xbf16>
        %1 = arith.extf %0 : bf16 to f32
        %2 = loop.load %key[%k, %d] : memref<32x20xbf16>
        %3 = arith.extf %2 : bf16 to f32
        %4 = arith.mulf %1, %3 : f32
        loop.yield %4 : f32
      } : f32
      %g = loop.load %v[%k, %e] : memref<32x16xbf16>
      %h = arith.extf %g : bf16 to f32
      loop.yield %s, %h : f32, f32
    } : f32, f32
    loop.store %acc, %out[%i, %e] : memref<32x16xf32>
  }
}

// A score whose terms may not be zero beyond its steps is masked.
// CHECK-LABEL: @masked
// CHECK:             %s = loop.reduce %d in 32 with add {
// CHECK:               loop.yield %4 where [19 - %d] : f32
loop.kernel @masked(%q: memref<32x20xf32>, %key: memref<32x20xf32>, %v: memref<32x16xf32>) -> (%out: memref<32x16xf32>) {
  tile.launch (%i = block 32 m, %e = block 16 n) {
    %max, %acc = loop.reduce %k in 32 with softmax {
      %s = loop.reduce %d in 20 with add {
        %0 = loop.load %q[%i, %d] : memref<32x20xf32>
        %1 = math.exp %0 : f32
        %2 = loop.load %key[%k, %d] : memref<32x20xf32>
        %3 = math.exp %2 : f32
        %4 = arith.mulf %1, %3 : f32
        loop.yield %4 : f32
      } : f32
      %g = loop.load %v[%k, %e] : memref<32x16xf32>
      loop.yield %s, %g : f32, f32
    } : f32, f32
    loop.store %acc, %out[%i, %e] : memref<32x16xf32>
  }
}
