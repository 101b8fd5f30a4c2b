// RUN: opt-tool %s -p fold-parameter-layouts,cse --check=each --split-input-file | filecheck %s
// RUN: opt-tool %s -p fold-parameter-layouts --remarks --split-input-file 2>&1 | filecheck %s --check-prefix=REMARK

// A parameter that is only read transposed comes transposed.
// CHECK-LABEL: func.func @transposed(
// CHECK-SAME:    %x: tensor<3x5xf32>, %w: tensor<3x5xf32> {torch.name = "w", torch.kind = "parameter", torch.layout = affine_map<(d0, d1) -> (d1, d0)>})
// CHECK-NEXT:    %y = prim.elementwise add(%x, %w) : tensor<3x5xf32>
// CHECK-NEXT:    func.return %y : tensor<3x5xf32>
func.func @transposed(%x: tensor<3x5xf32>, %w: tensor<5x3xf32> {torch.name = "w", torch.kind = "parameter"}) -> tensor<3x5xf32> {
  %t = prim.index_map %w by affine_map<(d0, d1) -> (d1, d0)> : tensor<5x3xf32> -> tensor<3x5xf32>
  %y = prim.elementwise add(%x, %t) : tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}

// -----

// Three dimensions, of a buffer, read twice; a constant that is a result.
// CHECK-LABEL: func.func @rotated(
// CHECK-SAME:    %b: tensor<4x3x2xf32> {torch.name = "b", torch.kind = "buffer", torch.layout = affine_map<(d0, d1, d2) -> (d1, d2, d0)>}
// CHECK-SAME:    %c: tensor<7x5xi64> {torch.name = "c", torch.kind = "constant", torch.layout = affine_map<(d0, d1) -> (d1, d0)>}) -> (tensor<4x3x2xf32>, tensor<7x5xi64>) {
// CHECK-NEXT:    %y = prim.elementwise mul(%x, %b) : tensor<4x3x2xf32>
// CHECK-NEXT:    %z = prim.elementwise add(%y, %b) : tensor<4x3x2xf32>
// CHECK-NEXT:    func.return %z, %c : tensor<4x3x2xf32>, tensor<7x5xi64>
func.func @rotated(%x: tensor<4x3x2xf32>, %b: tensor<3x2x4xf32> {torch.name = "b", torch.kind = "buffer"}, %c: tensor<5x7xi64> {torch.name = "c", torch.kind = "constant"}) -> (tensor<4x3x2xf32>, tensor<7x5xi64>) {
  %0 = prim.index_map %b by affine_map<(d0, d1, d2) -> (d1, d2, d0)> : tensor<3x2x4xf32> -> tensor<4x3x2xf32>
  %y = prim.elementwise mul(%x, %0) : tensor<4x3x2xf32>
  %1 = prim.index_map %b by affine_map<(d0, d1, d2) -> (d1, d2, d0)> : tensor<3x2x4xf32> -> tensor<4x3x2xf32>
  %z = prim.elementwise add(%y, %1) : tensor<4x3x2xf32>
  %2 = prim.index_map %c by affine_map<(d0, d1) -> (d1, d0)> : tensor<5x7xi64> -> tensor<7x5xi64>
  func.return %z, %2 : tensor<4x3x2xf32>, tensor<7x5xi64>
}

// -----

// The subscript of an axis of one step is 0, whichever dimension it was.
// CHECK-LABEL: func.func @unit(
// CHECK-SAME:    %w: tensor<1x5x3xf32> {torch.name = "w", torch.kind = "parameter", torch.layout = affine_map<(d0, d1, d2) -> (d0, d2, d1)>})
// CHECK-NEXT:    func.return %w
func.func @unit(%w: tensor<1x3x5xf32> {torch.name = "w", torch.kind = "parameter"}) -> tensor<1x5x3xf32> {
  %t = prim.index_map %w by affine_map<(d0, d1, d2) -> (0, d2, d1)> : tensor<1x3x5xf32> -> tensor<1x5x3xf32>
  func.return %t : tensor<1x5x3xf32>
}

// -----

// What is permuted at load already is permuted further; a second turn may undo the first.
// CHECK-LABEL: func.func @again(
// CHECK-SAME:    %w: tensor<4x2x3xf32> {torch.name = "w", torch.kind = "parameter", torch.layout = affine_map<(d0, d1, d2) -> (d1, d2, d0)>}
// CHECK-SAME:    %v: tensor<3x5xf32> {torch.name = "v", torch.kind = "parameter"})
// CHECK-NEXT:    func.return %w, %v
func.func @again(%w: tensor<4x3x2xf32> {torch.name = "w", torch.kind = "parameter", torch.layout = affine_map<(d0, d1, d2) -> (d2, d1, d0)>}, %v: tensor<5x3xf32> {torch.name = "v", torch.kind = "parameter", torch.layout = affine_map<(d0, d1) -> (d1, d0)>}) -> (tensor<4x2x3xf32>, tensor<3x5xf32>) {
  %0 = prim.index_map %w by affine_map<(d0, d1, d2) -> (d0, d2, d1)> : tensor<4x3x2xf32> -> tensor<4x2x3xf32>
  %1 = prim.index_map %v by affine_map<(d0, d1) -> (d1, d0)> : tensor<5x3xf32> -> tensor<3x5xf32>
  func.return %0, %1 : tensor<4x2x3xf32>, tensor<3x5xf32>
}

