// RUN: opt-tool %s -p lift --check=each --split-input-file | filecheck %s

// Seventeen tensors one after another: a kernel for sixteen of them, and one for the last. Each
// writes its part of one buffer.
// CHECK: func.func @seventeen
// CHECK-NEXT: %c = memref.alloc() : memref<34xf32>
// CHECK-NEXT: loop.launch @c({{.*}}%x1, %x0) -> (%c)
// CHECK-NEXT: loop.launch @c_1(%x16) -> (%c) : (memref<2xf32>) -> (memref<34xf32>)
// CHECK:      loop.kernel @c({{.*}}) -> (%out: memref<34xf32> {plan.updated}) {
// CHECK-NEXT: loop.for %i in 32 {
// CHECK:      loop.store %{{.*}}, %out[%i] : memref<34xf32>
// CHECK:      loop.kernel @c_1(%x16: memref<2xf32>) -> (%out: memref<34xf32> {plan.updated}) {
// CHECK-NEXT: loop.for %i in 2 {
// CHECK-NEXT:   %0 = loop.load %x16[%i] : memref<2xf32>
// CHECK-NEXT:   loop.store %0, %out[%i + 32] : memref<34xf32>
func.func @seventeen(%x0: tensor<2xf32>, %x1: tensor<2xf32>, %x2: tensor<2xf32>, %x3: tensor<2xf32>, %x4: tensor<2xf32>, %x5: tensor<2xf32>, %x6: tensor<2xf32>, %x7: tensor<2xf32>, %x8: tensor<2xf32>, %x9: tensor<2xf32>, %x10: tensor<2xf32>, %x11: tensor<2xf32>, %x12: tensor<2xf32>, %x13: tensor<2xf32>, %x14: tensor<2xf32>, %x15: tensor<2xf32>, %x16: tensor<2xf32>) -> tensor<34xf32> {
  %c = prim.index_map %x0 by affine_map<(d0) -> (d0 - 0)> where affine_map<(d0) -> (d0 - 0, 1 - d0)>, %x1 by affine_map<(d0) -> (d0 - 2)> where affine_map<(d0) -> (d0 - 2, 3 - d0)>, %x2 by affine_map<(d0) -> (d0 - 4)> where affine_map<(d0) -> (d0 - 4, 5 - d0)>, %x3 by affine_map<(d0) -> (d0 - 6)> where affine_map<(d0) -> (d0 - 6, 7 - d0)>, %x4 by affine_map<(d0) -> (d0 - 8)> where affine_map<(d0) -> (d0 - 8, 9 - d0)>, %x5 by affine_map<(d0) -> (d0 - 10)> where affine_map<(d0) -> (d0 - 10, 11 - d0)>, %x6 by affine_map<(d0) -> (d0 - 12)> where affine_map<(d0) -> (d0 - 12, 13 - d0)>, %x7 by affine_map<(d0) -> (d0 - 14)> where affine_map<(d0) -> (d0 - 14, 15 - d0)>, %x8 by affine_map<(d0) -> (d0 - 16)> where affine_map<(d0) -> (d0 - 16, 17 - d0)>, %x9 by affine_map<(d0) -> (d0 - 18)> where affine_map<(d0) -> (d0 - 18, 19 - d0)>, %x10 by affine_map<(d0) -> (d0 - 20)> where affine_map<(d0) -> (d0 - 20, 21 - d0)>, %x11 by affine_map<(d0) -> (d0 - 22)> where affine_map<(d0) -> (d0 - 22, 23 - d0)>, %x12 by affine_map<(d0) -> (d0 - 24)> where affine_map<(d0) -> (d0 - 24, 25 - d0)>, %x13 by affine_map<(d0) -> (d0 - 26)> where affine_map<(d0) -> (d0 - 26, 27 - d0)>, %x14 by affine_map<(d0) -> (d0 - 28)> where affine_map<(d0) -> (d0 - 28, 29 - d0)>, %x15 by affine_map<(d0) -> (d0 - 30)> where affine_map<(d0) -> (d0 - 30, 31 - d0)>, %x16 by affine_map<(d0) -> (d0 - 32)> where affine_map<(d0) -> (d0 - 32, 33 - d0)> else 0.0 : f32 : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<34xf32>
  func.return %c : tensor<34xf32>
}
// -----

