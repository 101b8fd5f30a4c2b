// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Loop IR that the verifier and the parser refuse, and their messages.

// CHECK: a kernel writes at least one output
loop.kernel @k(%x: memref<8xf32>) -> () {
}

// -----

// CHECK: kernel arguments are memrefs, not tensor<8xf32>
loop.kernel @k(%x: tensor<8xf32>) -> (%out: memref<8xf32>) {
}

// -----

func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) {
  // CHECK: no kernel @missing in this module
  loop.launch @missing(%x) -> (%y) : (memref<8xf32>) -> (memref<8xf32>)
  func.return
}

// -----

func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) {
  // CHECK: kernel @k takes (memref<4xf32>, memref<8xf32>), the launch passes (memref<8xf32>, memref<8xf32>)
  loop.launch @k(%x) -> (%y) : (memref<8xf32>) -> (memref<8xf32>)
  func.return
}
loop.kernel @k(%x: memref<4xf32>) -> (%out: memref<8xf32>) {
}

// -----

loop.kernel @k(%x: memref<4x8xf32>, %s: memref<8xf32>) -> (%out: memref<8xf32>) {
  // CHECK: give one extent and one role for each of the 2 axes
  "loop.for"() <{extents = array<i64: 4>, roles = [#loop.role free]}> ({
  ^bb0(%i: index, %j: index):
  }) : () -> ()
}

// -----

loop.kernel @k(%x: memref<4x8xf32>, %s: memref<8xf32>) -> (%out: memref<8xf32>) {
  // CHECK: extents are at least 0, not
  "loop.for"() <{extents = array<i64: -4>, roles = [#loop.role free]}> ({
  ^bb0(%i: index):
  }) : () -> ()
}

// -----

loop.kernel @k(%x: memref<4x8xf32>, %s: memref<8xf32>) -> (%out: memref<8xf32>) {
  // CHECK: expected integer >= 0, got -1
  %0 = "loop.reduce"() <{extent = -1 : i64, monoid = #prim.monoid add}> ({
  ^bb0(%k: index):
    %1 = arith.constant 1.0 : f32
    loop.yield %1 : f32
  }) : () -> f32
}

// -----

loop.kernel @k(%x: memref<4x8xf32>, %s: memref<8xf32>) -> (%out: memref<8xf32>) {
  // CHECK: a reduction has one axis; nest reductions for several
  %0 = "loop.reduce"() <{extent = 2 : i64, monoid = #prim.monoid add}> ({
  ^bb0(%k: index, %l: index):
    %1 = arith.constant 1.0 : f32
    loop.yield %1 : f32
  }) : () -> f32
}

// -----

loop.kernel @k(%x: memref<4x8xf32>, %s: memref<8xf32>) -> (%out: memref<8xf32>) {
  // CHECK: the body must yield one value of each result's type
  %0 = loop.reduce %k in 2 with add {
    %1 = arith.constant 1.0 : f32
    loop.yield %1, %1 : f32, f32
  } : f32
}

// -----

loop.kernel @k(%x: memref<4x8xf32>, %s: memref<8xf32>) -> (%out: memref<8xf32>) {
  %1 = arith.constant 0 : index
  // CHECK: memref<4x8xf32> takes 2 subscripts, got 1
  %0 = loop.load %x[%1] : memref<4x8xf32>
}

// -----

loop.kernel @k(%x: memref<4x8xf32>, %s: memref<8xf32>) -> (%out: memref<8xf32>) {
  %1 = arith.constant 1.0 : f32
  // CHECK: memref<8xf32> takes 1 subscripts, got 0
  loop.store %1, %out[] : memref<8xf32>
}

// -----

loop.kernel @k(%x: memref<4x8xf32>, %s: memref<8xf32>) -> (%out: memref<8xf32>) {
  // CHECK: the map takes 1 indices, got 0
  %0 = "loop.load"(%s) <{map = affine_map<(d0) -> (d0)>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (memref<8xf32>) -> f32
}

// -----

loop.kernel @k(%x: memref<4x8xf32>, %s: memref<8xf32>) -> (%out: memref<8xf32>) {
  // CHECK: the mask takes 1 operands, got 0
  %0 = "loop.load"(%s) <{map = affine_map<() -> (0)>, mask = affine_map<(d0) -> (d0)>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (memref<8xf32>) -> f32
}

// -----

loop.kernel @k(%x: memref<4x8xf32>, %s: memref<8xf32>) -> (%out: memref<8xf32>) {
  // CHECK: the mask takes 0 operands, got 1
  %1 = arith.constant 1.0 : f32
  %i = arith.constant 0 : index
  "loop.store"(%1, %out, %i) <{map = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 1, 1, 0, 1>}> : (f32, memref<8xf32>, index) -> ()
}

// -----

loop.kernel @k(%x: memref<4x8xf32>, %s: memref<8xf32>) -> (%out: memref<8xf32>) {
  %0 = loop.reduce %k in 2 with add {
    %1 = arith.constant 1.0 : f32
    // CHECK: the mask takes 1 operands, got 0
    "loop.yield"(%1) <{mask = affine_map<(d0) -> (d0)>, operandSegmentSizes = array<i32: 1, 0>}> : (f32) -> ()
  } : f32
}

// -----

loop.kernel @k(%x: memref<4x8xf32>, %s: memref<8xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 4, %j in 4 {
    // CHECK: a subscript is affine: one factor must be a constant
    %0 = loop.load %s[%i * %j] : memref<8xf32>
  }
}

// -----

loop.kernel @k(%x: memref<4x8xf32>, %s: memref<8xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 4 {
    // CHECK: expected a positive divisor
    %0 = loop.load %s[%i mod 0] : memref<8xf32>
  }
}

// -----

loop.kernel @k(%x: memref<4x8xf32>, %s: memref<8xf32>) -> (%out: memref<8xf32>) {
  // CHECK: error: Expected `add`, `mul`, `max`, `min`, `and`, `or`, `argmax`, `argmin`, `softmax`, or `moments`
  %0 = loop.reduce %k in 2 with sub {
  } : f32
}

// -----

// CHECK: kernel arguments have static shapes, unlike memref<?xf32>
loop.kernel @k(%x: memref<?xf32>) -> (%out: memref<8xf32>) {
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
    %0 = loop.load %x[%i] : memref<8xf32>
    // CHECK: stores to %x, which is an input; a kernel writes its outputs
    loop.store %0, %x[%i] : memref<8xf32>
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
    // CHECK: reads %out, which is an output; only later launches can read what a kernel stores
    %0 = loop.load %out[%i] : memref<8xf32>
  }
}

// -----

func.func @main(%x: memref<8xf32>) {
  // CHECK: a launch writes each output once and reads none of them; allocate a buffer for each
  loop.launch @k(%x) -> (%x) : (memref<8xf32>) -> (memref<8xf32>)
  func.return
}
loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
}

