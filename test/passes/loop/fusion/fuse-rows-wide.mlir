// RUN: opt-tool %s -p fuse-rows{online=true} --remarks 2>&1 | filecheck %s
// RUN: opt-tool %s -p fuse-rows{online=true},fuse-reduction,fuse-online,fuse-scores | filecheck %s --check-prefix=ONCE

// Heads with more than 256 columns. A kernel that computes their scores owns few rows of a head.

// Products of halves on tensor cores are fast: memory traffic of the scores would take longer.
// ONCE: loop.kernel @few_
// ONCE: with softmax weights(bf16) {

func.func @few(%q: memref<1x2x1024x320xbf16>, %keys: memref<1x2x1024x320xbf16>, %v: memref<1x2x1024x320xbf16>) -> memref<1x2x1024x320xf32> {
  %s = memref.alloc() : memref<1x2x1024x1024xf32>
  loop.launch @few_scores(%q, %keys) -> (%s) : (memref<1x2x1024x320xbf16>, memref<1x2x1024x320xbf16>) -> (memref<1x2x1024x1024xf32>)
  %largest = memref.alloc() : memref<1x2x1024xf32>
  loop.launch @few_largest(%s) -> (%largest) : (memref<1x2x1024x1024xf32>) -> (memref<1x2x1024xf32>)
  %out = memref.alloc() : memref<1x2x1024x320xf32>
  loop.launch @few_product(%s, %largest, %v) -> (%out) : (memref<1x2x1024x1024xf32>, memref<1x2x1024xf32>, memref<1x2x1024x320xbf16>) -> (memref<1x2x1024x320xf32>)
  func.return %out : memref<1x2x1024x320xf32>
}
loop.kernel @few_scores(%q: memref<1x2x1024x320xbf16>, %keys: memref<1x2x1024x320xbf16>) -> (%out: memref<1x2x1024x1024xf32>) {
  loop.for %h in 2, %i in 1024, %k in 1024 {
    %dot = loop.reduce %d in 320 with add {
      %x_1 = loop.load %q[0, %h, %i, %d] : memref<1x2x1024x320xbf16>
      %x = arith.extf %x_1 : bf16 to f32
      %y_1 = loop.load %keys[0, %h, %k, %d] : memref<1x2x1024x320xbf16>
      %y = arith.extf %y_1 : bf16 to f32
      %z = arith.mulf %x, %y : f32
      loop.yield %z : f32
    } : f32
    loop.store %dot, %out[0, %h, %i, %k] : memref<1x2x1024x1024xf32>
  }
}
loop.kernel @few_largest(%s: memref<1x2x1024x1024xf32>) -> (%out: memref<1x2x1024xf32>) {
  loop.for %h in 2, %i in 1024 {
    %maximum = loop.reduce %k in 1024 with max {
      %x = loop.load %s[0, %h, %i, %k] : memref<1x2x1024x1024xf32>
      loop.yield %x : f32
    } : f32
    loop.store %maximum, %out[0, %h, %i] : memref<1x2x1024xf32>
  }
}
loop.kernel @few_product(%s: memref<1x2x1024x1024xf32>, %largest: memref<1x2x1024xf32>, %v: memref<1x2x1024x320xbf16>) -> (%out: memref<1x2x1024x320xf32>) {
  loop.for %h in 2, %i in 1024, %e in 320 {
    %sum = loop.reduce %k in 1024 with add {
      %x = loop.load %s[0, %h, %i, %k] : memref<1x2x1024x1024xf32>
      %m = loop.load %largest[0, %h, %i] : memref<1x2x1024xf32>
      %d = arith.subf %x, %m : f32
      %w = math.exp %d : f32
      %n = arith.truncf %w : f32 to bf16
      %r = arith.extf %n : bf16 to f32
      %g_1 = loop.load %v[0, %h, %k, %e] : memref<1x2x1024x320xbf16>
      %g = arith.extf %g_1 : bf16 to f32
      %p = arith.mulf %r, %g : f32
      loop.yield %p : f32
    } : f32
    loop.store %sum, %out[0, %h, %i, %e] : memref<1x2x1024x320xf32>
  }
}

// With twice the columns, products take twice as long.
// CHECK: skipped at many_largest: compute scores once for 512 columns, with products 2x as long: {{.*}} us against {{.*}} us apart, saves
// ONCE-NOT: with softmax

