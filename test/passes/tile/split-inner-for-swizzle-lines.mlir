// RUN: opt-tool %s -p 'split-inner-for-swizzle{width=64 slabs=xs lines_first=xs}' --check=each | filecheck %s
// RUN: opt-tool %s -p 'split-inner-for-swizzle{width=64 slabs=xs lines_first=xs},pipeline-k-outer,mark-unroll,to-kernel,to-cuda' | filecheck %s --check-prefix=MAP
// RUN: not opt-tool %s -p 'split-inner-for-swizzle{width=64 slabs=ws lines_first=xs}' 2>&1 | filecheck %s --check-prefix=OTHER
// RUN: not opt-tool %s -p 'split-inner-for-swizzle{width=32 slabs=ws lines_first=ws}' 2>&1 | filecheck %s --check-prefix=NONE

// Lanes read four channels at a time, which are four lines apart. With lines first they are adjacent.
//
// CHECK: } : memref<16x4x16xf32, #tile.layout<order [1, 0, 2], swizzle 64>, 3 : i64>
// CHECK: loop.load %xs[%ki, %sm, %tm] : memref<16x4x16xf32, #tile.layout<order [1, 0, 2], swizzle 64>, 3 : i64>
// CHECK: } schedule "split-inner-for-swizzle{width=64 slabs=xs lines_first=xs}"
//
// One copy moves the box: the strides of the tensor map are those of lines, channels and positions.
//
// MAP: %x_map: !cuda.tensor_map<1x8x16x16xf32, strides [2048, 16, 128, 1], box [1, 4, 16, 16], swizzle 64, of 0>
//
// OTHER: lines_first names slabs that are swizzled, not xs
// NONE: %ws has no axis for lines
loop.kernel @conv(%x: memref<1x16x8x16xf32>, %w: memref<16x3x16xf32>) -> (%out: memref<1x16x8x16xf32>) {
  tile.launch (%bm = block 2 m, %tm = thread 16 m, %tn = thread 16 n, %sm = register 4 m) {
    %acc = loop.reduce %ko in 3 with add {
      %xs = tile.stage (%k, %l, %i) in [16, 4, 16] ring(depth 2) transport(tma) {
        %0 = loop.load %x[0, %k, %bm * 4 + %l, %i + %ko - 1] where [%i + %ko - 1, 16 - %i - %ko] : memref<1x16x8x16xf32>
        loop.yield %0 : f32
      } : memref<16x4x16xf32, 3 : i64>
      %ws = tile.stage (%j, %k) in [16, 16] ring(depth 2) transport(tma) {
        %0 = loop.load %w[%j, %ko, %k] : memref<16x3x16xf32>
        loop.yield %0 : f32
      } : memref<16x16xf32, 3 : i64>
      %chunk = loop.reduce %ki in 16 with add {
        %a = loop.load %xs[%ki, %sm, %tm] : memref<16x4x16xf32, 3 : i64>
        %b = loop.load %ws[%tn, %ki] : memref<16x16xf32, 3 : i64>
        %ab = arith.mulf %a, %b : f32
        loop.yield %ab : f32
      } : f32
      loop.yield %chunk : f32
    } : f32
    loop.store %acc, %out[0, %tn, %bm * 4 + %sm, %tm] : memref<1x16x8x16xf32>
  }
}
