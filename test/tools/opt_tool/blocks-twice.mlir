// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// A block that stands twice, after it was branched to, is an error at the second place.

func.func @main() {
  cf.br ^a
^a:
  cf.br ^a
^a:
  func.return
}

// CHECK: blocks-twice.mlir:9:1: error: the block '^a' is defined a second time
