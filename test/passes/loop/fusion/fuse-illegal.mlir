// RUN: opt-tool %s -p inline-elementwise --check=each | filecheck %s
// RUN: opt-tool %s -p fuse-epilogue --check=each | filecheck %s
// RUN: opt-tool %s -p fuse-reduction --check=each | filecheck %s
// RUN: opt-tool %s -p fuse-outputs --check=each | filecheck %s
// RUN: opt-tool %s -p fuse-epilogue{keep=true} --check=each | filecheck %s
// RUN: opt-tool %s -p fuse-reduction{keep=true} --check=each | filecheck %s
// RUN: opt-tool %s -p fuse-epilogue --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// REMARK: skipped at exp_o: %s, which it reads, may change in between

// Plans in which a producer must not move into its reader, in any pass.

// A kernel with two launches stays as the other launch needs it.
// CHECK:      func.func @launched_twice
// CHECK:        loop.launch @neg(%x) -> (%a)
// CHECK-NEXT:   loop.launch @neg(%y) -> (%b)
// CHECK-NEXT:   loop.launch @add(%a, %b) -> (%c)
// CHECK-NEXT:   loop.launch @add(%c, %c) -> (%d)
func.func @launched_twice(%x: memref<64xf32>, %y: memref<64xf32>) -> memref<64xf32> {
  %a = memref.alloc() : memref<64xf32>
  %b = memref.alloc() : memref<64xf32>
  %c = memref.alloc() : memref<64xf32>
  %d = memref.alloc() : memref<64xf32>
  loop.launch @neg(%x) -> (%a) : (memref<64xf32>) -> (memref<64xf32>)
  loop.launch @neg(%y) -> (%b) : (memref<64xf32>) -> (memref<64xf32>)
  loop.launch @add(%a, %b) -> (%c) : (memref<64xf32>, memref<64xf32>) -> (memref<64xf32>)
  loop.launch @add(%c, %c) -> (%d) : (memref<64xf32>, memref<64xf32>) -> (memref<64xf32>)
  func.return %d : memref<64xf32>
}

// A buffer that is written twice: the value that is read depends on the time.
// CHECK:      func.func @written_twice
// CHECK:        loop.launch @neg_t(%x) -> (%t)
// CHECK-NEXT:   loop.launch @exp_t(%t) -> (%c)
// CHECK-NEXT:   loop.launch @sum_t(%y) -> (%t)
// CHECK-NEXT:   loop.launch @sin_t(%t) -> (%d)
func.func @written_twice(%x: memref<64xf32>, %y: memref<64x8xf32>)
    -> (memref<64xf32>, memref<64xf32>) {
  %t = memref.alloc() : memref<64xf32>
  %c = memref.alloc() : memref<64xf32>
  %d = memref.alloc() : memref<64xf32>
  loop.launch @neg_t(%x) -> (%t) : (memref<64xf32>) -> (memref<64xf32>)
  loop.launch @exp_t(%t) -> (%c) : (memref<64xf32>) -> (memref<64xf32>)
  loop.launch @sum_t(%y) -> (%t) : (memref<64x8xf32>) -> (memref<64xf32>)
  loop.launch @sin_t(%t) -> (%d) : (memref<64xf32>) -> (memref<64xf32>)
  func.return %c, %d : memref<64xf32>, memref<64xf32>
}

// The input of the producer is overwritten before the reader runs.
// CHECK:      func.func @overwritten
// CHECK:        loop.launch @neg_o(%x) -> (%s)
// CHECK-NEXT:   loop.launch @exp_o(%s) -> (%t)
// CHECK-NEXT:   loop.launch @cos_o(%y) -> (%s)
// CHECK-NEXT:   loop.launch @sin_o(%t) -> (%d)
func.func @overwritten(%x: memref<64xf32>, %y: memref<64xf32>) -> (memref<64xf32>, memref<64xf32>) {
  %s = memref.alloc() : memref<64xf32>
  %t = memref.alloc() : memref<64xf32>
  %d = memref.alloc() : memref<64xf32>
  loop.launch @neg_o(%x) -> (%s) : (memref<64xf32>) -> (memref<64xf32>)
  loop.launch @exp_o(%s) -> (%t) : (memref<64xf32>) -> (memref<64xf32>)
  loop.launch @cos_o(%y) -> (%s) : (memref<64xf32>) -> (memref<64xf32>)
  loop.launch @sin_o(%t) -> (%d) : (memref<64xf32>) -> (memref<64xf32>)
  func.return %s, %d : memref<64xf32>, memref<64xf32>
}

