// RUN: opt-tool %s -p 'tma-copy{slabs=as,bs}' --check=each | filecheck %s
// RUN: opt-tool %s -p tma-copy --remarks 2>&1 | filecheck %s --check-prefix=SHORT
// RUN: opt-tool %s -p 'tma-copy{slabs=as}' --check=each | filecheck %s --check-prefix=ONE
// RUN: opt-tool %s -p 'tma-copy{slabs=as,bs},tma-copy' --remarks 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: opt-tool %s -p 'tma-copy{slabs=as,bs},pipeline-k-outer,mark-unroll,to-kernel' --check=each | filecheck %s --check-prefix=KERNEL
// RUN: not opt-tool %s -p 'tma-copy{slabs=cs}' 2>&1 | filecheck %s --check-prefix=NAME
// RUN: opt-tool %s -p 'tma-copy{slabs=as target=sm_80}' --remarks 2>&1 | filecheck %s --check-prefix=OLD

// A batch of products: a box has one step along the batch. No extent is a multiple of its tile, and
// elements outside the inputs are zero, as the masks require.
//
// CHECK: %as = tile.stage (%i, %k) in [32, 16] ring(depth 2) transport(tma) {
// CHECK: %bs = tile.stage (%k_1, %j) in [16, 32] ring(depth 2) transport(tma) {
// CHECK: } schedule "tma-copy{slabs=as,bs}"
//
// ONE: %as = tile.stage (%i, %k) in [32, 16] ring(depth 2) transport(tma) {
// ONE: %bs = tile.stage (%k_1, %j) in [16, 32] ring(depth 2) {
//
// SHORT: skipped at mm: no loop has only rings that TMA can fill, with long rows and large piles
// TWICE: skipped at mm: %as is filled by tma already; %bs is filled by tma already
// NAME: cannot do 'tma-copy{slabs=cs}' in @mm: it has no slab 'cs'; it has as, bs
// OLD: skipped at mm: sm_80 has no tensor memory accelerator
//
// KERNEL: kernel.tma_copy %a[{{.*}}] box [1, 32, 16] to %as
// KERNEL: kernel.tma_copy %b[{{.*}}] box [1, 16, 32] to %bs
loop.kernel @mm(%a: memref<3x33x36xf32>, %b: memref<3x36x44xf32>) -> (%out: memref<3x33x44xf32>) {
  tile.launch (%g = block 3 batch, %bm = block 2 m, %bn = block 2 n, %tm = thread 8 m, %tn = thread 8 n, %vm = register 4 m, %vn = register 4 n) {
    %acc = loop.reduce %ko in 3 with add {
      %as = tile.stage (%i, %k) in [32, 16] ring(depth 2) {
        %0 = loop.load %a[%g, %bm * 32 + %i, %ko * 16 + %k] where [32 - %bm * 32 - %i, 35 - %ko * 16 - %k] : memref<3x33x36xf32>
        loop.yield %0 : f32
      } : memref<32x16xf32, 3 : i64>
      %bs = tile.stage (%k, %j) in [16, 32] ring(depth 2) {
        %0 = loop.load %b[%g, %ko * 16 + %k, %bn * 32 + %j] where [35 - %ko * 16 - %k, 43 - %bn * 32 - %j] : memref<3x36x44xf32>
        loop.yield %0 : f32
      } : memref<16x32xf32, 3 : i64>
      %chunk = loop.reduce %ki in 4 with add {
        %four = loop.reduce %kv in 4 with add {
          %x = loop.load %as[%tm * 4 + %vm, %ki * 4 + %kv] : memref<32x16xf32, 3 : i64>
          %y = loop.load %bs[%ki * 4 + %kv, %tn * 4 + %vn] : memref<16x32xf32, 3 : i64>
          %xy = arith.mulf %x, %y : f32
          loop.yield %xy : f32
        } : f32
        loop.yield %four : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %acc, %out[%g, %bm * 32 + %tm * 4 + %vm, %bn * 32 + %tn * 4 + %vn] where [32 - %bm * 32 - %tm * 4 - %vm, 43 - %bn * 32 - %tn * 4 - %vn] : memref<3x33x44xf32>
  }
}
