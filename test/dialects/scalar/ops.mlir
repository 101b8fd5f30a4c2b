// RUN: opt-tool %s | opt-tool - | filecheck %s
// RUN: opt-tool %s --print-op-generic | opt-tool - | filecheck %s

// Every op of the dialect, on any float.

// CHECK-LABEL: func.func @f(%x: f32, %y: f32, %z: f64) {
func.func @f(%x: f32, %y: f32, %z: f64) {
  // CHECK-NEXT: %0 = scalar.erfc %x : f32
  %0 = scalar.erfc %x : f32
  // CHECK-NEXT: %1 = scalar.fmod %x, %y : f32
  %1 = scalar.fmod %x, %y : f32
  // CHECK-NEXT: %2 = scalar.fmod %z, %z : f64
  %2 = scalar.fmod %z, %z : f64
  func.return
}
