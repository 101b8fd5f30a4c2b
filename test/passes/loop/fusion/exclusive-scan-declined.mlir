// RUN: opt-tool %s -p exclusive-scan --remarks 2>&1 | filecheck %s
// RUN: opt-tool %s -p exclusive-scan | filecheck %s --check-prefix=SAME

// SAME-NOT: exclusive

// CHECK: skipped at cumsum: two does not read it one step late
func.func @shifted_by_two(%x: memref<37x40xf32>) -> memref<37x42xf32> {
  %cumsum = memref.alloc() : memref<37x40xf32>
  loop.launch @cumsum(%x) -> (%cumsum) : (memref<37x40xf32>) -> (memref<37x40xf32>)
  %two = memref.alloc() : memref<37x42xf32>
  loop.launch @two(%cumsum) -> (%two) : (memref<37x40xf32>) -> (memref<37x42xf32>)
  func.return %two : memref<37x42xf32>
}
loop.kernel @two(%cumsum: memref<37x40xf32>) -> (%out: memref<37x42xf32>) {
  loop.for %i in 37, %j in 42 {
    %0 = loop.load %cumsum[%i, %j - 2] where [%j - 2] : memref<37x40xf32>
    loop.store %0, %out[%i, %j] : memref<37x42xf32>
  }
}

// The sums themselves are a result too.
// CHECK: skipped at cumsum: its prefixes have several readers, or are a result
func.func @returned(%x: memref<37x40xf32>) -> (memref<37x40xf32>, memref<37x41xf32>) {
  %cumsum = memref.alloc() : memref<37x40xf32>
  loop.launch @cumsum(%x) -> (%cumsum) : (memref<37x40xf32>) -> (memref<37x40xf32>)
  %cat = memref.alloc() : memref<37x41xf32>
  loop.launch @cat(%cumsum) -> (%cat) : (memref<37x40xf32>) -> (memref<37x41xf32>)
  func.return %cumsum, %cat : memref<37x40xf32>, memref<37x41xf32>
}
loop.kernel @cat(%cumsum: memref<37x40xf32>) -> (%out: memref<37x41xf32>) {
  loop.for %i in 37, %j in 41 {
    %0 = loop.load %cumsum[%i, %j - 1] where [%j - 1] : memref<37x40xf32>
    loop.store %0, %out[%i, %j] : memref<37x41xf32>
  }
}

// CHECK: skipped at cumsum: its reader is not one elementwise kernel
func.func @summed(%x: memref<37x40xf32>) -> memref<37xf32> {
  %cumsum = memref.alloc() : memref<37x40xf32>
  loop.launch @cumsum(%x) -> (%cumsum) : (memref<37x40xf32>) -> (memref<37x40xf32>)
  %sum = memref.alloc() : memref<37xf32>
  loop.launch @sum(%cumsum) -> (%sum) : (memref<37x40xf32>) -> (memref<37xf32>)
  func.return %sum : memref<37xf32>
}
loop.kernel @sum(%cumsum: memref<37x40xf32>) -> (%out: memref<37xf32>) {
  loop.for %i in 37 {
    %0 = loop.reduce %j in 41 with add {
      %1 = loop.load %cumsum[%i, %j - 1] where [%j - 1] : memref<37x40xf32>
      loop.yield %1 : f32
    } : f32
    loop.store %0, %out[%i] : memref<37xf32>
  }
}

loop.kernel @cumsum(%x: memref<37x40xf32>) -> (%out: memref<37x40xf32>) {
  loop.for %i in 37 {
    loop.scan %k in 40 {
      %0 = loop.load %x[%i, %k] : memref<37x40xf32>
      %sum = loop.prefix %0 with add : f32
      loop.store %sum, %out[%i, %k] : memref<37x40xf32>
    }
  }
}
