// RUN: opt-tool %s -p fuse-epilogue{keep=true} --remarks 2>&1 | filecheck %s

// The phases are a result too, with a first element that is not read.
// CHECK: skipped at phases: interleaved reads some elements of a buffer that is kept
func.func @main(%x: memref<7xf32>) -> (memref<7x2xf32>, memref<13xf32>) {
  %p = memref.alloc() : memref<7x2xf32>
  %o = memref.alloc() : memref<13xf32>
  loop.launch @phases(%x) -> (%p) : (memref<7xf32>) -> (memref<7x2xf32>)
  loop.launch @interleaved(%p) -> (%o) : (memref<7x2xf32>) -> (memref<13xf32>)
  func.return %p, %o : memref<7x2xf32>, memref<13xf32>
}
loop.kernel @phases(%x: memref<7xf32>) -> (%out: memref<7x2xf32>) {
  loop.for %q in 7, %r in 2 {
    %sum = loop.reduce %k in 3 with add {
      %0 = loop.load %x[%q - %k] where [%q - %k] : memref<7xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %sum, %out[%q, %r] : memref<7x2xf32>
  }
}
loop.kernel @interleaved(%p: memref<7x2xf32>) -> (%out: memref<13xf32>) {
  loop.for %j in 13 {
    %0 = loop.load %p[(%j + 1) floordiv 2, (%j + 1) mod 2] : memref<7x2xf32>
    loop.store %0, %out[%j] : memref<13xf32>
  }
}
