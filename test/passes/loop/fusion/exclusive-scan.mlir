// RUN: opt-tool %s -p exclusive-scan --check=each | filecheck %s
// RUN: opt-tool %s -p exclusive-scan,fuse-epilogue | filecheck %s --check-prefix FUSED

// A column of zeros, and the sums of the columns before. The last step needs no element of %x.
// CHECK:      %cumsum = memref.alloc() : memref<37x41xf32>
// CHECK-NEXT: loop.launch @cumsum(%x) -> (%cumsum)
// CHECK:      loop.launch @cat(%cumsum) -> (%cat)
func.func public @main(%x: memref<37x40xf32>) -> memref<37x41xf32> {
  %cumsum = memref.alloc() : memref<37x40xf32>
  loop.launch @cumsum(%x) -> (%cumsum) : (memref<37x40xf32>) -> (memref<37x40xf32>)
  %cat = memref.alloc() : memref<37x41xf32>
  loop.launch @cat(%cumsum) -> (%cat) : (memref<37x40xf32>) -> (memref<37x41xf32>)
  func.return %cat : memref<37x41xf32>
}
// CHECK-LABEL: loop.kernel @cumsum(%x: memref<37x40xf32>) -> (%out: memref<37x41xf32>) {
// CHECK-NEXT: loop.for %i in 37 {
// CHECK-NEXT:   loop.scan %k in 41 {
// CHECK-NEXT:     %0 = loop.load %x[%i, %k] where [39 - %k] : memref<37x40xf32>
// CHECK-NEXT:     %sum = loop.prefix %0 with add exclusive : f32
// CHECK-NEXT:     loop.store %sum, %out[%i, %k] : memref<37x41xf32>
loop.kernel @cumsum(%x: memref<37x40xf32>) -> (%out: memref<37x40xf32>) {
  loop.for %i in 37 {
    loop.scan %k in 40 {
      %0 = loop.load %x[%i, %k] : memref<37x40xf32>
      %sum = loop.prefix %0 with add : f32
      loop.store %sum, %out[%i, %k] : memref<37x40xf32>
    }
  }
}
// CHECK-LABEL: loop.kernel @cat(%cumsum: memref<37x41xf32>) -> (%out: memref<37x41xf32>) {
// CHECK-NEXT: loop.for %i in 37, %j in 41 {
// CHECK-NEXT:   %0 = loop.load %cumsum[%i, %j] : memref<37x41xf32>
// CHECK-NEXT:   %1 = arith.negf %0 : f32
// FUSED-COUNT-1: loop.launch
// FUSED-NOT:     loop.launch
// FUSED:         %sum = loop.prefix %0 with add exclusive : f32
// FUSED-NEXT:    %1 = arith.negf %sum : f32
// FUSED-NEXT:    loop.store %1, %out[%i, %k] : memref<37x41xf32>
loop.kernel @cat(%cumsum: memref<37x40xf32>) -> (%out: memref<37x41xf32>) {
  loop.for %i in 37, %j in 41 {
    %0 = loop.load %cumsum[%i, %j - 1] where [%j - 1] : memref<37x40xf32>
    %1 = arith.negf %0 : f32
    loop.store %1, %out[%i, %j] : memref<37x41xf32>
  }
}