loop.kernel @add(%x: memref<64xf32>, %y: memref<64xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %0 = loop.load %x[%i] : memref<64xf32>
    %1 = loop.load %y[%i] : memref<64xf32>
    %2 = arith.addf %0, %1 : f32
    loop.store %2, %out[%i] : memref<64xf32>
  }
}
loop.kernel @sum_t(%x: memref<64x8xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %s = loop.reduce %k in 8 with add {
      %0 = loop.load %x[%i, %k] : memref<64x8xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%i] : memref<64xf32>
  }
}
loop.kernel @neg(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %0 = loop.load %x[%i] : memref<64xf32>
    %1 = arith.negf %0 : f32
    loop.store %1, %out[%i] : memref<64xf32>
  }
}
loop.kernel @neg_t(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %0 = loop.load %x[%i] : memref<64xf32>
    %1 = arith.negf %0 : f32
    loop.store %1, %out[%i] : memref<64xf32>
  }
}
loop.kernel @exp_t(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %0 = loop.load %x[%i] : memref<64xf32>
    %1 = math.exp %0 : f32
    loop.store %1, %out[%i] : memref<64xf32>
  }
}
loop.kernel @sin_t(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %0 = loop.load %x[%i] : memref<64xf32>
    %1 = math.sin %0 : f32
    loop.store %1, %out[%i] : memref<64xf32>
  }
}
loop.kernel @neg_o(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %0 = loop.load %x[%i] : memref<64xf32>
    %1 = arith.negf %0 : f32
    loop.store %1, %out[%i] : memref<64xf32>
  }
}
loop.kernel @exp_o(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %0 = loop.load %x[%i] : memref<64xf32>
    %1 = math.exp %0 : f32
    loop.store %1, %out[%i] : memref<64xf32>
  }
}
loop.kernel @cos_o(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %0 = loop.load %x[%i] : memref<64xf32>
    %1 = math.cos %0 : f32
    loop.store %1, %out[%i] : memref<64xf32>
  }
}
loop.kernel @sin_o(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %0 = loop.load %x[%i] : memref<64xf32>
    %1 = math.sin %0 : f32
    loop.store %1, %out[%i] : memref<64xf32>
  }
}

// The reader overwrites another output of the producer: one launch cannot write it twice.
// CHECK:      func.func @written_anew
// CHECK:        loop.launch @neg_and_exp(%x) -> (%s, %t)
// CHECK-NEXT:   loop.launch @cos_t(%t) -> (%s)
func.func @written_anew(%x: memref<64xf32>) -> memref<64xf32> {
  %s = memref.alloc() : memref<64xf32>
  %t = memref.alloc() : memref<64xf32>
  loop.launch @neg_and_exp(%x) -> (%s, %t) : (memref<64xf32>) -> (memref<64xf32>, memref<64xf32>)
  loop.launch @cos_t(%t) -> (%s) : (memref<64xf32>) -> (memref<64xf32>)
  func.return %s : memref<64xf32>
}
loop.kernel @neg_and_exp(%x: memref<64xf32>) -> (%out: memref<64xf32>, %out_1: memref<64xf32>) {
  loop.for %i in 64 {
    %0 = loop.load %x[%i] : memref<64xf32>
    %1 = arith.negf %0 : f32
    loop.store %1, %out[%i] : memref<64xf32>
    %2 = math.exp %0 : f32
    loop.store %2, %out_1[%i] : memref<64xf32>
  }
}
loop.kernel @cos_t(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %0 = loop.load %x[%i] : memref<64xf32>
    %1 = math.cos %0 : f32
    loop.store %1, %out[%i] : memref<64xf32>
  }
}
