// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: 'relu' is not spelled as PASS:KERNEL>OTHERS
builtin.module attributes {loop.fusion = #loop.fusion<apart ["relu"]>} {
}

// -----

// CHECK: a decision is made once
builtin.module attributes {loop.fusion = #loop.fusion<fused ["a:b>c"] apart ["a:b>c"]>} {
}

// -----

// CHECK: only what is decided can have been met
builtin.module attributes {loop.fusion = #loop.fusion<fused ["a:b>c"] met ["a:b>d"]>} {
}
