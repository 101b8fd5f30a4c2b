// RUN: opt-tool %s -p inline-elementwise --check=each | filecheck %s
// RUN: opt-tool %s -p inline-elementwise --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// The input of the producer is overwritten after the reader: that does not prevent inlining.
// CHECK:      func.func @overwritten_later
// CHECK-NEXT:   %d = memref.alloc()
// CHECK-NEXT:   loop.launch @sin_exp(%s) -> (%d)
// CHECK-NEXT:   loop.launch @cos(%y) -> (%s)
func.func @overwritten_later(%s: memref<64xf32>, %y: memref<64xf32>) -> memref<64xf32> {
  %t = memref.alloc() : memref<64xf32>
  %d = memref.alloc() : memref<64xf32>
  loop.launch @exp(%s) -> (%t) : (memref<64xf32>) -> (memref<64xf32>)
  loop.launch @sin(%t) -> (%d) : (memref<64xf32>) -> (memref<64xf32>)
  loop.launch @cos(%y) -> (%s) : (memref<64xf32>) -> (memref<64xf32>)
  func.return %d : memref<64xf32>
}

// The reader itself overwrites it.
// CHECK:      func.func @overwritten_by_the_reader
// CHECK:        loop.launch @exp_r(%s) -> (%t)
// CHECK-NEXT:   loop.launch @flip_r(%t) -> (%s)
// REMARK: skipped at exp_r: %s, which it reads, may change in between
func.func @overwritten_by_the_reader(%s: memref<64xf32>) {
  %t = memref.alloc() : memref<64xf32>
  loop.launch @exp_r(%s) -> (%t) : (memref<64xf32>) -> (memref<64xf32>)
  loop.launch @flip_r(%t) -> (%s) : (memref<64xf32>) -> (memref<64xf32>)
  func.return
}

// A function that is called in between may overwrite it.
// CHECK:      func.func @called
// CHECK:        loop.launch @exp_c(%s) -> (%t)
// CHECK-NEXT:   func.call @overwritten_by_the_reader(%s)
// CHECK-NEXT:   loop.launch @sin_c(%t) -> (%d)
// REMARK: skipped at exp_c: %s, which it reads, may change in between
func.func @called(%s: memref<64xf32>) -> memref<64xf32> {
  %t = memref.alloc() : memref<64xf32>
  %d = memref.alloc() : memref<64xf32>
  loop.launch @exp_c(%s) -> (%t) : (memref<64xf32>) -> (memref<64xf32>)
  func.call @overwritten_by_the_reader(%s) : (memref<64xf32>) -> ()
  loop.launch @sin_c(%t) -> (%d) : (memref<64xf32>) -> (memref<64xf32>)
  func.return %d : memref<64xf32>
}

loop.kernel @exp(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %0 = loop.load %x[%i] : memref<64xf32>
    %1 = math.exp %0 : f32
    loop.store %1, %out[%i] : memref<64xf32>
  }
}
loop.kernel @exp_r(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %0 = loop.load %x[%i] : memref<64xf32>
    %1 = math.exp %0 : f32
    loop.store %1, %out[%i] : memref<64xf32>
  }
}
loop.kernel @exp_c(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %0 = loop.load %x[%i] : memref<64xf32>
    %1 = math.exp %0 : f32
    loop.store %1, %out[%i] : memref<64xf32>
  }
}
loop.kernel @sin(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %0 = loop.load %x[%i] : memref<64xf32>
    %1 = math.sin %0 : f32
    loop.store %1, %out[%i] : memref<64xf32>
  }
}
loop.kernel @sin_c(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %0 = loop.load %x[%i] : memref<64xf32>
    %1 = math.sin %0 : f32
    loop.store %1, %out[%i] : memref<64xf32>
  }
}
loop.kernel @cos(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %0 = loop.load %x[%i] : memref<64xf32>
    %1 = math.cos %0 : f32
    loop.store %1, %out[%i] : memref<64xf32>
  }
}
loop.kernel @flip_r(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %0 = loop.load %x[63 - %i] : memref<64xf32>
    loop.store %0, %out[%i] : memref<64xf32>
  }
}
