// RUN: opt-tool %s -p to-kernel | filecheck %s

// a @ b with K split over 3 blocks, each of which adds to the result. Neither rows nor K divide.
//
// CHECK: kernel.func grid 6 block 64 @
// CHECK: kernel.atomic

loop.kernel @mm(%a: memref<15x20xf32>, %b: memref<20x16xf32>) -> (%out: memref<15x16xf32>) {
  tile.launch (%s = block 3 split, %bm = block 2 m, %tm = thread 8 m, %tn = thread 8 n, %vn = register 2 n) {
    %partial = loop.reduce %k in 7 with add {
      %x = loop.load %a[%bm * 8 + %tm, %s * 7 + %k] where [14 - %bm * 8 - %tm, 19 - %s * 7 - %k] : memref<15x20xf32>
      %y = loop.load %b[%s * 7 + %k, %tn * 2 + %vn] where [19 - %s * 7 - %k] : memref<20x16xf32>
      %xy = arith.mulf %x, %y : f32
      loop.yield %xy : f32
    } : f32
    %acc = tile.combine %partial across %s with add join(atomic) : f32
    loop.store %acc, %out[%bm * 8 + %tm, %tn * 2 + %vn] where [14 - %bm * 8 - %tm] : memref<15x16xf32>
  }
}
