// RUN: opt-tool %s -p 'decide-fusion{fused="fuse-reduction:sums>sines","fuse-epilogue:sums>exps"},to-loop' --remarks 2>&1 | filecheck %s

// An illegal fusion cannot be requested. The pass gives the reason, and at the end the decision
// counts as never reached. Two kernels need the sums, so neither can take them over.

// CHECK: f:019_settle_fusion skipped at module: 'fuse-epilogue:sums>exps' was never reached, or it is not legal
// CHECK: f:019_settle_fusion skipped at module: 'fuse-reduction:sums>sines' was never reached, or it is not legal
// CHECK: builtin.module {
// CHECK:   loop.launch
// CHECK:   loop.launch
func.func @main(%x: tensor<64x32xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %sums = prim.reduce add(%x) dims [1] : (tensor<64x32xf32>) -> tensor<64xf32>
  %exps = prim.elementwise exp(%sums) : tensor<64xf32>
  %last = prim.index_map %sums by affine_map<(i) -> (63 - i)> : tensor<64xf32> -> tensor<64xf32>
  %sines = prim.elementwise sin(%last) : tensor<64xf32>
  func.return %exps, %sines : tensor<64xf32>, tensor<64xf32>
}
