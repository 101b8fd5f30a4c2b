// RUN: opt-tool %s -p dce --check=each --check-limit 64 2>&1 | filecheck %s
// RUN: opt-tool %s -p dce --check=each --check-limit 65 2>&1 | filecheck %s --check-prefix=CHECKED
// RUN: not opt-tool %s -p dce --check=each --check-limit 0 2>&1 | filecheck %s --check-prefix=WRONG

// Functions beyond the limit are left unchecked, with a remark.
// CHECK: remark: check of 'dce': pass 'dce' is not checked at @twice: about 6.5e+01 scalar operations are too many; use smaller shapes
// CHECKED-NOT: remark
// CHECKED: func.func @twice
// WRONG: '0' is not a positive number of scalar operations
func.func @twice(%x: tensor<32xf32>) -> tensor<32xf32> {
  %0 = prim.elementwise add(%x, %x) : tensor<32xf32>
  %1 = prim.elementwise neg(%x) : tensor<32xf32>
  func.return %0 : tensor<32xf32>
}
