// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Numbers that their types, or 64 bits, cannot hold are errors at their place.

// CHECK: numbers-out-of-range.mlir:{{[0-9]+}}:23: error: '0xFFFFFFFFFFFFFFFF : f32' does not fit its type
%eps = arith.constant 0xFFFFFFFFFFFFFFFF : f32

// -----

// CHECK: :{{[0-9]+}}:19: error: '1000003.0 : f16' does not fit its type
%0 = cuda.literal 1000003.0 : f16

// -----

// CHECK: :{{[0-9]+}}:23: error: '1.0e39 : f32' does not fit its type
%eps = arith.constant 1.0e39 : f32

// -----

// CHECK: :{{[0-9]+}}:28: error: '<[1.0, 70000.0]> : tensor<2xf16>' does not fit its type
%eps = arith.constant dense<[1.0, 70000.0]> : tensor<2xf16>

// -----

// CHECK: :{{[0-9]+}}:35: error: Integer value 300 is out of range for type i8
"test.op"() {sizes = array<i8: 1, 300>} : () -> ()

// -----

// CHECK: :{{[0-9]+}}:34: error: 18446744073709551615 does not fit 64 bits
torch.max_pool1d %a kernel_size [0xFFFFFFFFFFFFFFFF]

// -----

// CHECK: :{{[0-9]+}}:25: error: 10000000000000000000000000000000000000000 does not fit 64 bits
prim.reduce add() dims [10000000000000000000000000000000000000000]

// -----

loop.kernel @linear(%x: memref<64xf32>) -> (%out: memref<64xf32>) {
  // CHECK: :{{[0-9]+}}:66: error: 18446744073709551616 does not fit 64 bits
  tile.launch (%t = thread 8 m, %v = register 4 m, %w = register 18446744073709551616 n) {
  }
}

// -----

func.func @rolled(%x: tensor<3xf32>) -> tensor<3xf32> {
  // CHECK: :{{[0-9]+}}:55: error: 9223372036854775808 does not fit 64 bits
  %r = prim.index_map %x by affine_map<(d0) -> ((d0 + 9223372036854775808) mod 3)>
      : tensor<3xf32> -> tensor<3xf32>
  func.return %r : tensor<3xf32>
}

// -----

// CHECK: :{{[0-9]+}}:21: error: 9223372036854775808 does not fit 64 bits
%i = arith.constant 9223372036854775808 : index

// -----

// CHECK: :{{[0-9]+}}:21: error: -9223372036854775809 does not fit 64 bits
%i = arith.constant -9223372036854775809 : index

// -----

// 64 bits hold the largest unsigned number.
// CHECK: arith.constant -1 : i64
%c = arith.constant 18446744073709551615 : i64
