// RUN: opt-tool %s -p 'register-tile{vector=4 items=2}' --check=each | filecheck %s
// RUN: opt-tool %s -p register-tile --check=each | filecheck %s --check-prefix=GUESS
// RUN: not opt-tool %s -p 'register-tile{fm=4}' 2>&1 | filecheck %s --check-prefix=ROWS
// RUN: not opt-tool %s -p 'register-tile{vector=3}' 2>&1 | filecheck %s --check-prefix=THREE

// ROWS: in @add: fm does not apply: it is not a contraction
// THREE: in @add: 1024 steps of %t are not divisible by 3

// Each element has its own mask beyond the end.
// CHECK:      loop.kernel @add(%x: memref<50x37xf32>, %y: memref<37xf32>) -> (%out: memref<50x37xf32>) {
// CHECK-NEXT:   tile.launch (%b = block 2, %t = thread 128, %i = register 2, %v = register 4) {
// CHECK-NEXT:     %0 = loop.load %x[(%b * 1024 + %i * 512 + %t * 4 + %v) floordiv 37, (%b * 1024 + %i * 512 + %t * 4 + %v) mod 37] where [1849 - %b * 1024 - %i * 512 - %t * 4 - %v] : memref<50x37xf32>
// CHECK-NEXT:     %1 = loop.load %y[(%b * 1024 + %i * 512 + %t * 4 + %v) mod 37] where [1849 - %b * 1024 - %i * 512 - %t * 4 - %v] : memref<37xf32>
// CHECK-NEXT:     %2 = arith.addf %0, %1 : f32
// CHECK-NEXT:     loop.store %2, %out[(%b * 1024 + %i * 512 + %t * 4 + %v) floordiv 37, (%b * 1024 + %i * 512 + %t * 4 + %v) mod 37] where [1849 - %b * 1024 - %i * 512 - %t * 4 - %v] : memref<50x37xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "register-tile{vector=4 items=2 min_blocks=0}"
// Rows of 37 are not aligned: the default is one element a thread.
// GUESS: } schedule "register-tile{vector=1 items=1 min_blocks=0}"
loop.kernel @add(%x: memref<50x37xf32>, %y: memref<37xf32>) -> (%out: memref<50x37xf32>) {
  tile.launch (%b = block 2, %t = thread 1024) {
    %0 = loop.load %x[(%b * 1024 + %t) floordiv 37, (%b * 1024 + %t) mod 37] where [1849 - %b * 1024 - %t] : memref<50x37xf32>
    %1 = loop.load %y[(%b * 1024 + %t) mod 37] where [1849 - %b * 1024 - %t] : memref<37xf32>
    %2 = arith.addf %0, %1 : f32
    loop.store %2, %out[(%b * 1024 + %t) floordiv 37, (%b * 1024 + %t) mod 37] where [1849 - %b * 1024 - %t] : memref<50x37xf32>
  }
}

// Rows: a value that is joined across threads is joined across their registers too. The first register
// of the first thread stores it.
// CHECK:      loop.kernel @rows(%x: memref<5x1000xf32>) -> (%out: memref<5x1000xf32>, %sums: memref<5xf32>) {
// CHECK-NEXT:   tile.launch (%rb = block 5 row, %t = thread 128 k, %i = register 2 k, %v = register 4 k) {
// CHECK-NEXT:     %0 = loop.load %x[%rb, %i * 512 + %t * 4 + %v] where [999 - %i * 512 - %t * 4 - %v] : memref<5x1000xf32>
// CHECK-NEXT:     %sum = tile.combine %0 across %t, %i, %v with add where [999 - %i * 512 - %t * 4 - %v] : f32
// CHECK-NEXT:     %1 = arith.divf %0, %sum : f32
// CHECK-NEXT:     loop.store %1, %out[%rb, %i * 512 + %t * 4 + %v] where [999 - %i * 512 - %t * 4 - %v] : memref<5x1000xf32>
// CHECK-NEXT:     loop.store %sum, %sums[%rb] where [0 - %i * 512 - %t * 4 - %v] : memref<5xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "register-tile{vector=4 items=2 min_blocks=0}"
// GUESS: tile.launch (%rb = block 5 row, %t = thread 256 k, %v = register 4 k) {
// GUESS: } schedule "register-tile{vector=4 items=1 min_blocks=0}"
loop.kernel @rows(%x: memref<5x1000xf32>) -> (%out: memref<5x1000xf32>, %sums: memref<5xf32>) {
  tile.launch (%rb = block 5 row, %t = thread 1024 k) {
    %0 = loop.load %x[%rb, %t] where [999 - %t] : memref<5x1000xf32>
    %sum = tile.combine %0 across %t with add where [999 - %t] : f32
    %1 = arith.divf %0, %sum : f32
    loop.store %1, %out[%rb, %t] where [999 - %t] : memref<5x1000xf32>
    loop.store %sum, %sums[%rb] where [0 - %t] : memref<5xf32>
  }
}

// A loop over a row: a thread has eight elements in each step. The default keeps the block's 256
// threads, since each already has several elements by its steps.
// CHECK:      loop.kernel @steps(%x: memref<3x700xf16>) -> (%out: memref<3xf32>) {
// CHECK-NEXT:   tile.launch (%rb = block 3 row, %t = thread 32 k, %i = register 2 k, %v = register 4 k) {
// CHECK-NEXT:     %most = loop.reduce %k in 3 with max {
// CHECK-NEXT:       %0 = loop.load %x[%rb, %k * 256 + %i * 128 + %t * 4 + %v] where [699 - %k * 256 - %i * 128 - %t * 4 - %v] : memref<3x700xf16>
// CHECK-NEXT:       %1 = arith.extf %0 : f16 to f32
// CHECK-NEXT:       loop.yield %1 where [699 - %k * 256 - %i * 128 - %t * 4 - %v] : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %all = tile.combine %most across %t, %i, %v with max : f32
// CHECK-NEXT:     loop.store %all, %out[%rb] where [0 - %i * 128 - %t * 4 - %v] : memref<3xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "register-tile{vector=4 items=2 min_blocks=0}"
// GUESS: tile.launch (%rb = block 3 row, %t = thread 256 k) {
// GUESS: } schedule "register-tile{vector=1 items=1 min_blocks=0}"
loop.kernel @steps(%x: memref<3x700xf16>) -> (%out: memref<3xf32>) {
  tile.launch (%rb = block 3 row, %t = thread 256 k) {
    %most = loop.reduce %k in 3 with max {
      %0 = loop.load %x[%rb, %k * 256 + %t] where [699 - %k * 256 - %t] : memref<3x700xf16>
      %1 = arith.extf %0 : f16 to f32
      loop.yield %1 where [699 - %k * 256 - %t] : f32
    } : f32
    %all = tile.combine %most across %t with max : f32
    loop.store %all, %out[%rb] where [0 - %t] : memref<3xf32>
  }
}
