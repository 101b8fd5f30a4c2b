// RUN: opt-tool %s -p split-inner-for-swizzle --check=each | filecheck %s
// RUN: opt-tool %s -p 'split-inner-for-swizzle{width=32 slabs=as}' --check=each | filecheck %s --check-prefix=PIECES
// RUN: opt-tool %s -p 'split-inner-for-swizzle,split-inner-for-swizzle' --remarks 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: opt-tool %s -p 'split-inner-for-swizzle,pipeline-k-outer,mark-unroll,to-kernel' --check=each | filecheck %s --check-prefix=KERNEL
// RUN: not opt-tool %s -p 'split-inner-for-swizzle{width=48}' 2>&1 | filecheck %s --check-prefix=WIDTH
// RUN: not opt-tool %s -p 'split-inner-for-swizzle{width=64 slabs=bs,cs}' 2>&1 | filecheck %s --check-prefix=NAME

// A warp reads 8 rows of b at a time, 64 bytes each: they conflict in a quarter of the banks. Lanes that
// are served together read one row of a.
//
// CHECK: %as = tile.stage
// CHECK: } : memref<32x16xf32, 3 : i64>
// CHECK: %bs = tile.stage
// CHECK: } : memref<32x16xf32, #tile.layout<swizzle 64>, 3 : i64>
// CHECK: loop.load %bs[%sn * 8 + %tn, %ki * 4 + %kv] : memref<32x16xf32, #tile.layout<swizzle 64>, 3 : i64>
// CHECK: } schedule "split-inner-for-swizzle{width=64 slabs=bs}"
//
// Spans shorter than the rows: pieces of 8 elements, each with all rows.
//
// PIECES: } : memref<32x16xf32, #tile.layout<inner 8, swizzle 32>, 3 : i64>
// PIECES: loop.load %as[%sm * 8 + %tm, %ki * 4 + %kv] : memref<32x16xf32, #tile.layout<inner 8, swizzle 32>, 3 : i64>
//
// TWICE: skipped at mm: its slabs are swizzled already
// KERNEL: kernel.shared : memref<2x32x16xf32, #tile.layout<slots, swizzle 64>, 3 : i64>
// WIDTH: in @mm: swizzles span 32, 64, 128 bytes, not 48
// NAME: in @mm: it has no slab 'cs'; it has as, bs
loop.kernel @mm(%a: memref<33x36xf32>, %b: memref<42x36xf32>) -> (%out: memref<33x42xf32>) {
  tile.launch (%bm = block 2 m, %bn = block 2 n, %tm = thread 8 m, %tn = thread 8 n, %sm = register 4 m, %sn = register 4 n) {
    %acc = loop.reduce %ko in 3 with add {
      %as = tile.stage (%i, %k) in [32, 16] ring(depth 2) transport(tma) {
        %0 = loop.load %a[%bm * 32 + %i, %ko * 16 + %k] where [32 - %bm * 32 - %i, 35 - %ko * 16 - %k] : memref<33x36xf32>
        loop.yield %0 : f32
      } : memref<32x16xf32, 3 : i64>
      %bs = tile.stage (%j, %k) in [32, 16] ring(depth 2) transport(tma) {
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
