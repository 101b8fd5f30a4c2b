// RUN: opt-tool %s -p inline-elementwise --remarks 2>&1 | filecheck %s --check-prefix=INLINE
// RUN: opt-tool %s -p fuse-epilogue --remarks 2>&1 | filecheck %s --check-prefix=EPILOGUE
// RUN: opt-tool %s -p fuse-reduction{keep=true} --remarks 2>&1 | filecheck %s --check-prefix=REDUCTION
// RUN: opt-tool %s -p fuse-outputs --remarks 2>&1 | filecheck %s --check-prefix=OUTPUTS

// The reasons why producers and readers stay apart.

// Only one of the two stores of an element happens.
// EPILOGUE: skipped at halves: looked_up has values as indices, and its input is stored under a mask
func.func @masked(%x: memref<64xf32>, %at: memref<64xi64>) -> memref<64xf32> {
  %h = memref.alloc() : memref<64xf32>
  %e = memref.alloc() : memref<64xf32>
  loop.launch @halves(%x) -> (%h) : (memref<64xf32>) -> (memref<64xf32>)
  loop.launch @looked_up(%h, %x, %at) -> (%e) : (memref<64xf32>, memref<64xf32>, memref<64xi64>) -> (memref<64xf32>)
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
loop.kernel @looked_up(%h: memref<64xf32>, %x: memref<64xf32>, %at: memref<64xi64>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %0 = loop.load %h[%i] : memref<64xf32>
    %1 = loop.load %at[%i] : memref<64xi64>
    %2 = loop.to_index %1 below 64 : i64
    %3 = loop.load %x[%2] : memref<64xf32>
    %4 = arith.addf %0, %3 : f32
    loop.store %4, %out[%i] : memref<64xf32>
  }
}

// The reader already has a schedule.
// INLINE: skipped at neg: neg_threads is not a loop.kernel
func.func @scheduled(%x: memref<64xf32>) -> memref<64xf32> {
  %n = memref.alloc() : memref<64xf32>
  %e = memref.alloc() : memref<64xf32>
  loop.launch @neg(%x) -> (%n) : (memref<64xf32>) -> (memref<64xf32>)
  loop.launch @neg_threads(%n) -> (%e) : (memref<64xf32>) -> (memref<64xf32>)
  func.return %e : memref<64xf32>
}
loop.kernel @neg(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  loop.for %i in 64 {
    %0 = loop.load %x[%i] : memref<64xf32>
    %1 = arith.negf %0 : f32
    loop.store %1, %out[%i] : memref<64xf32>
  }
}
kernel.func grid 1 block 64 @neg_threads(%n: memref<64xf32>) -> (%out: memref<64xf32>) {
  %t = kernel.thread_id
  %0 = loop.load %n[%t] : memref<64xf32>
  %1 = arith.negf %0 : f32
  loop.store %1, %out[%t] : memref<64xf32>
}

// Each sum is read in two steps, so that two threads would write it.
// REDUCTION: skipped at sums: others need it too, but pairs does not read each element once
func.func @pairs_of_steps(%x: memref<5x9xf32>) -> (memref<5xf32>, memref<10xf32>) {
  %s = memref.alloc() : memref<5xf32>
  %p = memref.alloc() : memref<10xf32>
  loop.launch @sums(%x) -> (%s) : (memref<5x9xf32>) -> (memref<5xf32>)
  loop.launch @pairs(%s) -> (%p) : (memref<5xf32>) -> (memref<10xf32>)
  func.return %s, %p : memref<5xf32>, memref<10xf32>
}
loop.kernel @sums(%x: memref<5x9xf32>) -> (%out: memref<5xf32>) {
  loop.for %i in 5 {
    %s = loop.reduce %k in 9 with add {
      %0 = loop.load %x[%i, %k] : memref<5x9xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%i] : memref<5xf32>
  }
}
loop.kernel @pairs(%s: memref<5xf32>) -> (%out: memref<10xf32>) {
  loop.for %i in 10 {
    %0 = loop.load %s[%i floordiv 2] : memref<5xf32>
    loop.store %0, %out[%i] : memref<10xf32>
  }
}

// The reader already has four outputs, without the sum that others need.
// REDUCTION: skipped at total: four would need more than 4 outputs
func.func @fifth_sum(%x: memref<5x9xf32>) -> (memref<5xf32>, memref<5xf32>) {
  %s = memref.alloc() : memref<5xf32>
  %a = memref.alloc() : memref<5xf32>
  %b = memref.alloc() : memref<5xf32>
  %c = memref.alloc() : memref<5xf32>
  %d = memref.alloc() : memref<5xf32>
  loop.launch @total(%x) -> (%s) : (memref<5x9xf32>) -> (memref<5xf32>)
  loop.launch @four(%s) -> (%a, %b, %c, %d) : (memref<5xf32>) -> (memref<5xf32>, memref<5xf32>, memref<5xf32>, memref<5xf32>)
  func.return %s, %a : memref<5xf32>, memref<5xf32>
}
loop.kernel @total(%x: memref<5x9xf32>) -> (%out: memref<5xf32>) {
  loop.for %i in 5 {
    %s = loop.reduce %k in 9 with add {
      %0 = loop.load %x[%i, %k] : memref<5x9xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%i] : memref<5xf32>
  }
}
loop.kernel @four(%s: memref<5xf32>) -> (%a: memref<5xf32>, %b: memref<5xf32>, %c: memref<5xf32>, %d: memref<5xf32>) {
  loop.for %i in 5 {
    %0 = loop.load %s[%i] : memref<5xf32>
    loop.store %0, %a[%i] : memref<5xf32>
    loop.store %0, %b[%i] : memref<5xf32>
    loop.store %0, %c[%i] : memref<5xf32>
    loop.store %0, %d[%i] : memref<5xf32>
  }
}

// The same for a value that is no sum.
// OUTPUTS: skipped at double: four_more would need more than 4 outputs
func.func @fifth_value(%x: memref<5xf32>) -> (memref<5xf32>, memref<5xf32>) {
  %s = memref.alloc() : memref<5xf32>
  %a = memref.alloc() : memref<5xf32>
  %b = memref.alloc() : memref<5xf32>
  %c = memref.alloc() : memref<5xf32>
  %d = memref.alloc() : memref<5xf32>
  loop.launch @double(%x) -> (%s) : (memref<5xf32>) -> (memref<5xf32>)
  loop.launch @four_more(%s) -> (%a, %b, %c, %d) : (memref<5xf32>) -> (memref<5xf32>, memref<5xf32>, memref<5xf32>, memref<5xf32>)
  func.return %s, %a : memref<5xf32>, memref<5xf32>
}
loop.kernel @double(%x: memref<5xf32>) -> (%out: memref<5xf32>) {
  loop.for %i in 5 {
    %0 = loop.load %x[%i] : memref<5xf32>
    %1 = arith.addf %0, %0 : f32
    loop.store %1, %out[%i] : memref<5xf32>
  }
}
loop.kernel @four_more(%s: memref<5xf32>) -> (%a: memref<5xf32>, %b: memref<5xf32>, %c: memref<5xf32>, %d: memref<5xf32>) {
  loop.for %i in 5 {
    %0 = loop.load %s[%i] : memref<5xf32>
    loop.store %0, %a[%i] : memref<5xf32>
    loop.store %0, %b[%i] : memref<5xf32>
    loop.store %0, %c[%i] : memref<5xf32>
    loop.store %0, %d[%i] : memref<5xf32>
  }
}
