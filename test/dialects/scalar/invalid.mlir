// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Ops that the verifier refuses.

// CHECK: Unexpected attribute i32
func.func @f(%x: i32) {
  %0 = scalar.erfc %x : i32
  func.return
}

// -----

// CHECK: Unexpected attribute index
func.func @f(%x: index) {
  %0 = scalar.fmod %x, %x : index
  func.return
}
