// RUN: opt-tool %s -p 'decide-fusion{apart="fuse-epilogue:product>exps"}' | filecheck %s --check-prefix=SAID
// RUN: opt-tool %s -p 'decide-fusion{apart="fuse-epilogue:product>exps","fuse-epilogue:product_p>exps","fuse-reduction:product_p>exps"}' | opt-tool - -p to-loop | filecheck %s --check-prefix=APART
// RUN: opt-tool %s -p to-loop | filecheck %s --check-prefix=DEFAULT
// RUN: opt-tool %s -p 'decide-fusion{apart="fuse-epilogue:product>exps"},lift,fuse-epilogue' | opt-tool - | filecheck %s --check-prefix=MET
// RUN: opt-tool %s -p 'decide-fusion{apart="fuse-epilogue:product>exps"},decide-fusion' | filecheck %s --check-prefix=FORGOTTEN

// Passes carry out the decisions in the text of a module, even against the cost model.

// SAID: builtin.module attributes {loop.fusion = #loop.fusion<apart ["fuse-epilogue:product>exps"]>} {

// DEFAULT:     builtin.module {
// DEFAULT:       loop.launch @exps_product_p(%x, %w)
// DEFAULT-NEXT:  func.return

// Several passes ask, by the kernel names of that time: keeping two kernels apart takes all of
// these entries. None of them is left at the end.
// APART:      builtin.module {
// APART:        loop.launch @product_p(%x, %w)
// APART:        loop.launch @exps(%product)

// In between, the text shows which decisions have come up.
// MET: #loop.fusion<apart ["fuse-epilogue:product>exps"] met ["fuse-epilogue:product>exps"]>
// MET:   loop.launch @product(
// MET:   loop.launch @exps(

// FORGOTTEN: builtin.module {
func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x48xf32>) -> tensor<64x48xf32> {
  %l = prim.index_map %x by affine_map<(i, k, j) -> (i, k)> : tensor<64x32xf32> -> tensor<64x32x48xf32>
  %r = prim.index_map %w by affine_map<(i, k, j) -> (k, j)> : tensor<32x48xf32> -> tensor<64x32x48xf32>
  %p = prim.elementwise mul(%l, %r) : tensor<64x32x48xf32>
  %product = prim.reduce add(%p) dims [1] : (tensor<64x32x48xf32>) -> tensor<64x48xf32>
  %exps = prim.elementwise exp(%product) : tensor<64x48xf32>
  func.return %exps : tensor<64x48xf32>
}