// Sixteen parts are read where they are needed.
// CHECK: func.func @sixteen
// CHECK-NEXT: %e = memref.alloc() : memref<32xf32>
// CHECK-NEXT: loop.launch @e({{.*}}) -> (%e)
// CHECK-NEXT: func.return %e : memref<32xf32>
func.func @sixteen(%x0: tensor<2xf32>, %x1: tensor<2xf32>, %x2: tensor<2xf32>, %x3: tensor<2xf32>, %x4: tensor<2xf32>, %x5: tensor<2xf32>, %x6: tensor<2xf32>, %x7: tensor<2xf32>, %x8: tensor<2xf32>, %x9: tensor<2xf32>, %x10: tensor<2xf32>, %x11: tensor<2xf32>, %x12: tensor<2xf32>, %x13: tensor<2xf32>, %x14: tensor<2xf32>, %x15: tensor<2xf32>) -> tensor<32xf32> {
  %c = prim.index_map %x0 by affine_map<(d0) -> (d0 - 0)> where affine_map<(d0) -> (d0 - 0, 1 - d0)>, %x1 by affine_map<(d0) -> (d0 - 2)> where affine_map<(d0) -> (d0 - 2, 3 - d0)>, %x2 by affine_map<(d0) -> (d0 - 4)> where affine_map<(d0) -> (d0 - 4, 5 - d0)>, %x3 by affine_map<(d0) -> (d0 - 6)> where affine_map<(d0) -> (d0 - 6, 7 - d0)>, %x4 by affine_map<(d0) -> (d0 - 8)> where affine_map<(d0) -> (d0 - 8, 9 - d0)>, %x5 by affine_map<(d0) -> (d0 - 10)> where affine_map<(d0) -> (d0 - 10, 11 - d0)>, %x6 by affine_map<(d0) -> (d0 - 12)> where affine_map<(d0) -> (d0 - 12, 13 - d0)>, %x7 by affine_map<(d0) -> (d0 - 14)> where affine_map<(d0) -> (d0 - 14, 15 - d0)>, %x8 by affine_map<(d0) -> (d0 - 16)> where affine_map<(d0) -> (d0 - 16, 17 - d0)>, %x9 by affine_map<(d0) -> (d0 - 18)> where affine_map<(d0) -> (d0 - 18, 19 - d0)>, %x10 by affine_map<(d0) -> (d0 - 20)> where affine_map<(d0) -> (d0 - 20, 21 - d0)>, %x11 by affine_map<(d0) -> (d0 - 22)> where affine_map<(d0) -> (d0 - 22, 23 - d0)>, %x12 by affine_map<(d0) -> (d0 - 24)> where affine_map<(d0) -> (d0 - 24, 25 - d0)>, %x13 by affine_map<(d0) -> (d0 - 26)> where affine_map<(d0) -> (d0 - 26, 27 - d0)>, %x14 by affine_map<(d0) -> (d0 - 28)> where affine_map<(d0) -> (d0 - 28, 29 - d0)>, %x15 by affine_map<(d0) -> (d0 - 30)> where affine_map<(d0) -> (d0 - 30, 31 - d0)> else 0.0 : f32 : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<32xf32>
  %e = prim.elementwise exp(%c) : tensor<32xf32>
  func.return %e : tensor<32xf32>
}
// -----

// A reader of seventeen reads the buffer.
// CHECK: func.func @read
// CHECK:      loop.launch @c_1(%x16) -> (%c)
// CHECK:      loop.launch @e(%c) -> (%e) : (memref<34xf32>) -> (memref<34xf32>)
func.func @read(%x0: tensor<2xf32>, %x1: tensor<2xf32>, %x2: tensor<2xf32>, %x3: tensor<2xf32>, %x4: tensor<2xf32>, %x5: tensor<2xf32>, %x6: tensor<2xf32>, %x7: tensor<2xf32>, %x8: tensor<2xf32>, %x9: tensor<2xf32>, %x10: tensor<2xf32>, %x11: tensor<2xf32>, %x12: tensor<2xf32>, %x13: tensor<2xf32>, %x14: tensor<2xf32>, %x15: tensor<2xf32>, %x16: tensor<2xf32>) -> tensor<34xf32> {
  %c = prim.index_map %x0 by affine_map<(d0) -> (d0 - 0)> where affine_map<(d0) -> (d0 - 0, 1 - d0)>, %x1 by affine_map<(d0) -> (d0 - 2)> where affine_map<(d0) -> (d0 - 2, 3 - d0)>, %x2 by affine_map<(d0) -> (d0 - 4)> where affine_map<(d0) -> (d0 - 4, 5 - d0)>, %x3 by affine_map<(d0) -> (d0 - 6)> where affine_map<(d0) -> (d0 - 6, 7 - d0)>, %x4 by affine_map<(d0) -> (d0 - 8)> where affine_map<(d0) -> (d0 - 8, 9 - d0)>, %x5 by affine_map<(d0) -> (d0 - 10)> where affine_map<(d0) -> (d0 - 10, 11 - d0)>, %x6 by affine_map<(d0) -> (d0 - 12)> where affine_map<(d0) -> (d0 - 12, 13 - d0)>, %x7 by affine_map<(d0) -> (d0 - 14)> where affine_map<(d0) -> (d0 - 14, 15 - d0)>, %x8 by affine_map<(d0) -> (d0 - 16)> where affine_map<(d0) -> (d0 - 16, 17 - d0)>, %x9 by affine_map<(d0) -> (d0 - 18)> where affine_map<(d0) -> (d0 - 18, 19 - d0)>, %x10 by affine_map<(d0) -> (d0 - 20)> where affine_map<(d0) -> (d0 - 20, 21 - d0)>, %x11 by affine_map<(d0) -> (d0 - 22)> where affine_map<(d0) -> (d0 - 22, 23 - d0)>, %x12 by affine_map<(d0) -> (d0 - 24)> where affine_map<(d0) -> (d0 - 24, 25 - d0)>, %x13 by affine_map<(d0) -> (d0 - 26)> where affine_map<(d0) -> (d0 - 26, 27 - d0)>, %x14 by affine_map<(d0) -> (d0 - 28)> where affine_map<(d0) -> (d0 - 28, 29 - d0)>, %x15 by affine_map<(d0) -> (d0 - 30)> where affine_map<(d0) -> (d0 - 30, 31 - d0)>, %x16 by affine_map<(d0) -> (d0 - 32)> where affine_map<(d0) -> (d0 - 32, 33 - d0)> else 0.0 : f32 : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<34xf32>
  %e = prim.elementwise exp(%c) : tensor<34xf32>
  func.return %e : tensor<34xf32>
}
// -----

