// RUN: opt-tool %s -p 'tileify,chunk-matmul-k{bk=32},blockify-launch{m=16 n=64},share-scores,stage-inputs,register-tile{fm=4 fn=4 fk=4},permute-register-tile,double-buffer{depth=2},async-copy,pad-smem,pipeline-k-outer,mark-unroll' --check=each | filecheck %s
// RUN: opt-tool %s -p 'tileify,chunk-matmul-k{bk=64},blockify-launch{m=16 n=32},share-scores,stage-inputs,register-tile{fm=2 fn=4 fk=4}' --check=each | filecheck %s --check-prefix=KEYS
// RUN: opt-tool %s -p to-tile --check=end | filecheck %s --check-prefix=DEFAULT

// Attention in one kernel: the score and the softmax reduction are contractions with the same rows and
// with keys and head columns as columns. Sizes do not divide: 37 rows, 65 keys, 40 columns.
// CHECK-LABEL: loop.kernel @attention
// CHECK:         tile.launch (%i = block 2 batch, %bm = block 3 m, %bn = block 1 n, %tm = thread 4 m, %tn = thread 8 n, %un = register 2

// All steps over keys read the same queries: they are staged once.
// CHECK-NEXT:      %qs = tile.stage (%i_1, %k) in [16, 40] {
// CHECK:           loop.reduce %ko in 3 below [%bm floordiv 2 + 1] with softmax fastmath<nnan,ninf> {
// CHECK:             %keys = tile.stage (%j, %k_1) in [32, 40] ring(depth 2, lookahead 1) transport(cp_async) {
// CHECK:             %s = loop.reduce %ki in 10 with add
// CHECK-NEXT:          %chunk = loop.reduce %kv in 4 with add

// The slabs of keys and of values have one coordinate for the threads and registers of a row.
// CHECK:             tile.combine %masked across %tn, %vn with max : f32
// CHECK:             %vs = tile.stage (%k_2, %j_1) in [32, 64] ring(depth 2, lookahead 1) transport(cp_async) {
// CHECK-NEXT:          loop.load %v[%i, %ko * 32 + %k_2, %j_1] where [39 - %j_1, 64 - %ko * 32 - %k_2] : memref<2x65x40xf32>
// CHECK:             loop.reduce %ki_1 in 8 with add
// CHECK-NEXT:          loop.reduce %kv_1 in 4 with add
// CHECK:                 loop.load %vs[%ki_1 * 4 + %kv_1, %un * 32 + %tn * 4 + %vn]

// The scale of the scores is a factor of the exponent, and of the largest product of a row.
// KEYS-LABEL: loop.kernel @attention
// KEYS:         %tm = thread 8 m, %tn = thread 8 n, %uk = register 2, %vm = register 2 m, %vn = register 4 n)
// KEYS:           %keys = tile.stage (%j, %k_1) in [64, 40] {
// KEYS:           loop.load %keys[%uk * 32 + %tn * 4 + %vn, %ki * 4 + %kv]
// KEYS:           [[LARGEST:%[0-9]+]] = tile.combine %masked across %tn, %vn, %uk with max : f32
// KEYS:           [[SCALE:%[0-9]+]] = arith.constant 1.250000e-01 : f32
// KEYS-NEXT:      [[EXPONENT:%[0-9]+]] = arith.mulf %{{[0-9]+}}, [[SCALE]] : f32
// KEYS-NEXT:      %weight = math.exp [[EXPONENT]] fastmath<afn> : f32
// KEYS:           tile.share %weight at [%tm * 2 + %vm, %uk * 32 + %tn * 4 + %vn] : memref<16x64xf32, #tile.layout<pad [0, 4]>, 3 : i64>

// The planner shares scores.
// DEFAULT: loop.reduce {{.*}} with softmax fastmath<nnan,ninf> {
// DEFAULT: tile.share
loop.kernel @attention(%q: memref<2x37x40xf32>, %key: memref<2x65x40xf32>, %v: memref<2x65x40xf32>)
    -> (%out: memref<2x37x40xf32>) {
  loop.for %i in 2, %j in 37, %l in 40 {
    %maximum, %sum, %out_1 = loop.reduce %k in 65 with softmax fastmath<nnan,ninf> {
      %s = loop.reduce %d in 40 with add {
        %0 = loop.load %q[%i, %j, %d] : memref<2x37x40xf32>
        %1 = loop.load %key[%i, %k, %d] : memref<2x65x40xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      %scale = arith.constant 0.125 : f32
      %x = arith.mulf %s, %scale : f32
      %one = arith.constant 1.0 : f32
      %g = loop.load %v[%i, %k, %l] : memref<2x65x40xf32>
      loop.yield %x, %one, %g where [%j - %k] : f32, f32, f32
    } : f32, f32, f32
    %unit = arith.constant 1.0 : f32
    %7 = arith.maximumf %sum, %unit : f32
    %16 = arith.divf %out_1, %7 : f32
    loop.store %16, %out[%i, %j, %l] : memref<2x37x40xf32>
  }
}
