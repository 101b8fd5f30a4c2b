// RUN: opt-tool %s -p 'blockify-launch{n=256}' --check=each | filecheck %s
// RUN: opt-tool %s -p blockify-launch --check=each | filecheck %s --check-prefix=GUESS
// RUN: opt-tool %s -p 'blockify-launch{n=2048}' --check=each | filecheck %s --check-prefix=LONG
// RUN: not opt-tool %s -p 'blockify-launch{m=8 n=32}' 2>&1 | filecheck %s --check-prefix=RECTANGLE
// RUN: not opt-tool %s -p 'blockify-launch{n=32 raster=2}' 2>&1 | filecheck %s --check-prefix=RASTER

// RASTER: cannot do 'blockify-launch{n=32 raster=2}' in @pointwise: raster=2 is for contractions; the blocks of this launch have no rows
// RECTANGLE: cannot do 'blockify-launch{m=8 n=32}' in @pointwise: m=8 is for contractions; a block of this launch is a line of n elements

// Pointwise: all axes are linearised and shared by blocks and threads.
// CHECK:      loop.kernel @pointwise(%x: memref<17x33xf32>, %bias: memref<33xf32>) -> (%out: memref<17x33xf32>) {
// CHECK-NEXT:   tile.launch (%b = block 3, %t = thread 256) {
// CHECK-NEXT:     %0 = loop.load %x[(%b * 256 + %t) floordiv 33, (%b * 256 + %t) mod 33] where [560 - %b * 256 - %t] : memref<17x33xf32>
// CHECK-NEXT:     %1 = loop.load %bias[(%b * 256 + %t) mod 33] where [560 - %b * 256 - %t] : memref<33xf32>
// CHECK-NEXT:     %2 = arith.addf %0, %1 : f32
// CHECK-NEXT:     loop.store %2, %out[(%b * 256 + %t) floordiv 33, (%b * 256 + %t) mod 33] where [560 - %b * 256 - %t] : memref<17x33xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "blockify-launch{n=256}"
// GUESS: tile.launch (%b = block 3, %t = thread 256) {
// LONG: tile.launch (%b = block 1, %t = thread 2048) {
loop.kernel @pointwise(%x: memref<17x33xf32>, %bias: memref<33xf32>) -> (%out: memref<17x33xf32>) {
  tile.launch (%i = block 17, %j = block 33) {
    %0 = loop.load %x[%i, %j] : memref<17x33xf32>
    %1 = loop.load %bias[%j] : memref<33xf32>
    %2 = arith.addf %0, %1 : f32
    loop.store %2, %out[%i, %j] : memref<17x33xf32>
  }
}

// Short rows: each thread computes whole rows.
// CHECK:      loop.kernel @short_rows(%x: memref<1000x3xf32>) -> (%out: memref<1000xf32>) {
// CHECK-NEXT:   tile.launch (%b = block 4 row, %t = thread 256 row) {
// CHECK-NEXT:     %s = loop.reduce %k in 3 with max {
// CHECK-NEXT:       %0 = loop.load %x[%b * 256 + %t, %k] where [999 - %b * 256 - %t] : memref<1000x3xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %s, %out[%b * 256 + %t] where [999 - %b * 256 - %t] : memref<1000xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "blockify-launch{n=256}"
// GUESS: tile.launch (%b = block 4 row, %t = thread 256 row) {
loop.kernel @short_rows(%x: memref<1000x3xf32>) -> (%out: memref<1000xf32>) {
  tile.launch (%i = block 1000 row) {
    %s = loop.reduce %k in 3 with max {
      %0 = loop.load %x[%i, %k] : memref<1000x3xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%i] : memref<1000xf32>
  }
}
