// RUN: opt-tool %s -p fold-elementwise,dce --check=each --split-input-file | filecheck %s
// RUN: opt-tool %s -p canonicalize --check=each --split-input-file | filecheck %s

// What does nothing is dropped, step by step.
// CHECK-LABEL: func.func @neutral
// CHECK-NEXT:    func.return %x : tensor<4xf32>
func.func @neutral(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = prim.constant 1.0 : f32 -> tensor<4xf32>
  %zero = prim.constant 0.0 : f32 -> tensor<4xf32>
  %a = prim.elementwise mul(%x, %one) : tensor<4xf32>
  %b = prim.elementwise neg(%a) : tensor<4xf32>
  %c = prim.elementwise neg(%b) : tensor<4xf32>
  %d = prim.elementwise sub(%c, %zero) : tensor<4xf32>
  %e = prim.elementwise maximum(%d, %d) : tensor<4xf32>
  func.return %e : tensor<4xf32>
}

// -----

// -0.0 + 0.0 is 0.0, and inf * 0 is NaN: these stay for floats, and go for integers.
// CHECK-LABEL: func.func @signed_zero
// CHECK:         %a = prim.elementwise add(%x, %zero) : tensor<4xf32>
// CHECK-NEXT:    %b = prim.elementwise mul(%a, %zero) : tensor<4xf32>
// CHECK-NEXT:    func.return %b, %i
func.func @signed_zero(%x: tensor<4xf32>, %i: tensor<4xi64>) -> (tensor<4xf32>, tensor<4xi64>) {
  %zero = prim.constant 0.0 : f32 -> tensor<4xf32>
  %none = prim.constant 0 : i64 -> tensor<4xi64>
  %a = prim.elementwise add(%x, %zero) : tensor<4xf32>
  %b = prim.elementwise mul(%a, %zero) : tensor<4xf32>
  %j = prim.elementwise add(%i, %none) : tensor<4xi64>
  func.return %b, %j : tensor<4xf32>, tensor<4xi64>
}

// -----

// Constants are computed unless that rounds, and what they choose is chosen.
// CHECK-LABEL: func.func @constants
// CHECK:         %third = prim.elementwise div(%one, %three) : tensor<4xf32>
// CHECK-NEXT:    %c = prim.constant 4.000000e+00 : f32 -> tensor<4xf32>
// CHECK-NEXT:    func.return %c, %x, %third
func.func @constants(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %three = prim.constant 3.0 : f32 -> tensor<4xf32>
  %one = prim.constant 1.0 : f32 -> tensor<4xf32>
  %third = prim.elementwise div(%one, %three) : tensor<4xf32>
  %c = prim.elementwise add(%one, %three) : tensor<4xf32>
  %lt = prim.elementwise lt(%one, %three) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %s = prim.elementwise select(%lt, %x, %c)
      : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %c, %s, %third : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// A cast to a type that has all values is undone by the cast back; a rounding one stays.
// CHECK-LABEL: func.func @casts
// CHECK-NEXT:    %half = prim.elementwise cast(%x) : (tensor<4xf32>) -> tensor<4xf16>
// CHECK-NEXT:    %again = prim.elementwise cast(%half) : (tensor<4xf16>) -> tensor<4xf32>
// CHECK-NEXT:    %double = prim.elementwise cast(%h) : (tensor<4xf16>) -> tensor<4xf64>
// CHECK-NEXT:    func.return %h, %again, %double
func.func @casts(%h: tensor<4xf16>, %x: tensor<4xf32>) -> (tensor<4xf16>, tensor<4xf32>, tensor<4xf64>) {
  %wide = prim.elementwise cast(%h) : (tensor<4xf16>) -> tensor<4xf32>
  %back = prim.elementwise cast(%wide) : (tensor<4xf32>) -> tensor<4xf16>
  %half = prim.elementwise cast(%x) : (tensor<4xf32>) -> tensor<4xf16>
  %again = prim.elementwise cast(%half) : (tensor<4xf16>) -> tensor<4xf32>
  %double = prim.elementwise cast(%wide) : (tensor<4xf32>) -> tensor<4xf64>
  func.return %back, %again, %double : tensor<4xf16>, tensor<4xf32>, tensor<4xf64>
}
