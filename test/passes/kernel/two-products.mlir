// RUN: opt-tool %s -p convert-tile-to-kernel,fuse-multiply-add --check=each | filecheck %s

// A gate and an up projection in one loop: a thread holds 2x4 sums of each. The inputs of the
// second product depend on columns alone, and are loaded before the nest over rows and columns. So
// both products are in one nest, and each is added to its sum in one step.
// CHECK-LABEL: kernel.func grid 4 block 32 @gate_up
// CHECK:         scf.for %k
// CHECK:           kernel.unroll %vn_2 in 4 {
// CHECK-NEXT:        %{{.*}} = loop.load %u
// CHECK:           kernel.unroll %vm_2 in 2, %vn_3 in 4 {
// CHECK-NOT:         arith
// CHECK:             %gate_3 = math.fma
// CHECK-NEXT:        %up_2 = math.fma
// CHECK-NOT:       arith
// CHECK:         kernel.comment "elementwise, stored to out"
loop.kernel @gate_up(%x: memref<16x8xf32>, %g: memref<64x8xf32>, %u: memref<64x8xf32>) -> (%out: memref<16x64xf32>) {
  tile.launch (%bm = block 2 m, %bn = block 2 n, %tm = thread 4 m, %tn = thread 8 n, %vm = register 2 m, %vn = register 4 n) {
    %gate, %up = loop.reduce %k in 8 with add {
      %0 = loop.load %x[%bm * 8 + %tm * 2 + %vm, %k] : memref<16x8xf32>
      %1 = loop.load %g[%bn * 32 + %tn * 4 + %vn, %k] : memref<64x8xf32>
      %2 = arith.mulf %0, %1 : f32
      %3 = loop.load %u[%bn * 32 + %tn * 4 + %vn, %k] : memref<64x8xf32>
      %4 = arith.mulf %0, %3 : f32
      loop.yield %2, %4 : f32, f32
    } : f32, f32
    %5 = arith.addf %gate, %up : f32
    loop.store %5, %out[%bm * 8 + %tm * 2 + %vm, %bn * 32 + %tn * 4 + %vn] : memref<16x64xf32>
  }
}
