// RUN: opt-tool %s -p permute-register-tile --check=each | filecheck %s
// RUN: opt-tool %s -p 'permute-register-tile{vm=1 vn=1 lanes_m=4 fastest=n}' --check=each | filecheck %s --check-prefix=STRIPS
// RUN: opt-tool %s -p 'permute-register-tile{vm=4 vn=1 lanes_m=8 fastest=n}' --check=each | filecheck %s --check-prefix=LANES
// RUN: opt-tool %s -p 'permute-register-tile{vm=2 vn=4 lanes_m=8 fastest=m}' --check=each | filecheck %s --check-prefix=ALONG
// RUN: opt-tool %s -p 'permute-register-tile,permute-register-tile' --remarks 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: opt-tool %s -p 'permute-register-tile,mark-unroll,to-kernel' --check=each | filecheck %s --check-prefix=KERNEL

// a @ b.T: both slabs are read along K, four steps at a time. Threads that own every fourth row would
// have bank conflicts. The rows of b are dealt out, so that the threads' rows are neighbours; threads
// own every eighth row of a.
//
// CHECK:      tile.launch (%bm = block 2 m, %bn = block 2 n, %tm = thread 8 m, %tn = thread 8 n, %sm = register 4 m, %vn = register 4 n) {
// CHECK:      } : memref<32x16xf32, 3 : i64>
// CHECK:      } : memref<32x16xf32, #tile.layout<deal 4>, 3 : i64>
// CHECK:      loop.load %as[%sm * 8 + %tm, %ki * 4 + %kv]
// CHECK:      loop.load %bs[%tn * 4 + %vn, %ki * 4 + %kv]
// CHECK:      } schedule "permute-register-tile{vm=1 vn=4 lanes_m=4 fastest=n}"
//
// With strips of one row, the rows of threads are 8 apart, and no rows are dealt out. No extent is a
// multiple of its tile: elements beyond the ends are masked as before.
//
// STRIPS:     tile.launch (%bm = block 2 m, %bn = block 2 n, %tm = thread 8 m, %tn = thread 8 n, %sm = register 4 m, %sn = register 4 n) {
// STRIPS-NOT: deal
// STRIPS:     loop.load %as[%sm * 8 + %tm, %ki * 4 + %kv]
// STRIPS:     loop.load %bs[%sn * 8 + %tn, %ki * 4 + %kv]
// STRIPS:     loop.store %acc, %out[%bm * 32 + %sm * 8 + %tm, %bn * 32 + %sn * 8 + %tn] where [32 - %bm * 32 - %sm * 8 - %tm, 39 - %bn * 32 - %sn * 8 - %tn]
//
// A warp of 8 by 4 threads is narrower than a row of threads: its part of the row is a separate axis.
//
// LANES:      tile.launch (%bm = block 2 m, %bn = block 2 n, %wn = warp 2 n, %lm = lane 8 m, %ln = lane 4 n, %vm = register 4 m, %sn = register 4 n) {
// LANES:      loop.load %as[%lm * 4 + %vm, %ki * 4 + %kv]
// LANES:      loop.load %bs[%sn * 8 + %wn * 4 + %ln, %ki * 4 + %kv]
// LANES:      } schedule "permute-register-tile{vm=4 vn=1 lanes_m=8 fastest=n}"
//
// ALONG:      tile.launch (%bm = block 2 m, %bn = block 2 n, %tn = thread 8 n, %tm = thread 8 m, %sm = register 2 m, %vm = register 2 m, %vn = register 4 n) {
// ALONG:      loop.load %as[%sm * 16 + %tm * 2 + %vm, %ki * 4 + %kv]
// ALONG:      loop.load %bs[%tn * 4 + %vn, %ki * 4 + %kv]
//
// TWICE:      skipped at mm: its register tile is arranged already
//
// KERNEL:     kernel.copy %as[%sm_1 * 8 + %tm, %ki * 4] to %x[%sm_1, 0] width 4
// KERNEL:     kernel.copy %bs[%tn * 4 + %vn_1, %ki * 4] to %y[%vn_1, 0] width 4
// KERNEL:     kernel.copy %acc{{.*}} width 4
loop.kernel @mm(%a: memref<33x36xf32>, %b: memref<40x36xf32>) -> (%out: memref<33x40xf32>) {
  tile.launch (%bm = block 2 m, %bn = block 2 n, %tm = thread 8 m, %tn = thread 8 n, %vm = register 4 m, %vn = register 4 n) {
    %acc = loop.reduce %ko in 3 with add {
      %as = tile.stage (%i, %k) in [32, 16] {
        %0 = loop.load %a[%bm * 32 + %i, %ko * 16 + %k] where [32 - %bm * 32 - %i, 35 - %ko * 16 - %k] : memref<33x36xf32>
        loop.yield %0 : f32
      } : memref<32x16xf32, 3 : i64>
      %bs = tile.stage (%j, %k) in [32, 16] {
        %0 = loop.load %b[%bn * 32 + %j, %ko * 16 + %k] where [39 - %bn * 32 - %j, 35 - %ko * 16 - %k] : memref<40x36xf32>
        loop.yield %0 : f32
      } : memref<32x16xf32, 3 : i64>
      %chunk = loop.reduce %ki in 4 with add {
        %four = loop.reduce %kv in 4 with add {
          %x = loop.load %as[%tm * 4 + %vm, %ki * 4 + %kv] : memref<32x16xf32, 3 : i64>
          %y = loop.load %bs[%tn * 4 + %vn, %ki * 4 + %kv] : memref<32x16xf32, 3 : i64>
          %xy = arith.mulf %x, %y : f32
          loop.yield %xy : f32
        } : f32
        loop.yield %four : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %acc, %out[%bm * 32 + %tm * 4 + %vm, %bn * 32 + %tn * 4 + %vn] where [32 - %bm * 32 - %tm * 4 - %vm, 39 - %bn * 32 - %tn * 4 - %vn] : memref<33x40xf32>
  }
}
