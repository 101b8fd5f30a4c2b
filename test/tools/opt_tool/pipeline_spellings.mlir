// RUN: opt-tool %s -p dce,cse | filecheck %s
// RUN: opt-tool %s --pass-pipeline='builtin.module(dce, cse)' | filecheck %s
// RUN: cat %s | opt-tool - -p 'dce, cse' | filecheck %s

// Both spellings run the passes: the dead product goes, then one of the two equal sums.
// CHECK:      func.func @f(%a: i32, %b: i32) -> i32 {
// CHECK-NEXT:   %0 = arith.addi %a, %b : i32
// CHECK-NEXT:   %1 = arith.muli %0, %0 : i32
// CHECK-NEXT:   func.return %1 : i32
func.func @f(%a: i32, %b: i32) -> i32 {
  %dead = arith.muli %a, %b : i32
  %0 = arith.addi %a, %b : i32
  %1 = arith.addi %a, %b : i32
  %2 = arith.muli %0, %1 : i32
  func.return %2 : i32
}
