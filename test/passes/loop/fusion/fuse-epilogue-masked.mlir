// RUN: opt-tool %s -p fuse-epilogue --check=each | filecheck %s
// RUN: opt-tool %s -p fuse-epilogue,cut-recompute --check=each | filecheck %s

// Each element is stored by one of two masked stores; both compute the reader.
// CHECK-LABEL: loop.kernel @exp_halves(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
// CHECK:         %1 = math.exp %0 : f32
// CHECK-NEXT:    loop.store %1, %out[%i] where [31 - %i] : memref<64xf32>
// CHECK-NEXT:    %2 = arith.negf %0 : f32
// CHECK-NEXT:    %3 = math.exp %2 : f32
// CHECK-NEXT:    loop.store %3, %out[%i] where [%i - 32] : memref<64xf32>
func.func @masked(%x: memref<64xf32>) -> memref<64xf32> {
  %h = memref.alloc() : memref<64xf32>
  %e = memref.alloc() : memref<64xf32>
  loop.launch @halves(%x) -> (%h) : (memref<64xf32>) -> (memref<64xf32>)
  loop.launch @exp(%h) -> (%e) : (memref<64xf32>) -> (memref<64xf32>)
  func.return %e : memref<64xf32>
}
loop.kernel @halves(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %0 = loop.load %x[%i] : memref<64xf32>
    loop.store %0, %out[%i] where [31 - %i] : memref<64xf32>
    %1 = arith.negf %0 : f32
    loop.store %1, %out[%i] where [%i - 32] : memref<64xf32>
  }
}
loop.kernel @exp(%h: memref<64xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %0 = loop.load %h[%i] : memref<64xf32>
    %1 = math.exp %0 : f32
    loop.store %1, %out[%i] : memref<64xf32>
  }
}

// The phases of 13 positions, of which the first is the second phase of a pair. Loads of the reader
// get the mask too, unless they are in bounds in each step.
// CHECK-LABEL: loop.kernel @interleaved_phases(%x: memref<5x7xf32>, %y: memref<5x13xf32>, %b: memref<5xf32>) -> (%out: memref<5x13xf32>) {
// CHECK-NEXT:    loop.for %i in 5, %q in 7, %r in 2 {
// CHECK:           loop.load %y[%i, %q * 2 + %r - 1] where [%q * 2 + %r - 1] : memref<5x13xf32>
// CHECK:           loop.load %b[%i] : memref<5xf32>
// CHECK:           loop.store %{{.*}}, %out[%i, %q * 2 + %r - 1] where [%q * 2 + %r - 1] : memref<5x13xf32>
func.func @phases_main(%x: memref<5x7xf32>, %y: memref<5x13xf32>, %b: memref<5xf32>) -> memref<5x13xf32> {
  %p = memref.alloc() : memref<5x7x2xf32>
  %o = memref.alloc() : memref<5x13xf32>
  loop.launch @phases(%x) -> (%p) : (memref<5x7xf32>) -> (memref<5x7x2xf32>)
  loop.launch @interleaved(%p, %y, %b) -> (%o) : (memref<5x7x2xf32>, memref<5x13xf32>, memref<5xf32>) -> (memref<5x13xf32>)
  func.return %o : memref<5x13xf32>
}
loop.kernel @phases(%x: memref<5x7xf32>) -> (%out: memref<5x7x2xf32>) {
  loop.for %i in 5, %q in 7, %r in 2 {
    %sum = loop.reduce %k in 3 with add {
      %0 = loop.load %x[%i, %q - %k] where [%q - %k] : memref<5x7xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %sum, %out[%i, %q, %r] : memref<5x7x2xf32>
  }
}
loop.kernel @interleaved(%p: memref<5x7x2xf32>, %y: memref<5x13xf32>, %b: memref<5xf32>) -> (%out: memref<5x13xf32>) {
  loop.for %i in 5, %j in 13 {
    %0 = loop.load %p[%i, (%j + 1) floordiv 2, (%j + 1) mod 2] : memref<5x7x2xf32>
    %1 = loop.load %y[%i, %j] : memref<5x13xf32>
    %2 = arith.addf %0, %1 : f32
    %3 = loop.load %b[%i] : memref<5xf32>
    %4 = arith.addf %2, %3 : f32
    loop.store %4, %out[%i, %j] : memref<5x13xf32>
  }
}

// The remainders of three do not fit the two elements of the last dimension.
// CHECK: loop.kernel @thirds
// CHECK: loop.kernel @read_thirds
func.func @thirds_main(%x: memref<7x2xf32>) -> memref<6xf32> {
  %p = memref.alloc() : memref<7x4xf32>
  %o = memref.alloc() : memref<6xf32>
  loop.launch @thirds(%x) -> (%p) : (memref<7x2xf32>) -> (memref<7x4xf32>)
  loop.launch @read_thirds(%p) -> (%o) : (memref<7x4xf32>) -> (memref<6xf32>)
  func.return %o : memref<6xf32>
}
loop.kernel @thirds(%x: memref<7x2xf32>) -> (%out: memref<7x4xf32>) {
  loop.for %q in 7, %r in 4 {
    %sum = loop.reduce %k in 2 with add {
      %0 = loop.load %x[%q, %k] : memref<7x2xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %sum, %out[%q, %r] : memref<7x4xf32>
  }
}
loop.kernel @read_thirds(%p: memref<7x4xf32>) -> (%out: memref<6xf32>) {
  loop.for %j in 6 {
    %0 = loop.load %p[%j floordiv 3, %j mod 3] : memref<7x4xf32>
    loop.store %0, %out[%j] : memref<6xf32>
  }
}