// No box has few diagonals: one kernel writes the last sixteen and the fill, the next one selects
// between that and the first.
// CHECK: func.func @diagonals
// CHECK-NEXT: %c = memref.alloc() : memref<17x17xf32>
// CHECK-NEXT: %c_1 = memref.alloc() : memref<17x17xf32>
// CHECK-NEXT: loop.launch @c({{.*}}%x2, %x1) -> (%c_1)
// CHECK-NEXT: loop.launch @c_1(%c_1, %x0) -> (%c)
// CHECK:      arith.constant 1.000000e+00 : f32
func.func @diagonals(%x0: tensor<17xf32>, %x1: tensor<17xf32>, %x2: tensor<17xf32>, %x3: tensor<17xf32>, %x4: tensor<17xf32>, %x5: tensor<17xf32>, %x6: tensor<17xf32>, %x7: tensor<17xf32>, %x8: tensor<17xf32>, %x9: tensor<17xf32>, %x10: tensor<17xf32>, %x11: tensor<17xf32>, %x12: tensor<17xf32>, %x13: tensor<17xf32>, %x14: tensor<17xf32>, %x15: tensor<17xf32>, %x16: tensor<17xf32>) -> tensor<17x17xf32> {
  %c = prim.index_map %x0 by affine_map<(d0, d1) -> (d0)> where affine_map<(d0, d1) -> (d0 - d1 - 0, d1 - d0 + 0)>, %x1 by affine_map<(d0, d1) -> (d0)> where affine_map<(d0, d1) -> (d0 - d1 - 1, d1 - d0 + 1)>, %x2 by affine_map<(d0, d1) -> (d0)> where affine_map<(d0, d1) -> (d0 - d1 - 2, d1 - d0 + 2)>, %x3 by affine_map<(d0, d1) -> (d0)> where affine_map<(d0, d1) -> (d0 - d1 - 3, d1 - d0 + 3)>, %x4 by affine_map<(d0, d1) -> (d0)> where affine_map<(d0, d1) -> (d0 - d1 - 4, d1 - d0 + 4)>, %x5 by affine_map<(d0, d1) -> (d0)> where affine_map<(d0, d1) -> (d0 - d1 - 5, d1 - d0 + 5)>, %x6 by affine_map<(d0, d1) -> (d0)> where affine_map<(d0, d1) -> (d0 - d1 - 6, d1 - d0 + 6)>, %x7 by affine_map<(d0, d1) -> (d0)> where affine_map<(d0, d1) -> (d0 - d1 - 7, d1 - d0 + 7)>, %x8 by affine_map<(d0, d1) -> (d0)> where affine_map<(d0, d1) -> (d0 - d1 - 8, d1 - d0 + 8)>, %x9 by affine_map<(d0, d1) -> (d0)> where affine_map<(d0, d1) -> (d0 - d1 - 9, d1 - d0 + 9)>, %x10 by affine_map<(d0, d1) -> (d0)> where affine_map<(d0, d1) -> (d0 - d1 - 10, d1 - d0 + 10)>, %x11 by affine_map<(d0, d1) -> (d0)> where affine_map<(d0, d1) -> (d0 - d1 - 11, d1 - d0 + 11)>, %x12 by affine_map<(d0, d1) -> (d0)> where affine_map<(d0, d1) -> (d0 - d1 - 12, d1 - d0 + 12)>, %x13 by affine_map<(d0, d1) -> (d0)> where affine_map<(d0, d1) -> (d0 - d1 - 13, d1 - d0 + 13)>, %x14 by affine_map<(d0, d1) -> (d0)> where affine_map<(d0, d1) -> (d0 - d1 - 14, d1 - d0 + 14)>, %x15 by affine_map<(d0, d1) -> (d0)> where affine_map<(d0, d1) -> (d0 - d1 - 15, d1 - d0 + 15)>, %x16 by affine_map<(d0, d1) -> (d0)> where affine_map<(d0, d1) -> (d0 - d1 - 16, d1 - d0 + 16)> else 1.0 : f32 : (tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>) -> tensor<17x17xf32>
  func.return %c : tensor<17x17xf32>
}
