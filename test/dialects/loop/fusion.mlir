// RUN: opt-tool %s --split-input-file | opt-tool - --split-input-file | filecheck %s

// The decisions about the fusion of a module; empty lists are not printed.

// CHECK: builtin.module attributes {loop.fusion = #loop.fusion<fused ["inline-elementwise:add>linear+mul"] apart ["cut-recompute:mul>powf@4096", "fuse-epilogue:linear>relu"] met ["fuse-epilogue:linear>relu"]>}
builtin.module attributes {loop.fusion = #loop.fusion<fused ["inline-elementwise:add>linear+mul"] apart ["fuse-epilogue:linear>relu", "cut-recompute:mul>powf@4096"] met ["fuse-epilogue:linear>relu"]>} {
}

// -----

// CHECK: builtin.module attributes {loop.fusion = #loop.fusion<>}
builtin.module attributes {loop.fusion = #loop.fusion<>} {
}