func.func @many(%q: memref<1x2x8192x512xbf16>, %keys: memref<1x2x8192x512xbf16>, %v: memref<1x2x8192x512xbf16>) -> memref<1x2x8192x512xf32> {
  %s = memref.alloc() : memref<1x2x8192x8192xf32>
  loop.launch @many_scores(%q, %keys) -> (%s) : (memref<1x2x8192x512xbf16>, memref<1x2x8192x512xbf16>) -> (memref<1x2x8192x8192xf32>)
  %largest = memref.alloc() : memref<1x2x8192xf32>
  loop.launch @many_largest(%s) -> (%largest) : (memref<1x2x8192x8192xf32>) -> (memref<1x2x8192xf32>)
  %out = memref.alloc() : memref<1x2x8192x512xf32>
  loop.launch @many_product(%s, %largest, %v) -> (%out) : (memref<1x2x8192x8192xf32>, memref<1x2x8192xf32>, memref<1x2x8192x512xbf16>) -> (memref<1x2x8192x512xf32>)
  func.return %out : memref<1x2x8192x512xf32>
}
loop.kernel @many_scores(%q: memref<1x2x8192x512xbf16>, %keys: memref<1x2x8192x512xbf16>) -> (%out: memref<1x2x8192x8192xf32>) {
  loop.for %h in 2, %i in 8192, %k in 8192 {
    %dot = loop.reduce %d in 512 with add {
      %x_1 = loop.load %q[0, %h, %i, %d] : memref<1x2x8192x512xbf16>
      %x = arith.extf %x_1 : bf16 to f32
      %y_1 = loop.load %keys[0, %h, %k, %d] : memref<1x2x8192x512xbf16>
      %y = arith.extf %y_1 : bf16 to f32
      %z = arith.mulf %x, %y : f32
      loop.yield %z : f32
    } : f32
    loop.store %dot, %out[0, %h, %i, %k] : memref<1x2x8192x8192xf32>
  }
}
loop.kernel @many_largest(%s: memref<1x2x8192x8192xf32>) -> (%out: memref<1x2x8192xf32>) {
  loop.for %h in 2, %i in 8192 {
    %maximum = loop.reduce %k in 8192 with max {
      %x = loop.load %s[0, %h, %i, %k] : memref<1x2x8192x8192xf32>
      loop.yield %x : f32
    } : f32
    loop.store %maximum, %out[0, %h, %i] : memref<1x2x8192xf32>
  }
}
loop.kernel @many_product(%s: memref<1x2x8192x8192xf32>, %largest: memref<1x2x8192xf32>, %v: memref<1x2x8192x512xbf16>) -> (%out: memref<1x2x8192x512xf32>) {
  loop.for %h in 2, %i in 8192, %e in 512 {
    %sum = loop.reduce %k in 8192 with add {
      %x = loop.load %s[0, %h, %i, %k] : memref<1x2x8192x8192xf32>
      %m = loop.load %largest[0, %h, %i] : memref<1x2x8192xf32>
      %d = arith.subf %x, %m : f32
      %w = math.exp %d : f32
      %n = arith.truncf %w : f32 to bf16
      %r = arith.extf %n : bf16 to f32
      %g_1 = loop.load %v[0, %h, %k, %e] : memref<1x2x8192x512xbf16>
      %g = arith.extf %g_1 : bf16 to f32
      %p = arith.mulf %r, %g : f32
      loop.yield %p : f32
    } : f32
    loop.store %sum, %out[0, %h, %i, %e] : memref<1x2x8192x512xf32>
  }
}

// Float32 products take longer than the traffic.
// CHECK: skipped at float_largest: compute scores once for 320 columns, with products 1.2x as long: {{.*}} us against {{.*}} us apart, saves

