// RUN: opt-tool %s -p to-kernel,to-cuda -t cuda | filecheck %s

// Each comment stands once, above the code that it describes.

// CHECK-LABEL: rms_norm(
// CHECK:         // rms_norm: elementwise
// CHECK-NEXT:    float x1[4];
// CHECK:         // rms_norm: sum across 4 values of each thread and 32 threads
// CHECK-NEXT:    float sum = 0.0f;
// CHECK:         // rms_norm: elementwise, stored to out
// CHECK-NEXT:    const float v = rsqrtf(sum4 + other4);
// CHECK-NOT:     // rms_norm
// CHECK:       // grid
loop.kernel @rms_norm(%x: memref<4x128xf32>) -> (%out: memref<4x128xf32>) {
  tile.launch (%r = thread 4 row, %t = thread 32 k, %v = register 4 k) {
    %0 = loop.load %x[%r, %t * 4 + %v] : memref<4x128xf32> loc("rms_norm")
    %1 = arith.mulf %0, %0 : f32 loc("rms_norm")
    %sum = tile.combine %1 across %t, %v with add : f32 loc("rms_norm")
    %2 = math.rsqrt %sum : f32 loc("rms_norm")
    %3 = arith.mulf %0, %2 : f32 loc("rms_norm")
    loop.store %3, %out[%r, %t * 4 + %v] : memref<4x128xf32> loc("rms_norm")
  }
}

// A comment above nothing disappears, as does one above an expression that is written at its use,
// and a branch with comments only. A long comment takes several lines.
// CHECK-LABEL: idle(
// CHECK-NEXT:      const float *__restrict__ x,
// CHECK-NEXT:      float *__restrict__ out) {
// CHECK-NEXT:    const int t = threadIdx.x;
// CHECK-NEXT:    // a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, a, b, c, d, e, f,
// CHECK-NEXT:    // g, h: elementwise
// CHECK-NEXT:    out[t] = 1.0f;
// CHECK-NEXT:    if (t < 7) {
// CHECK-NEXT:      // twice
// CHECK-NEXT:      out[t] = 2.0f;
// CHECK-NEXT:    }
// CHECK-NEXT:  }
kernel.func grid 1 block 32 @idle(%x: memref<32xf32>) -> (%out: memref<32xf32>) {
  %t = kernel.thread_id
  kernel.comment "an index"
  %i = kernel.index [%t + 1]
  kernel.comment "a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, a, b, c, d, e, f, g, h: elementwise"
  %one = arith.constant 1.0 : f32
  loop.store %one, %out[%t] : memref<32xf32>
  %0 = loop.predicate [6 - %t] : i1
  scf.if %0 {
    %two = arith.constant 2.0 : f32
    kernel.comment "twice"
    loop.store %two, %out[%t] : memref<32xf32>
    kernel.comment "nothing"
  }
  kernel.comment "a branch that does nothing"
  %1 = loop.predicate [4 - %t] : i1
  scf.if %1 {
    kernel.comment "nothing"
  }
  kernel.comment "the end"
}
