// RUN: opt-tool %s -p 'tileify{columns=true}' --check=each | filecheck %s
// RUN: opt-tool %s -p tileify --check=each | filecheck %s --check-prefix=ROWS

// Rows of attention are contracted with columns of values, which two heads share. A row stays in one
// block without the option `columns` or planned steps that have it.
// ROWS-LABEL: @attention_values
// ROWS:         tile.launch (%i = block 4 row, %j = block 20 row) {
// ROWS:           loop.for %l in 16 {
// ROWS:       } schedule "tileify"
// CHECK:      loop.kernel @attention_values(%s: memref<4x20x20xf32>, %v: memref<2x20x16xf32>) -> (%out: memref<4x20x16xf32>) {
// CHECK-NEXT:   tile.launch (%i = block 4 batch, %j = block 20 m, %l = block 16 n) {
// CHECK-NEXT:     %max = loop.reduce %k in 20 with max {
// CHECK-NEXT:       %0 = loop.load %s[%i, %j, %k] : memref<4x20x20xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %sum = loop.reduce %k_1 in 20 with add {
// CHECK-NEXT:       %1 = loop.load %s[%i, %j, %k_1] : memref<4x20x20xf32>
// CHECK-NEXT:       %2 = arith.subf %1, %max : f32
// CHECK-NEXT:       %3 = math.exp %2 : f32
// CHECK-NEXT:       %4 = loop.load %v[%i floordiv 2, %k_1, %l] : memref<2x20x16xf32>
// CHECK-NEXT:       %5 = arith.mulf %3, %4 : f32
// CHECK-NEXT:       loop.yield %5 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     loop.store %sum, %out[%i, %j, %l] : memref<4x20x16xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "tileify{columns=true}"
loop.kernel @attention_values(%s: memref<4x20x20xf32>, %v: memref<2x20x16xf32>) -> (%out: memref<4x20x16xf32>) {
  loop.for %i in 4, %j in 20 {
    %max = loop.reduce %k in 20 with max {
      %0 = loop.load %s[%i, %j, %k] : memref<4x20x20xf32>
      loop.yield %0 : f32
    } : f32
    loop.for %l in 16 {
      %sum = loop.reduce %k in 20 with add {
        %0 = loop.load %s[%i, %j, %k] : memref<4x20x20xf32>
        %1 = arith.subf %0, %max : f32
        %2 = math.exp %1 : f32
        %3 = loop.load %v[%i floordiv 2, %k, %l] : memref<2x20x16xf32>
        %4 = arith.mulf %2, %3 : f32
        loop.yield %4 : f32
      } : f32
      loop.store %sum, %out[%i, %j, %l] : memref<4x20x16xf32>
    }
  }
}

// A result that is stored beside the columns is stored once.
// ROWS-LABEL: @planned
// ROWS:         tile.launch (%j = block 20 m, %l = block 16 n) {
// ROWS:       } schedule "tileify{columns=true}"
// CHECK:      loop.kernel @planned(%s: memref<20x20xf32>, %v: memref<20x16xf32>) -> (%out: memref<20x16xf32>, %all: memref<20xf32>) {
// CHECK-NEXT:   tile.launch (%j = block 20 m, %l = block 16 n) {
// CHECK-NEXT:     %max = loop.reduce %k in 20 with max {
// CHECK-NEXT:       %0 = loop.load %s[%j, %k] : memref<20x20xf32>
// CHECK-NEXT:       loop.yield %0 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %sum = loop.reduce %k_1 in 20 with add {
// CHECK-NEXT:       %1 = loop.load %s[%j, %k_1] : memref<20x20xf32>
// CHECK-NEXT:       %2 = loop.load %v[%k_1, %l] : memref<20x16xf32>
// CHECK-NEXT:       %3 = arith.mulf %1, %2 : f32
// CHECK-NEXT:       loop.yield %3 : f32
// CHECK-NEXT:     } : f32
// CHECK-NEXT:     %4 = arith.subf %sum, %max : f32
// CHECK-NEXT:     loop.store %4, %out[%j, %l] : memref<20x16xf32>
// CHECK-NEXT:     loop.store %max, %all[%j] where [0 - %l] : memref<20xf32>
// CHECK-NEXT:   }
// CHECK-NEXT: } schedule "tileify{columns=true}"
loop.kernel @planned(%s: memref<20x20xf32>, %v: memref<20x16xf32>) -> (%out: memref<20x16xf32>, %all: memref<20xf32>) {
  loop.for %j in 20 {
    %max = loop.reduce %k in 20 with max {
      %0 = loop.load %s[%j, %k] : memref<20x20xf32>
      loop.yield %0 : f32
    } : f32
    loop.for %l in 16 {
      %sum = loop.reduce %k in 20 with add {
        %0 = loop.load %s[%j, %k] : memref<20x20xf32>
        %1 = loop.load %v[%k, %l] : memref<20x16xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      %0 = arith.subf %sum, %max : f32
      loop.store %0, %out[%j, %l] : memref<20x16xf32>
    }
    loop.store %max, %all[%j] : memref<20xf32>
  }
} planned "tileify{columns=true}"

// A row stays together if there is another loop beside it, or if it is contracted with nothing.
// CHECK-LABEL: @probabilities_too
// CHECK:         tile.launch (%j = block 20) {
loop.kernel @probabilities_too(%s: memref<20x20xf32>, %v: memref<20x16xf32>) -> (%out: memref<20x16xf32>, %p: memref<20x20xf32>) {
  loop.for %j in 20 {
    loop.for %k in 20 {
      %0 = loop.load %s[%j, %k] : memref<20x20xf32>
      %1 = math.exp %0 : f32
      loop.store %1, %p[%j, %k] : memref<20x20xf32>
    }
    loop.for %l in 16 {
      %sum = loop.reduce %k in 20 with add {
        %0 = loop.load %s[%j, %k] : memref<20x20xf32>
        %1 = loop.load %v[%k, %l] : memref<20x16xf32>
        %2 = arith.mulf %0, %1 : f32
        loop.yield %2 : f32
      } : f32
      loop.store %sum, %out[%j, %l] : memref<20x16xf32>
    }
  }
}

// CHECK-LABEL: @row_norm
// CHECK:         tile.launch (%i = block 9 row) {
// CHECK:           loop.for %j in 20 {
loop.kernel @row_norm(%x: memref<9x20xf32>) -> (%out: memref<9x20xf32>) {
  loop.for %i in 9 {
    %sum = loop.reduce %k in 20 with add {
      %0 = loop.load %x[%i, %k] : memref<9x20xf32>
      loop.yield %0 : f32
    } : f32
    loop.for %j in 20 {
      %0 = loop.load %x[%i, %j] : memref<9x20xf32>
      %1 = arith.divf %0, %sum : f32
      loop.store %1, %out[%i, %j] : memref<9x20xf32>
    }
  }
}
