// RUN: opt-tool %s -p 'split-inner-for-swizzle{width=64 slabs=as,bs}' --check=each | filecheck %s
// RUN: not opt-tool %s -p 'split-inner-for-swizzle{width=32 slabs=as}' 2>&1 | filecheck %s --check-prefix=PIECES

// Matrix instructions read rows of 16 bytes along K. A swizzle of whole rows of 64 bytes keeps them.
//
// CHECK-COUNT-2: memref<16x32xbf16, #tile.layout<swizzle 64>, 3 : i64>
//
// In pieces of 32 bytes, the rows of 16 bytes along K would not be found.
//
// PIECES: cannot do 'split-inner-for-swizzle{width=32 slabs=as}' in @mm: %as is read in rows of 16 bytes by matrix instructions; pieces of 32 bytes break them
loop.kernel @mm(%a: memref<16x32xbf16>, %b: memref<16x32xbf16>) -> (%out: memref<16x16xf32>) {
  tile.launch (%lm = lane 8 m, %ln = lane 4 n, %sn = register 2 n, %rm = register 2 m, %vn = register 2 n) {
    %as = tile.stage (%i, %k) in [16, 32] {
      %0 = loop.load %a[%i, %k] : memref<16x32xbf16>
      loop.yield %0 : bf16
    } : memref<16x32xbf16, 3 : i64>
    %bs = tile.stage (%j, %k) in [16, 32] {
      %0 = loop.load %b[%j, %k] : memref<16x32xbf16>
      loop.yield %0 : bf16
    } : memref<16x32xbf16, 3 : i64>
    %acc = loop.reduce %ki in 32 with add by(m16n8k16_bf16) {
      %x = loop.load %as[%rm * 8 + %lm, %ki] : memref<16x32xbf16, 3 : i64>
      %xf = arith.extf %x : bf16 to f32
      %y = loop.load %bs[%sn * 8 + %ln * 2 + %vn, %ki] : memref<16x32xbf16, 3 : i64>
      %yf = arith.extf %y : bf16 to f32
      %xy = arith.mulf %xf, %yf : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%rm * 8 + %lm, %sn * 8 + %ln * 2 + %vn] : memref<16x16xf32>
  }
}