func.func @float(%q: memref<1x2x4096x320xf32>, %keys: memref<1x2x4096x320xf32>, %v: memref<1x2x4096x320xf32>) -> memref<1x2x4096x320xf32> {
  %s = memref.alloc() : memref<1x2x4096x4096xf32>
  loop.launch @float_scores(%q, %keys) -> (%s) : (memref<1x2x4096x320xf32>, memref<1x2x4096x320xf32>) -> (memref<1x2x4096x4096xf32>)
  %largest = memref.alloc() : memref<1x2x4096xf32>
  loop.launch @float_largest(%s) -> (%largest) : (memref<1x2x4096x4096xf32>) -> (memref<1x2x4096xf32>)
  %out = memref.alloc() : memref<1x2x4096x320xf32>
  loop.launch @float_product(%s, %largest, %v) -> (%out) : (memref<1x2x4096x4096xf32>, memref<1x2x4096xf32>, memref<1x2x4096x320xf32>) -> (memref<1x2x4096x320xf32>)
  func.return %out : memref<1x2x4096x320xf32>
}
loop.kernel @float_scores(%q: memref<1x2x4096x320xf32>, %keys: memref<1x2x4096x320xf32>) -> (%out: memref<1x2x4096x4096xf32>) {
  loop.for %h in 2, %i in 4096, %k in 4096 {
    %dot = loop.reduce %d in 320 with add {
      %x = loop.load %q[0, %h, %i, %d] : memref<1x2x4096x320xf32>
      %y = loop.load %keys[0, %h, %k, %d] : memref<1x2x4096x320xf32>
      %z = arith.mulf %x, %y : f32
      loop.yield %z : f32
    } : f32
    loop.store %dot, %out[0, %h, %i, %k] : memref<1x2x4096x4096xf32>
  }
}
loop.kernel @float_largest(%s: memref<1x2x4096x4096xf32>) -> (%out: memref<1x2x4096xf32>) {
  loop.for %h in 2, %i in 4096 {
    %maximum = loop.reduce %k in 4096 with max {
      %x = loop.load %s[0, %h, %i, %k] : memref<1x2x4096x4096xf32>
      loop.yield %x : f32
    } : f32
    loop.store %maximum, %out[0, %h, %i] : memref<1x2x4096xf32>
  }
}
loop.kernel @float_product(%s: memref<1x2x4096x4096xf32>, %largest: memref<1x2x4096xf32>, %v: memref<1x2x4096x320xf32>) -> (%out: memref<1x2x4096x320xf32>) {
  loop.for %h in 2, %i in 4096, %e in 320 {
    %sum = loop.reduce %k in 4096 with add {
      %x = loop.load %s[0, %h, %i, %k] : memref<1x2x4096x4096xf32>
      %m = loop.load %largest[0, %h, %i] : memref<1x2x4096xf32>
      %d = arith.subf %x, %m : f32
      %w = math.exp %d : f32
      %g = loop.load %v[0, %h, %k, %e] : memref<1x2x4096x320xf32>
      %p = arith.mulf %w, %g : f32
      loop.yield %p : f32
    } : f32
    loop.store %sum, %out[0, %h, %i, %e] : memref<1x2x4096x320xf32>
  }
}

// Two blocks would share the columns, and both would compute the scores.
// CHECK: skipped at blocks_largest: compute scores once for 1024 columns, in slices that take 1.3x as long, with products 4x as long: {{.*}} us against {{.*}} us apart, saves

func.func @blocks(%q: memref<1x2x2048x1024xbf16>, %keys: memref<1x2x4096x1024xbf16>, %v: memref<1x2x4096x1024xbf16>) -> memref<1x2x2048x1024xf32> {
  %s = memref.alloc() : memref<1x2x2048x4096xf32>
  loop.launch @blocks_scores(%q, %keys) -> (%s) : (memref<1x2x2048x1024xbf16>, memref<1x2x4096x1024xbf16>) -> (memref<1x2x2048x4096xf32>)
  %largest = memref.alloc() : memref<1x2x2048xf32>
  loop.launch @blocks_largest(%s) -> (%largest) : (memref<1x2x2048x4096xf32>) -> (memref<1x2x2048xf32>)
  %out = memref.alloc() : memref<1x2x2048x1024xf32>
  loop.launch @blocks_product(%s, %largest, %v) -> (%out) : (memref<1x2x2048x4096xf32>, memref<1x2x2048xf32>, memref<1x2x4096x1024xbf16>) -> (memref<1x2x2048x1024xf32>)
  func.return %out : memref<1x2x2048x1024xf32>
}
loop.kernel @blocks_scores(%q: memref<1x2x2048x1024xbf16>, %keys: memref<1x2x4096x1024xbf16>) -> (%out: memref<1x2x2048x4096xf32>) {
  loop.for %h in 2, %i in 2048, %k in 4096 {
    %dot = loop.reduce %d in 1024 with add {
      %x_1 = loop.load %q[0, %h, %i, %d] : memref<1x2x2048x1024xbf16>
      %x = arith.extf %x_1 : bf16 to f32
      %y_1 = loop.load %keys[0, %h, %k, %d] : memref<1x2x4096x1024xbf16>
      %y = arith.extf %y_1 : bf16 to f32
      %z = arith.mulf %x, %y : f32
      loop.yield %z : f32
    } : f32
    loop.store %dot, %out[0, %h, %i, %k] : memref<1x2x2048x4096xf32>
  }
}
loop.kernel @blocks_largest(%s: memref<1x2x2048x4096xf32>) -> (%out: memref<1x2x2048xf32>) {
  loop.for %h in 2, %i in 2048 {
    %maximum = loop.reduce %k in 4096 with max {
      %x = loop.load %s[0, %h, %i, %k] : memref<1x2x2048x4096xf32>
      loop.yield %x : f32
    } : f32
    loop.store %maximum, %out[0, %h, %i] : memref<1x2x2048xf32>
  }
}
loop.kernel @blocks_product(%s: memref<1x2x2048x4096xf32>, %largest: memref<1x2x2048xf32>, %v: memref<1x2x4096x1024xbf16>) -> (%out: memref<1x2x2048x1024xf32>) {
  loop.for %h in 2, %i in 2048, %e in 1024 {
    %sum = loop.reduce %k in 4096 with add {
      %x = loop.load %s[0, %h, %i, %k] : memref<1x2x2048x4096xf32>
      %m = loop.load %largest[0, %h, %i] : memref<1x2x2048xf32>
      %d = arith.subf %x, %m : f32
      %w = math.exp %d : f32
      %n = arith.truncf %w : f32 to bf16
      %r = arith.extf %n : bf16 to f32
      %g_1 = loop.load %v[0, %h, %k, %e] : memref<1x2x4096x1024xbf16>
      %g = arith.extf %g_1 : bf16 to f32
      %p = arith.mulf %r, %g : f32
      loop.yield %p : f32
    } : f32
    loop.store %sum, %out[0, %h, %i, %e] : memref<1x2x2048x1024xf32>
  }
}

