// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: 'relu' is not spelled as PASS:KERNEL>OTHERS
builtin.module attributes {loop.fusion = #loop.fusion<apart ["relu"]>} {
}

// -----

// CHECK: a decision is listed twice
builtin.module attributes {loop.fusion = #loop.fusion<fused ["a:b>c"] apart ["a:b>c"]>} {
}

// -----

// CHECK: a decision that is met must be fused or apart, too
builtin.module attributes {loop.fusion = #loop.fusion<fused ["a:b>c"] met ["a:b>d"]>} {
}
