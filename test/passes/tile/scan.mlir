// RUN: opt-tool %s -p tileify,cooperative-reduce,blockify-launch --check=each | filecheck %s
// RUN: opt-tool %s -p tileify,cooperative-reduce,blockify-launch --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// REMARK:     skipped at cumsum: the steps of its scan depend on each other: one thread does a row
// REMARK:     skipped at whole: the steps of its scan depend on each other: one thread does a row

// Each thread scans a whole row, however long.
// CHECK:      loop.kernel @cumsum(%x: memref<1000x300xf32>) -> (%out: memref<1000x300xf32>) {
// CHECK-NEXT:   tile.launch (%b = block 4, %t = thread 256) {
// CHECK-NEXT:     loop.scan %k in 300 {
// CHECK-NEXT:       %0 = loop.load %x[%b * 256 + %t, %k] where [999 - %b * 256 - %t] : memref<1000x300xf32>
// CHECK-NEXT:       %s = loop.prefix %0 with add : f32
// CHECK-NEXT:       loop.store %s, %out[%b * 256 + %t, %k] where [999 - %b * 256 - %t] : memref<1000x300xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
loop.kernel @cumsum(%x: memref<1000x300xf32>) -> (%out: memref<1000x300xf32>) {
  loop.for %i in 1000 {
    loop.scan %k in 300 {
      %0 = loop.load %x[%i, %k] : memref<1000x300xf32>
      %s = loop.prefix %0 with add : f32
      loop.store %s, %out[%i, %k] : memref<1000x300xf32>
    }
  }
}

// One thread scans a single row.
// CHECK:      loop.kernel @whole(%x: memref<300xf32>) -> (%out: memref<300xf32>) {
// CHECK-NEXT:   tile.launch () {
// CHECK-NEXT:     loop.scan %k in 300 {
// CHECK-NEXT:       %0 = loop.load %x[%k] : memref<300xf32>
// CHECK-NEXT:       %s = loop.prefix %0 with max : f32
// CHECK-NEXT:       loop.store %s, %out[%k] : memref<300xf32>
// CHECK-NEXT:     }
// CHECK-NEXT:   }
loop.kernel @whole(%x: memref<300xf32>) -> (%out: memref<300xf32>) {
  loop.scan %k in 300 {
    %0 = loop.load %x[%k] : memref<300xf32>
    %s = loop.prefix %0 with max : f32
    loop.store %s, %out[%k] : memref<300xf32>
  }
}