// A query of one step has keys and values of its own.
// CHECK: skipped at single_largest: single_product has 320 columns of single rows, which blocks share

func.func @single(%q: memref<1x2x1x320xbf16>, %keys: memref<1x2x4096x320xbf16>, %v: memref<1x2x4096x320xbf16>) -> memref<1x2x1x320xf32> {
  %s = memref.alloc() : memref<1x2x1x4096xf32>
  loop.launch @single_scores(%q, %keys) -> (%s) : (memref<1x2x1x320xbf16>, memref<1x2x4096x320xbf16>) -> (memref<1x2x1x4096xf32>)
  %largest = memref.alloc() : memref<1x2x1xf32>
  loop.launch @single_largest(%s) -> (%largest) : (memref<1x2x1x4096xf32>) -> (memref<1x2x1xf32>)
  %out = memref.alloc() : memref<1x2x1x320xf32>
  loop.launch @single_product(%s, %largest, %v) -> (%out) : (memref<1x2x1x4096xf32>, memref<1x2x1xf32>, memref<1x2x4096x320xbf16>) -> (memref<1x2x1x320xf32>)
  func.return %out : memref<1x2x1x320xf32>
}
loop.kernel @single_scores(%q: memref<1x2x1x320xbf16>, %keys: memref<1x2x4096x320xbf16>) -> (%out: memref<1x2x1x4096xf32>) {
  loop.for %h in 2, %k in 4096 {
    %dot = loop.reduce %d in 320 with add {
      %x_1 = loop.load %q[0, %h, 0, %d] : memref<1x2x1x320xbf16>
      %x = arith.extf %x_1 : bf16 to f32
      %y_1 = loop.load %keys[0, %h, %k, %d] : memref<1x2x4096x320xbf16>
      %y = arith.extf %y_1 : bf16 to f32
      %z = arith.mulf %x, %y : f32
      loop.yield %z : f32
    } : f32
    loop.store %dot, %out[0, %h, 0, %k] : memref<1x2x1x4096xf32>
  }
}
loop.kernel @single_largest(%s: memref<1x2x1x4096xf32>) -> (%out: memref<1x2x1xf32>) {
  loop.for %h in 2 {
    %maximum = loop.reduce %k in 4096 with max {
      %x = loop.load %s[0, %h, 0, %k] : memref<1x2x1x4096xf32>
      loop.yield %x : f32
    } : f32
    loop.store %maximum, %out[0, %h, 0] : memref<1x2x1xf32>
  }
}
loop.kernel @single_product(%s: memref<1x2x1x4096xf32>, %largest: memref<1x2x1xf32>, %v: memref<1x2x4096x320xbf16>) -> (%out: memref<1x2x1x320xf32>) {
  loop.for %h in 2, %e in 320 {
    %sum = loop.reduce %k in 4096 with add {
      %x = loop.load %s[0, %h, 0, %k] : memref<1x2x1x4096xf32>
      %m = loop.load %largest[0, %h, 0] : memref<1x2x1xf32>
      %d = arith.subf %x, %m : f32
      %w = math.exp %d : f32
      %n = arith.truncf %w : f32 to bf16
      %r = arith.extf %n : bf16 to f32
      %g_1 = loop.load %v[0, %h, %k, %e] : memref<1x2x4096x320xbf16>
      %g = arith.extf %g_1 : bf16 to f32
      %p = arith.mulf %r, %g : f32
      loop.yield %p : f32
    } : f32
    loop.store %sum, %out[0, %h, 0, %e] : memref<1x2x1x320xf32>
  }
}