// -----

// The user's own input stays, and so does what is repeated, cut, or read from another row.
// CHECK-LABEL: func.func @others(
// CHECK-SAME:    %x: tensor<5x3xf32>, %a: tensor<3xf32> {torch.name = "a", torch.kind = "parameter"}, %b: tensor<5x3xf32> {torch.name = "b", torch.kind = "parameter"}, %c: tensor<3x4xf32> {torch.name = "c", torch.kind = "parameter"})
// CHECK-COUNT-4: prim.index_map
func.func @others(%x: tensor<5x3xf32>, %a: tensor<3xf32> {torch.name = "a", torch.kind = "parameter"}, %b: tensor<5x3xf32> {torch.name = "b", torch.kind = "parameter"}, %c: tensor<3x4xf32> {torch.name = "c", torch.kind = "parameter"}) -> (tensor<3x5xf32>, tensor<5x3xf32>, tensor<3x4xf32>, tensor<3x4xf32>) {
  %0 = prim.index_map %x by affine_map<(d0, d1) -> (d1, d0)> : tensor<5x3xf32> -> tensor<3x5xf32>
  %1 = prim.index_map %a by affine_map<(d0, d1) -> (d1)> : tensor<3xf32> -> tensor<5x3xf32>
  %2 = prim.index_map %b by affine_map<(d0, d1) -> (d1, d0)> : tensor<5x3xf32> -> tensor<3x4xf32>
  %3 = prim.index_map %c by affine_map<(d0, d1) -> (1, d1)> : tensor<3x4xf32> -> tensor<3x4xf32>
  func.return %0, %1, %2, %3 : tensor<3x5xf32>, tensor<5x3xf32>, tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

// Whoever else reads the parameter would need it as it was.
// CHECK-LABEL: func.func @shared(
// CHECK-COUNT-3: prim.index_map
// REMARK: --- o:009_fold_parameter_layouts skipped at shared: %w is read permuted, but other ops read it in another layout
// REMARK: --- o:009_fold_parameter_layouts skipped at shared: %v is read permuted, but other ops read it in another layout
func.func @shared(%w: tensor<5x3xf32> {torch.name = "w", torch.kind = "parameter"}, %v: tensor<3x3x3xf32> {torch.name = "v", torch.kind = "parameter"}) -> (tensor<5x3xf32>, tensor<3x5xf32>, tensor<3x3x3xf32>, tensor<3x3x3xf32>) {
  %0 = prim.index_map %w by affine_map<(d0, d1) -> (d1, d0)> : tensor<5x3xf32> -> tensor<3x5xf32>
  %1 = prim.index_map %v by affine_map<(d0, d1, d2) -> (d1, d2, d0)> : tensor<3x3x3xf32> -> tensor<3x3x3xf32>
  %2 = prim.index_map %v by affine_map<(d0, d1, d2) -> (d2, d0, d1)> : tensor<3x3x3xf32> -> tensor<3x3x3xf32>
  func.return %w, %0, %1, %2 : tensor<5x3xf32>, tensor<3x5xf32>, tensor<3x3x3xf32>, tensor<3x3x3xf32>
}

// -----

// What is written in place is PyTorch's memory, read anew at each call.
// CHECK-LABEL: func.func @mutated(
// CHECK:         prim.index_map
// REMARK: --- o:009_fold_parameter_layouts skipped at mutated: %s is read permuted, but it is written in place
func.func @mutated(%x: tensor<5x3xf32>, %s: tensor<5x3xf32> {torch.name = "s", torch.kind = "buffer"}) -> (tensor<5x3xf32> {torch.mutates = "s"}, tensor<3x5xf32>) {
  %t = prim.index_map %s by affine_map<(d0, d1) -> (d1, d0)> : tensor<5x3xf32> -> tensor<3x5xf32>
  func.return %x, %t : tensor<5x3xf32>, tensor<3x5xf32>
}

// -----

// A function's callers pass what they have.
// CHECK-LABEL: func.func private @layer(
// CHECK-NEXT:    prim.index_map
// REMARK: --- o:009_fold_parameter_layouts skipped at layer: %w is read permuted, but another function calls this one
func.func @main(%x: tensor<3x5xf32>, %w: tensor<5x3xf32> {torch.name = "w", torch.kind = "parameter"}, %v: tensor<5x3xf32> {torch.name = "v", torch.kind = "parameter"}) -> tensor<3x5xf32> {
  %0 = func.call @layer(%x, %w) : (tensor<3x5xf32>, tensor<5x3xf32>) -> tensor<3x5xf32>
  %1 = func.call @layer(%0, %v) : (tensor<3x5xf32>, tensor<5x3xf32>) -> tensor<3x5xf32>
  func.return %1 : tensor<3x5xf32>
}
func.func private @layer(%x: tensor<3x5xf32>, %w: tensor<5x3xf32>) -> tensor<3x5xf32> {
  %t = prim.index_map %w by affine_map<(d0, d1) -> (d1, d0)> : tensor<5x3xf32> -> tensor<3x5xf32>
  %y = prim.elementwise add(%x, %t) : tensor<3x5xf32>
  func.return %y : tensor<3x5xf32>
}
