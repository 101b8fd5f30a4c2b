// RUN: opt-tool %s -p lift,inline-elementwise{always=true} | filecheck %s --check-prefix=FUSED
// RUN: opt-tool %s -p lift,inline-elementwise{always=true},cut-recompute | filecheck %s --check-prefix=CUT

// Kernels that should not have been fused are cut apart again.

// Powers of columns, in each row.
// FUSED:      func.func @many_rows
// FUSED:        loop.launch @y_p2_power_many(%x, %v) -> (%y)
// FUSED-NEXT:   func.return
// CUT:      func.func @many_rows
// CUT:        loop.launch @y_p2_power_many_part(%v) -> (%part)
// CUT:        loop.launch @y_p2_power_many(%x, %part) -> (%y)
// CUT-NEXT:   func.return
func.func @many_rows(%x: tensor<8192x4096xf32>, %v: tensor<4096xf32>) -> tensor<8192x4096xf32> {
  %power_many = prim.elementwise pow(%v, %v) : tensor<4096xf32>
  %p2 = prim.elementwise pow(%power_many, %v) : tensor<4096xf32>
  %b = prim.index_map %p2 by affine_map<(d0, d1) -> (d1)> : tensor<4096xf32> -> tensor<8192x4096xf32>
  %y = prim.elementwise mul(%x, %b) : tensor<8192x4096xf32>
  func.return %y : tensor<8192x4096xf32>
}

// A quotient for every column block of a product.
// FUSED:      func.func @wide
// FUSED:        loop.launch @s_w(%x) -> (%s_w)
// FUSED:        loop.launch @mm_w_p_norm(%w, %x, %s_w) -> (%mm_w)
// FUSED-NEXT:   func.return
// CUT:      func.func @wide
// CUT:        loop.launch @s_w(%x) -> (%s_w)
// CUT:        loop.launch @mm_w_p_norm_part(%x, %s_w) -> (%part)
// CUT:        loop.launch @mm_w_p_norm(%w, %part) -> (%mm_w)
// CUT-NEXT:   func.return
func.func @wide(%x: tensor<2048x1024xf32>, %w: tensor<1024x8192xf32>) -> tensor<2048x8192xf32> {
  %s_w = prim.reduce add(%x) dims [1] : (tensor<2048x1024xf32>) -> tensor<2048xf32>
  %sb = prim.index_map %s_w by affine_map<(i, k) -> (i)> : tensor<2048xf32> -> tensor<2048x1024xf32>
  %norm_w = prim.elementwise div(%x, %sb) : tensor<2048x1024xf32>
  %l = prim.index_map %norm_w by affine_map<(i, k, j) -> (i, k)> : tensor<2048x1024xf32> -> tensor<2048x1024x8192xf32>
  %r = prim.index_map %w by affine_map<(i, k, j) -> (k, j)> : tensor<1024x8192xf32> -> tensor<2048x1024x8192xf32>
  %p_w = prim.elementwise mul(%l, %r) : tensor<2048x1024x8192xf32>
  %mm_w = prim.reduce add(%p_w) dims [1] : (tensor<2048x1024x8192xf32>) -> tensor<2048x8192xf32>
  func.return %mm_w : tensor<2048x8192xf32>
}
