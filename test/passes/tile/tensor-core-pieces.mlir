// RUN: opt-tool %s -p 'tensor-core{instr=m16n8k8_tf32x3},mark-unroll,to-kernel' --check=each | filecheck %s

// Rows of a are cut into two pieces of 32 elements. The 4 elements that `ldmatrix` loads for a lane are in one piece.
//
// CHECK: kernel.load_matrix %as[%thread mod 16, %ki * 16 + %thread floordiv 16 * 4] to %a_1[0] count 4 : memref<16x64xf32, #tile.layout<inner 32, swizzle 128>, 3 : i64>
// CHECK: kernel.load_matrix %as[%thread mod 16, %ki * 16 + %thread floordiv 16 * 4 + 8] to %a_2[0] count 4
//
// Rows of c are padded by 2 elements and do not begin at multiples of 16 bytes.
//
// CHECK-NOT: kernel.load_matrix
// CHECK:     loop.load %cs[
loop.kernel @pieces(%a: memref<15x64xf32>, %b: memref<64x8xf32>) -> (%out: memref<15x8xf32>) {
  tile.launch (%tm = thread 8 m, %tn = thread 4 n, %vm = register 2 m, %vn = register 2 n) {
    %as = tile.stage (%i, %k) in [16, 64] {
      %0 = loop.load %a[%i, %k] where [14 - %i] : memref<15x64xf32>
      loop.yield %0 : f32
    } : memref<16x64xf32, #tile.layout<inner 32, swizzle 128>, 3 : i64>
    %bs = tile.stage (%k, %j) in [64, 8] {
      %0 = loop.load %b[%k, %j] : memref<64x8xf32>
      loop.yield %0 : f32
    } : memref<64x8xf32, 3 : i64>
    %acc = loop.reduce %ki in 64 with add {
      %x = loop.load %as[%tm * 2 + %vm, %ki] : memref<16x64xf32, #tile.layout<inner 32, swizzle 128>, 3 : i64>
      %y = loop.load %bs[%ki, %tn * 2 + %vn] : memref<64x8xf32, 3 : i64>
      %xy = arith.mulf %x, %y fastmath<afn> : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%tm * 2 + %vm, %tn * 2 + %vn] where [14 - %tm * 2 - %vm] : memref<15x8xf32>
  }
}

loop.kernel @between(%c: memref<16x32xf32>, %d: memref<32x8xf32>) -> (%out: memref<16x8xf32>) {
  tile.launch (%tm = thread 8 m, %tn = thread 4 n, %vm = register 2 m, %vn = register 2 n) {
    %cs = tile.stage (%i, %k) in [16, 32] {
      %0 = loop.load %c[%i, %k] : memref<16x32xf32>
      loop.yield %0 : f32
    } : memref<16x32xf32, #tile.layout<pad [0, 2]>, 3 : i64>
    %ds = tile.stage (%k, %j) in [32, 8] {
      %0 = loop.load %d[%k, %j] : memref<32x8xf32>
      loop.yield %0 : f32
    } : memref<32x8xf32, 3 : i64>
    %acc = loop.reduce %ki in 32 with add {
      %x = loop.load %cs[%tm * 2 + %vm, %ki] : memref<16x32xf32, #tile.layout<pad [0, 2]>, 3 : i64>
      %y = loop.load %ds[%ki, %tn * 2 + %vn] : memref<32x8xf32, 3 : i64>
      %xy = arith.mulf %x, %y fastmath<afn> : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%tm * 2 + %vm, %tn * 2 + %vn] : memref<16x8xf32>
  }
}
