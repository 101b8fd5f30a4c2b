// RUN: opt-tool %s -p to-kernel | filecheck %s

// RMSNorm over rows of 201, each by a block of two warps. Rows of odd length are not aligned, so
// that elements are loaded one by one.
//
// CHECK: loop.load %x{{.*}} where [200 -
// CHECK: kernel.barrier

loop.kernel @rms_norm(%x: memref<3x201xf32>, %weight: memref<201xf32>) -> (%out: memref<3x201xf32>) {
  %eps = arith.constant 1.0e-5 : f32
  %n = arith.constant 201.0 : f32
  tile.launch (%rb = block 3 row, %t = thread 64 k, %i = register 4 k) {
    %0 = loop.load %x[%rb, %i * 64 + %t] where [200 - %i * 64 - %t] : memref<3x201xf32>
    %1 = arith.mulf %0, %0 : f32
    %sum = tile.combine %1 across %t, %i with add where [200 - %i * 64 - %t] : f32
    %2 = arith.divf %sum, %n : f32
    %3 = arith.addf %2, %eps : f32
    %4 = math.rsqrt %3 : f32
    %5 = arith.mulf %0, %4 : f32
    %6 = loop.load %weight[%i * 64 + %t] where [200 - %i * 64 - %t] : memref<201xf32>
    %7 = arith.mulf %5, %6 : f32
    loop.store %7, %out[%rb, %i * 64 + %t] where [200 - %i * 64 - %t] : memref<3x201xf32>
  }
}
