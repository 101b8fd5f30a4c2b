// RUN: opt-tool %s -p tensor-core --check=each | filecheck %s
// RUN: opt-tool %s -p 'tensor-core{instr=m16n8k8_tf32x3},mark-unroll,to-kernel' --check=each | filecheck %s --check-prefix=SPLIT
// RUN: opt-tool %s -p 'tensor-core{instr=m16n8k8_tf32},mark-unroll,to-kernel' --check=each | filecheck %s --check-prefix=KERNEL

// Factors of float32 are rounded only if their product has the flag `afn`. Rows of a lie along K and are loaded as
// matrices. Columns of b lie across K, and `ldmatrix` cannot transpose elements of 4 bytes: they are
// loaded one by one. Rows and columns beyond the ends are masked.
//
// CHECK:  %acc = loop.reduce %ki in 16 with add by(m16n8k8_tf32) {
//
// The factors can be split into two parts instead, for three products.
//
// SPLIT:   kernel.halve_tf32
// SPLIT-COUNT-6: kernel.matrix_multiply m16n8k8_tf32
// SPLIT:   math.fma
//
// KERNEL: kernel.load_matrix %as[%thread mod 16, %ki * 8 + %thread floordiv 16 * 4] to %a_1[0] count 4
// KERNEL: kernel.unroll %element{{.*}} in 2 {
// KERNEL: loop.load %bs[
loop.kernel @mm(%a: memref<15x16xf32>, %b: memref<16x8xf32>) -> (%out: memref<15x8xf32>) {
  tile.launch (%tm = thread 8 m, %tn = thread 4 n, %vm = register 2 m, %vn = register 2 n) {
    %as = tile.stage (%i, %k) in [16, 16] {
      %0 = loop.load %a[%i, %k] where [14 - %i] : memref<15x16xf32>
      loop.yield %0 : f32
    } : memref<16x16xf32, 3 : i64>
    %bs = tile.stage (%k, %j) in [16, 8] {
      %0 = loop.load %b[%k, %j] : memref<16x8xf32>
      loop.yield %0 : f32
    } : memref<16x8xf32, 3 : i64>
    %acc = loop.reduce %ki in 16 with add {
      %x = loop.load %as[%tm * 2 + %vm, %ki] : memref<16x16xf32, 3 : i64>
      %y = loop.load %bs[%ki, %tn * 2 + %vn] : memref<16x8xf32, 3 : i64>
      %xy = arith.mulf %x, %y fastmath<afn> : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%tm * 2 + %vm, %tn * 2 + %vn] where [14 - %tm * 2 - %vm] : memref<15x8xf32>
  }
}
