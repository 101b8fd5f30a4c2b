// RUN: opt-tool %s -p convert-kernel-to-cuda -t cuda | filecheck %s

// The types of the text come first, then the functions: of an overloaded function only the called
// overloads.
// CHECK: struct half { unsigned short bits; };
// CHECK-NOT: struct bfloat16
// CHECK: float to_float(half a)
// CHECK-NOT: half to_half(double a)
// CHECK: int wrapping_add(int a, int b)
// CHECK-NOT: long long wrapping_add

// Half types are converted by functions, masked loads give their zero.
// CHECK-LABEL: halves(
// CHECK-NEXT: const half *__restrict__ x,
// CHECK-NEXT: half *__restrict__ out) {
// CHECK-NEXT: const int t = threadIdx.x;
// CHECK-NEXT: const half v = t < 8 ? x[t] : half{0x0};
// CHECK-NEXT: const float w = to_float(v);
// CHECK-NEXT: out[t] = w > 1.0f ? to_half(w * w) : half{0x3c00};
kernel.func grid 1 block 32 @halves(%x: memref<32xf16>) -> (%out: memref<32xf16>) {
  %t = kernel.thread_id
  %one = arith.constant 1.0 : f32
  %half_one = arith.constant 1.0 : f16
  %v = loop.load %x[%t] where [7 - %t] : memref<32xf16>
  %w = arith.extf %v : f16 to f32
  %large = arith.cmpf ogt, %w, %one : f32
  %s = arith.mulf %w, %w : f32
  %h = arith.truncf %s : f32 to f16
  %r = arith.select %large, %h, %half_one : f16
  loop.store %r, %out[%t] : memref<32xf16>
}

// Integers wrap around; only indices are computed with C++'s operators.
// CHECK-LABEL: integers(
// CHECK-NEXT: const unsigned char *__restrict__ x,
// CHECK-NEXT: bool *__restrict__ out) {
// CHECK-NEXT: const int t = threadIdx.x;
// CHECK-NEXT: const unsigned char v = x[t];
// CHECK-NEXT: const int w = (int)v;
// CHECK-NEXT: out[t] = (unsigned)(wrapping_add(w, w) & 7) < (unsigned)w;
kernel.func grid 1 block 32 @integers(%x: memref<32xui8>) -> (%out: memref<32xi1>) {
  %t = kernel.thread_id
  %c = arith.constant 7 : i32
  %v = loop.load %x[%t] : memref<32xui8>
  %w = arith.extui %v : ui8 to i32
  %a = arith.addi %w, %w : i32
  %s = arith.andi %a, %c : i32
  %r = arith.cmpi ult, %s, %w : i32
  loop.store %r, %out[%t] : memref<32xi1>
}

// Bools are joined without branches, behind which later loads would wait.
// CHECK-LABEL: bools(
// CHECK: out[t] = ((a < 1.0f) & (b < 1.0f)) | (a == b);
kernel.func grid 1 block 32 @bools(%x: memref<32xf32>, %y: memref<32xf32>)
    -> (%out: memref<32xi1>) {
  %t = kernel.thread_id
  %one = arith.constant 1.0 : f32
  %a = loop.load %x[%t] : memref<32xf32>
  %b = loop.load %y[%t] : memref<32xf32>
  %c = arith.cmpf olt, %a, %one : f32
  %d = arith.cmpf olt, %b, %one : f32
  %e = arith.cmpf oeq, %a, %b : f32
  %both = arith.andi %c, %d : i1
  %any = arith.ori %both, %e : i1
  loop.store %any, %out[%t] : memref<32xi1>
}
