// RUN: opt-tool %s -p pad-smem --check=each | filecheck %s
// RUN: opt-tool %s -p 'pad-smem{pad=1 slabs=as,bs}' --check=each | filecheck %s --check-prefix=ONE
// RUN: opt-tool %s -p 'pad-smem{pad=8,1 slabs=as,bs}' --check=each | filecheck %s --check-prefix=OWN
// RUN: not opt-tool %s -p 'pad-smem{pad=8,1 slabs=as}' 2>&1 | filecheck %s --check-prefix=FEWER
// RUN: not opt-tool %s -p 'pad-smem{pad=8,4 slabs=as,as}' 2>&1 | filecheck %s --check-prefix=AGAIN
// RUN: opt-tool %s -p 'pad-smem,pad-smem' --remarks 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: opt-tool %s -p 'pad-smem,pipeline-k-outer,mark-unroll,to-kernel' --check=each | filecheck %s --check-prefix=KERNEL
// RUN: not opt-tool %s -p 'pad-smem{pad=0}' 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not opt-tool %s -p 'pad-smem{pad=1000 slabs=as}' 2>&1 | filecheck %s --check-prefix=MUCH
// RUN: not opt-tool %s -p 'pad-smem{slabs=cs}' 2>&1 | filecheck %s --check-prefix=NAME

// A warp reads 8 rows of b at a time, 64 bytes each: they conflict in a quarter of the banks. Lanes that
// are served together read one row of a, so this slab is unchanged.
//
// CHECK: %as = tile.stage
// CHECK: } : memref<32x16xf32, 3 : i64>
// CHECK: %bs = tile.stage
// CHECK: } : memref<32x16xf32, #tile.layout<pad [0, 4]>, 3 : i64>
// CHECK: loop.load %bs[%sn * 8 + %tn, %ki * 4 + %kv] : memref<32x16xf32, #tile.layout<pad [0, 4]>, 3 : i64>
// CHECK: } schedule "pad-smem{pad=4 slabs=bs}"
//
// ONE-COUNT-2: } : memref<32x16xf32, #tile.layout<pad [0, 1]>, 3 : i64>
// OWN: memref<32x16xf32, #tile.layout<pad [0, 8]>, 3 : i64>
// OWN: memref<32x16xf32, #tile.layout<pad [0, 1]>, 3 : i64>
// OWN: } schedule "pad-smem{pad=8,1 slabs=as,bs}"
// FEWER: in @mm: 2 pads are not one for each of 1 slabs
// AGAIN: in @mm: a slab is named twice
// TWICE: skipped at mm: its slabs are padded already
// KERNEL: kernel.shared : memref<2x32x16xf32, #tile.layout<slots, pad [0, 4]>, 3 : i64>
// NONE: in @mm: a pad is one element or more, not 0
// MUCH: in @mm: with a pad of 1000 its slabs take 264192 bytes of shared memory, and a block of sm_90a has 232448; pad less, or take fewer slots (depth of double-buffer)
// NAME: in @mm: it has no slab 'cs'; it has as, bs
loop.kernel @mm(%a: memref<33x36xf32>, %b: memref<42x36xf32>) -> (%out: memref<33x42xf32>) {
  tile.launch (%bm = block 2 m, %bn = block 2 n, %tm = thread 8 m, %tn = thread 8 n, %sm = register 4 m, %sn = register 4 n) {
    %acc = loop.reduce %ko in 3 with add {
      %as = tile.stage (%i, %k) in [32, 16] ring(depth 2) transport(cp_async) {
        %0 = loop.load %a[%bm * 32 + %i, %ko * 16 + %k] where [32 - %bm * 32 - %i, 35 - %ko * 16 - %k] : memref<33x36xf32>
        loop.yield %0 : f32
      } : memref<32x16xf32, 3 : i64>
      %bs = tile.stage (%j, %k) in [32, 16] ring(depth 2) transport(cp_async) {
        %0 = loop.load %b[%bn * 32 + %j, %ko * 16 + %k] where [41 - %bn * 32 - %j, 35 - %ko * 16 - %k] : memref<42x36xf32>
        loop.yield %0 : f32
      } : memref<32x16xf32, 3 : i64>
      %chunk = loop.reduce %ki in 4 with add {
        %four = loop.reduce %kv in 4 with add {
          %x = loop.load %as[%sm * 8 + %tm, %ki * 4 + %kv] : memref<32x16xf32, 3 : i64>
          %y = loop.load %bs[%sn * 8 + %tn, %ki * 4 + %kv] : memref<32x16xf32, 3 : i64>
          %xy = arith.mulf %x, %y : f32
          loop.yield %xy : f32
        } : f32
        loop.yield %four : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %acc, %out[%bm * 32 + %sm * 8 + %tm, %bn * 32 + %sn * 8 + %tn] where [32 - %bm * 32 - %sm * 8 - %tm, 41 - %bn * 32 - %sn * 8 - %tn] : memref<33x42xf32>
  }
}
