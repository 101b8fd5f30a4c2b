// RUN: opt-tool %s -p fuse-scores --remarks 2>&1 | filecheck %s
// RUN: opt-tool %s -p 'decide-fusion{apart="fuse-scores:apart_scores>apart_product"},fuse-scores' --remarks 2>&1 | filecheck %s --check-prefix=APART
// RUN: opt-tool %s -p fuse-scores | filecheck %s --check-prefix=VALUES

// The reasons why scores are stored.

// More columns than one block owns: two blocks would compute each score.
// CHECK: skipped at wide_scores: compute each score 2 times for 1024 columns: {{.*}} us against {{.*}} us apart
func.func @wide(%v: memref<2x4096x1024xf32>, %q: memref<2x4096x256xf32>, %keys: memref<2x4096x256xf32>) -> memref<2x4096x1024xf32> {
  %s = memref.alloc() : memref<2x4096x4096xf32>
  loop.launch @wide_scores(%q, %keys) -> (%s) : (memref<2x4096x256xf32>, memref<2x4096x256xf32>) -> (memref<2x4096x4096xf32>)
  %out = memref.alloc() : memref<2x4096x1024xf32>
  loop.launch @wide_product(%s, %v) -> (%out) : (memref<2x4096x4096xf32>, memref<2x4096x1024xf32>) -> (memref<2x4096x1024xf32>)
  func.return %out : memref<2x4096x1024xf32>
}
loop.kernel @wide_scores(%q: memref<2x4096x256xf32>, %keys: memref<2x4096x256xf32>) -> (%out: memref<2x4096x4096xf32>) {
  loop.for %h in 2, %i in 4096, %k in 4096 {
    %dot = loop.reduce %d in 256 with add {
      %0 = loop.load %q[%h, %i, %d] : memref<2x4096x256xf32>
      %1 = loop.load %keys[%h, %k, %d] : memref<2x4096x256xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    %scale = arith.constant 0.125 : f32
    %score = arith.mulf %dot, %scale : f32
    loop.store %score, %out[%h, %i, %k] : memref<2x4096x4096xf32>
  }
}
loop.kernel @wide_product(%s: memref<2x4096x4096xf32>, %v: memref<2x4096x1024xf32>) -> (%out: memref<2x4096x1024xf32>) {
  loop.for %h in 2, %i in 4096, %e in 1024 {
    %largest, %sum, %product = loop.reduce %k in 4096 with softmax {
      %x = loop.load %s[%h, %i, %k] : memref<2x4096x4096xf32>
      %one = arith.constant 1.0 : f32
      %g = loop.load %v[%h, %k, %e] : memref<2x4096x1024xf32>
      loop.yield %x, %one, %g : f32, f32, f32
    } : f32, f32, f32
    %0 = arith.divf %product, %sum : f32
    loop.store %0, %out[%h, %i, %e] : memref<2x4096x1024xf32>
  }
}

// A subscript that is not an axis.
// CHECK: skipped at reversed_scores: reversed_product does not read a score of its own in each step
func.func @reversed(%v: memref<2x33x7xf32>, %q: memref<2x5x8xf32>, %keys: memref<2x33x8xf32>) -> memref<2x5x7xf32> {
  %s = memref.alloc() : memref<2x5x33xf32>
  loop.launch @reversed_scores(%q, %keys) -> (%s) : (memref<2x5x8xf32>, memref<2x33x8xf32>) -> (memref<2x5x33xf32>)
  %out = memref.alloc() : memref<2x5x7xf32>
  loop.launch @reversed_product(%s, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>)
  func.return %out : memref<2x5x7xf32>
}
loop.kernel @reversed_scores(%q: memref<2x5x8xf32>, %keys: memref<2x33x8xf32>) -> (%out: memref<2x5x33xf32>) {
  loop.for %h in 2, %i in 5, %k in 33 {
    %dot = loop.reduce %d in 8 with add {
      %0 = loop.load %q[%h, %i, %d] : memref<2x5x8xf32>
      %1 = loop.load %keys[%h, %k, %d] : memref<2x33x8xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    %scale = arith.constant 0.125 : f32
    %score = arith.mulf %dot, %scale : f32
    loop.store %score, %out[%h, %i, %k] : memref<2x5x33xf32>
  }
}
loop.kernel @reversed_product(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> (%out: memref<2x5x7xf32>) {
  loop.for %h in 2, %i in 5, %e in 7 {
    %largest, %sum, %product = loop.reduce %k in 33 with softmax {
      %x = loop.load %s[%h, %i, 32 - %k] : memref<2x5x33xf32>
      %one = arith.constant 1.0 : f32
      %g = loop.load %v[%h, %k, %e] : memref<2x33x7xf32>
      loop.yield %x, %one, %g : f32, f32, f32
    } : f32, f32, f32
    %0 = arith.divf %product, %sum : f32
    loop.store %0, %out[%h, %i, %e] : memref<2x5x7xf32>
  }
}

// Two loads of the scores.
// CHECK: skipped at twice_scores: twice_product reads scores several times, or under a mask
func.func @twice(%v: memref<2x33x7xf32>, %q: memref<2x5x8xf32>, %keys: memref<2x33x8xf32>) -> memref<2x5x7xf32> {
  %s = memref.alloc() : memref<2x5x33xf32>
  loop.launch @twice_scores(%q, %keys) -> (%s) : (memref<2x5x8xf32>, memref<2x33x8xf32>) -> (memref<2x5x33xf32>)
  %out = memref.alloc() : memref<2x5x7xf32>
  loop.launch @twice_product(%s, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>)
  func.return %out : memref<2x5x7xf32>
}
loop.kernel @twice_scores(%q: memref<2x5x8xf32>, %keys: memref<2x33x8xf32>) -> (%out: memref<2x5x33xf32>) {
  loop.for %h in 2, %i in 5, %k in 33 {
    %dot = loop.reduce %d in 8 with add {
      %0 = loop.load %q[%h, %i, %d] : memref<2x5x8xf32>
      %1 = loop.load %keys[%h, %k, %d] : memref<2x33x8xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    %scale = arith.constant 0.125 : f32
    %score = arith.mulf %dot, %scale : f32
    loop.store %score, %out[%h, %i, %k] : memref<2x5x33xf32>
  }
}
loop.kernel @twice_product(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> (%out: memref<2x5x7xf32>) {
  loop.for %h in 2, %i in 5, %e in 7 {
    %largest, %sum, %product = loop.reduce %k in 33 with softmax {
      %y = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
      %z = loop.load %s[%h, 0, %k] : memref<2x5x33xf32>
      %x = arith.addf %y, %z : f32
      %one = arith.constant 1.0 : f32
      %g = loop.load %v[%h, %k, %e] : memref<2x33x7xf32>
      loop.yield %x, %one, %g : f32, f32, f32
    } : f32, f32, f32
    %0 = arith.divf %product, %sum : f32
    loop.store %0, %out[%h, %i, %e] : memref<2x5x7xf32>
  }
}

// A mask of the load.
// CHECK: skipped at masked_scores: masked_product reads scores several times, or under a mask
func.func @masked(%v: memref<2x33x7xf32>, %q: memref<2x5x8xf32>, %keys: memref<2x33x8xf32>) -> memref<2x5x7xf32> {
  %s = memref.alloc() : memref<2x5x33xf32>
  loop.launch @masked_scores(%q, %keys) -> (%s) : (memref<2x5x8xf32>, memref<2x33x8xf32>) -> (memref<2x5x33xf32>)
  %out = memref.alloc() : memref<2x5x7xf32>
  loop.launch @masked_product(%s, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>)
  func.return %out : memref<2x5x7xf32>
}
loop.kernel @masked_scores(%q: memref<2x5x8xf32>, %keys: memref<2x33x8xf32>) -> (%out: memref<2x5x33xf32>) {
  loop.for %h in 2, %i in 5, %k in 33 {
    %dot = loop.reduce %d in 8 with add {
      %0 = loop.load %q[%h, %i, %d] : memref<2x5x8xf32>
      %1 = loop.load %keys[%h, %k, %d] : memref<2x33x8xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    %scale = arith.constant 0.125 : f32
    %score = arith.mulf %dot, %scale : f32
    loop.store %score, %out[%h, %i, %k] : memref<2x5x33xf32>
  }
}
loop.kernel @masked_product(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> (%out: memref<2x5x7xf32>) {
  loop.for %h in 2, %i in 5, %e in 7 {
    %largest, %sum, %product = loop.reduce %k in 33 with softmax {
      %x = loop.load %s[%h, %i, %k] where [%i - %k] : memref<2x5x33xf32>
      %one = arith.constant 1.0 : f32
      %g = loop.load %v[%h, %k, %e] : memref<2x33x7xf32>
      loop.yield %x, %one, %g : f32, f32, f32
    } : f32, f32, f32
    %0 = arith.divf %product, %sum : f32
    loop.store %0, %out[%h, %i, %e] : memref<2x5x7xf32>
  }
}

// As the module prescribes.
// APART: skipped at apart_scores: as requested, compute each score once for 7 columns
func.func @apart(%v: memref<2x33x7xf32>, %q: memref<2x5x8xf32>, %keys: memref<2x33x8xf32>) -> memref<2x5x7xf32> {
  %s = memref.alloc() : memref<2x5x33xf32>
  loop.launch @apart_scores(%q, %keys) -> (%s) : (memref<2x5x8xf32>, memref<2x33x8xf32>) -> (memref<2x5x33xf32>)
  %out = memref.alloc() : memref<2x5x7xf32>
  loop.launch @apart_product(%s, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>)
  func.return %out : memref<2x5x7xf32>
}
loop.kernel @apart_scores(%q: memref<2x5x8xf32>, %keys: memref<2x33x8xf32>) -> (%out: memref<2x5x33xf32>) {
  loop.for %h in 2, %i in 5, %k in 33 {
    %dot = loop.reduce %d in 8 with add {
      %0 = loop.load %q[%h, %i, %d] : memref<2x5x8xf32>
      %1 = loop.load %keys[%h, %k, %d] : memref<2x33x8xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    %scale = arith.constant 0.125 : f32
    %score = arith.mulf %dot, %scale : f32
    loop.store %score, %out[%h, %i, %k] : memref<2x5x33xf32>
  }
}
loop.kernel @apart_product(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> (%out: memref<2x5x7xf32>) {
  loop.for %h in 2, %i in 5, %e in 7 {
    %largest, %sum, %product = loop.reduce %k in 33 with softmax {
      %x = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
      %one = arith.constant 1.0 : f32
      %g = loop.load %v[%h, %k, %e] : memref<2x33x7xf32>
      loop.yield %x, %one, %g : f32, f32, f32
    } : f32, f32, f32
    %0 = arith.divf %product, %sum : f32
    loop.store %0, %out[%h, %i, %e] : memref<2x5x7xf32>
  }
}

// The values are a product, too, but they are no scores.
// VALUES: loop.launch @values_product
func.func @values(%s: memref<2x5x33xf32>, %u: memref<2x33x4xf32>, %w: memref<4x7xf32>) -> memref<2x5x7xf32> {
  %v = memref.alloc() : memref<2x33x7xf32>
  loop.launch @values_product(%u, %w) -> (%v) : (memref<2x33x4xf32>, memref<4x7xf32>) -> (memref<2x33x7xf32>)
  %out = memref.alloc() : memref<2x5x7xf32>
  loop.launch @weighed(%s, %v) -> (%out) : (memref<2x5x33xf32>, memref<2x33x7xf32>) -> (memref<2x5x7xf32>)
  func.return %out : memref<2x5x7xf32>
}
loop.kernel @values_product(%u: memref<2x33x4xf32>, %w: memref<4x7xf32>) -> (%out: memref<2x33x7xf32>) {
  loop.for %h in 2, %k in 33, %e in 7 {
    %dot = loop.reduce %d in 4 with add {
      %0 = loop.load %u[%h, %k, %d] : memref<2x33x4xf32>
      %1 = loop.load %w[%d, %e] : memref<4x7xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %dot, %out[%h, %k, %e] : memref<2x33x7xf32>
  }
}
loop.kernel @weighed(%s: memref<2x5x33xf32>, %v: memref<2x33x7xf32>) -> (%out: memref<2x5x7xf32>) {
  loop.for %h in 2, %i in 5, %e in 7 {
    %largest, %sum, %product = loop.reduce %k in 33 with softmax {
      %x = loop.load %s[%h, %i, %k] : memref<2x5x33xf32>
      %one = arith.constant 1.0 : f32
      %g = loop.load %v[%h, %k, %e] : memref<2x33x7xf32>
      loop.yield %x, %one, %g : f32, f32, f32
    } : f32, f32, f32
    %0 = arith.divf %product, %sum : f32
    loop.store %0, %out[%h, %i, %e] : memref<2x5x7xf32>
  }
}

// A block has no room for 64 queries and 64 keys of 8192 elements. It would stage them in slices, and
// few blocks share so few scores.
// CHECK: skipped at deep_scores: compute each score once for 8 columns, in slices that take 1.3x as long: {{.*}} us against {{.*}} us apart, saves
func.func @deep(%v: memref<2x64x8xf32>, %q: memref<2x64x8192xf32>, %keys: memref<2x64x8192xf32>) -> memref<2x64x8xf32> {
  %s = memref.alloc() : memref<2x64x64xf32>
  loop.launch @deep_scores(%q, %keys) -> (%s) : (memref<2x64x8192xf32>, memref<2x64x8192xf32>) -> (memref<2x64x64xf32>)
  %out = memref.alloc() : memref<2x64x8xf32>
  loop.launch @deep_product(%s, %v) -> (%out) : (memref<2x64x64xf32>, memref<2x64x8xf32>) -> (memref<2x64x8xf32>)
  func.return %out : memref<2x64x8xf32>
}
loop.kernel @deep_scores(%q: memref<2x64x8192xf32>, %keys: memref<2x64x8192xf32>) -> (%out: memref<2x64x64xf32>) {
  loop.for %h in 2, %i in 64, %k in 64 {
    %dot = loop.reduce %d in 8192 with add {
      %0 = loop.load %q[%h, %i, %d] : memref<2x64x8192xf32>
      %1 = loop.load %keys[%h, %k, %d] : memref<2x64x8192xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %dot, %out[%h, %i, %k] : memref<2x64x64xf32>
  }
}
loop.kernel @deep_product(%s: memref<2x64x64xf32>, %v: memref<2x64x8xf32>) -> (%out: memref<2x64x8xf32>) {
  loop.for %h in 2, %i in 64, %e in 8 {
    %largest, %sum, %product = loop.reduce %k in 64 with softmax {
      %x = loop.load %s[%h, %i, %k] : memref<2x64x64xf32>
      %one = arith.constant 1.0 : f32
      %g = loop.load %v[%h, %k, %e] : memref<2x64x8xf32>
      loop.yield %x, %one, %g : f32, f32, f32
    } : f32, f32, f32
    %0 = arith.divf %product, %sum : f32
    loop.store %0, %out[%h, %i, %e] : memref<2x64x8xf32>
  }
}