// -----

func.func @main(%x: memref<8xf32>, %y: memref<8xf32>, %z: memref<8xf32>) {
  // CHECK: kernel @k has 1 output(s), the launch passes 2
  loop.launch @k(%x) -> (%y, %z) : (memref<8xf32>) -> (memref<8xf32>, memref<8xf32>)
  func.return
}
loop.kernel @k(%x: memref<8xf32>, %y: memref<8xf32>) -> (%out: memref<8xf32>) {
}

// -----

loop.kernel @k(%x: memref<8xi8>) -> (%out: memref<1xi8>) {
  // CHECK: 'add' joins f32, f64, i32, i64, not i8: cast it first
  %s = loop.reduce %k in 8 with add {
    %0 = loop.load %x[%k] : memref<8xi8>
    loop.yield %0 : i8
  } : i8
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<1xf32>) {
  // CHECK: 'argmax' joins a value and its index, an i64: not (f32)
  %s = loop.reduce %k in 8 with argmax {
    %0 = loop.load %x[%k] : memref<8xf32>
    loop.yield %0 : f32
  } : f32
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<1xf32>) {
  // CHECK: 'and' joins i1, not f32: cast it first
  %s = loop.reduce %k in 8 with and {
    %0 = loop.load %x[%k] : memref<8xf32>
    loop.yield %0 : f32
  } : f32
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
    %0 = loop.load %x[%i] : memref<8xf32>
    // CHECK: a yield ends a loop.reduce or a tile.stage
    loop.yield %0 : f32
  }
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  // CHECK: a nest has at least one axis; ops that run once need no nest
  "loop.for"() <{extents = array<i64>, roles = []}> ({
  ^bb0:
  }) : () -> ()
}

// -----

loop.kernel @k(%x: memref<4x8xf32>, %s: memref<8xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 4 {
    // CHECK: the divisor in '(d0 mod 0)' must be a positive constant
    %0 = "loop.load"(%s, %i) <{map = affine_map<(d0) -> (d0 mod 0)>, operandSegmentSizes = array<i32: 1, 1, 0>}> : (memref<8xf32>, index) -> f32
  }
}

// -----

loop.kernel @k(%x: memref<4x8xf32>, %s: memref<8xf32>) -> (%out: memref<8xf32>) {
  // CHECK: subscripts and masks use dimensions only, not symbols
  %0 = "loop.load"(%s) <{map = affine_map<()[s0] -> (s0)>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (memref<8xf32>) -> f32
}

// -----

loop.kernel @k(%x: memref<8x8xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 8 {
    // CHECK: a bound is part of a schedule; mask the yield instead
    %s = loop.reduce %k in 8 below [%i + 1] with add {
      %v = loop.load %x[%i, %k] : memref<8x8xf32>
      loop.yield %v : f32
    } : f32
    loop.store %s, %out[%i] : memref<8xf32>
  }
}

// -----

loop.kernel @k(%x: memref<4x8xf32>, %s: memref<8xf32>) -> (%out: memref<8xf32>) {
  // CHECK: 'loop.load': Expected operandSegmentSizes property
  "loop.load"(%s) <{map = affine_map<() -> ()>, mask = affine_map<(d0) -> ()>}> : (memref<8xf32>) -> f32
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  // CHECK: 'loop.load':
  "loop.load"(%x) <{map = affine_map<() -> ()>, operandSegmentSizes = array<i32: 1, -1, 1>}> : (memref<8xf32>) -> f32
}

// -----

loop.kernel @k(%x: memref<8xf32>) -> (%out: memref<8xf32>) {
  loop.for %i in 1099511627776 {
    // CHECK: 'loop.for': 1208925819614629174706176 points; at most 288230376151711744 are supported
    loop.for %j in 1099511627776 {
    }
  }
}


// -----

// The properties of a kernel are verified before the ops in it, which depend on them.
// CHECK: 'loop.kernel': property 'num_outputs' expected in operation 'loop.kernel'
"loop.kernel"() <{sym_name = "k"}> ({
^bb0(%x: memref<8xf32>, %y: memref<8xf32>):
  %0 = "loop.load"(%x) <{map = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 1, 0, 0>}> : (memref<8xf32>) -> f32
}) : () -> ()
