// RUN: opt-tool %s -p lift,inline-elementwise,fuse-epilogue,fuse-reduction | filecheck %s
// RUN: opt-tool %s -p lift,inline-elementwise,fuse-epilogue,fuse-reduction --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// REMARK:     --- f:001_inline_elementwise skipped at p2_power_many: recompute 8192x of powf (131 instructions) over 4096 elements: 138.42 us against 84.15 us apart, saves 32.8 kB
// REMARK:     --- f:001_inline_elementwise skipped at norm_w: recompute 64x of divf (10 instructions) over 2097152 elements: 568.26 us against 526.63 us apart, saves 8.4 MB
// REMARK:     --- f:001_inline_elementwise skipped at c4_c3_c2_c1: recompute 2x of powf (261 instructions) over 16777216 elements: 270.33 us against 237.57 us apart, saves 134.2 MB
// REMARK:     --- f:003_fuse_reduction skipped at s_n: mm_n_p_norm reduces along the axes that would move inside
// REMARK:     --- f:003_fuse_reduction skipped at long: reduce each of 1 row 1x: 43.32 us against 24.97 us apart, saves 524.3 kB
// REMARK-NOT: ---

// Fusions that pay at one size and not at another; the sizes are too large to run.

// A power that every row computes again: 16 rows do it faster than a launch ...
// CHECK:      func.func @few_rows
// CHECK:        loop.launch @y_p_power_few(%x, %v) -> (%y)
// CHECK-NEXT:   func.return
func.func @few_rows(%x: tensor<16x4096xf32>, %v: tensor<4096xf32>) -> tensor<16x4096xf32> {
  %power_few = prim.elementwise pow(%v, %v) : tensor<4096xf32>
  %p = prim.elementwise pow(%power_few, %v) : tensor<4096xf32>
  %b = prim.index_map %p by affine_map<(d0, d1) -> (d1)> : tensor<4096xf32> -> tensor<16x4096xf32>
  %y = prim.elementwise mul(%x, %b) : tensor<16x4096xf32>
  func.return %y : tensor<16x4096xf32>
}

// ... and 8192 do not.
// CHECK:      func.func @many_rows
// CHECK:        loop.launch @p2_power_many(%v) -> (%p2)
// CHECK:        loop.launch @y_1(%x, %p2) -> (%y)
// CHECK-NEXT:   func.return
func.func @many_rows(%x: tensor<8192x4096xf32>, %v: tensor<4096xf32>) -> tensor<8192x4096xf32> {
  %power_many = prim.elementwise pow(%v, %v) : tensor<4096xf32>
  %p2 = prim.elementwise pow(%power_many, %v) : tensor<4096xf32>
  %b = prim.index_map %p2 by affine_map<(d0, d1) -> (d1)> : tensor<4096xf32> -> tensor<8192x4096xf32>
  %y = prim.elementwise mul(%x, %b) : tensor<8192x4096xf32>
  func.return %y : tensor<8192x4096xf32>
}

// A normalisation before a matrix product of 128 columns: one block does all columns of a row ...
// CHECK:      func.func @narrow
// CHECK:        loop.launch @s_n(%x) -> (%s_n)
// CHECK:        loop.launch @mm_n_p_norm(%w, %x, %s_n) -> (%mm_n)
// CHECK-NEXT:   func.return
func.func @narrow(%x: tensor<2048x1024xf32>, %w: tensor<1024x128xf32>) -> tensor<2048x128xf32> {
  %s_n = prim.reduce add(%x) dims [1] : (tensor<2048x1024xf32>) -> tensor<2048xf32>
  %sb = prim.index_map %s_n by affine_map<(i, k) -> (i)> : tensor<2048xf32> -> tensor<2048x1024xf32>
  %norm_n = prim.elementwise div(%x, %sb) : tensor<2048x1024xf32>
  %l = prim.index_map %norm_n by affine_map<(i, k, j) -> (i, k)> : tensor<2048x1024xf32> -> tensor<2048x1024x128xf32>
  %r = prim.index_map %w by affine_map<(i, k, j) -> (k, j)> : tensor<1024x128xf32> -> tensor<2048x1024x128xf32>
  %p_n = prim.elementwise mul(%l, %r) : tensor<2048x1024x128xf32>
  %mm_n = prim.reduce add(%p_n) dims [1] : (tensor<2048x1024x128xf32>) -> tensor<2048x128xf32>
  func.return %mm_n : tensor<2048x128xf32>
}

// ... of 8192 columns, 64 blocks would: it is written once, by the kernel that sums the row.
// CHECK:      func.func @wide
// CHECK:        loop.launch @norm_w_s(%x) -> (%norm_w)
// CHECK:        loop.launch @mm_w_p(%norm_w, %w) -> (%mm_w)
// CHECK-NEXT:   func.return
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

// A transpose is free, however often it is read.
// CHECK:      func.func @transposed
// CHECK:        loop.launch @mm_t_p(%x, %w) -> (%mm_t)
// CHECK-NEXT:   func.return
func.func @transposed(%x: tensor<1024x2048xf32>, %w: tensor<1024x8192xf32>) -> tensor<2048x8192xf32> {
  %t = prim.index_map %x by affine_map<(i, k) -> (k, i)> : tensor<1024x2048xf32> -> tensor<2048x1024xf32>
  %l = prim.index_map %t by affine_map<(i, k, j) -> (i, k)> : tensor<2048x1024xf32> -> tensor<2048x1024x8192xf32>
  %r = prim.index_map %w by affine_map<(i, k, j) -> (k, j)> : tensor<1024x8192xf32> -> tensor<2048x1024x8192xf32>
  %p_t = prim.elementwise mul(%l, %r) : tensor<2048x1024x8192xf32>
  %mm_t = prim.reduce add(%p_t) dims [1] : (tensor<2048x1024x8192xf32>) -> tensor<2048x8192xf32>
  func.return %mm_t : tensor<2048x8192xf32>
}

// Two readers compute an exponential each ...
// CHECK:      func.func @cheap
// CHECK:        loop.launch @a_e(%y, %x) -> (%a)
// CHECK:        loop.launch @b_e(%x) -> (%b)
// CHECK-NEXT:   func.return
func.func @cheap(%x: tensor<4096x4096xf32>, %y: tensor<4096x4096xf32>) -> (tensor<4096x4096xf32>, tensor<4096x4096xf32>) {
  %e = prim.elementwise exp(%x) : tensor<4096x4096xf32>
  %a = prim.elementwise mul(%e, %y) : tensor<4096x4096xf32>
  %b = prim.elementwise neg(%e) : tensor<4096x4096xf32>
  func.return %a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32>
}

// ... but not three nested powers, which are written.
// CHECK:      func.func @costly
// CHECK:        loop.launch @c4_c3_c2_c1(%x) -> (%c4)
// CHECK:        loop.launch @c(%c4, %y) -> (%c)
// CHECK:        loop.launch @d(%c4) -> (%d)
// CHECK-NEXT:   func.return
func.func @costly(%x: tensor<4096x4096xf32>, %y: tensor<4096x4096xf32>) -> (tensor<4096x4096xf32>, tensor<4096x4096xf32>) {
  %c1 = prim.elementwise pow(%x, %x) : tensor<4096x4096xf32>
  %c2 = prim.elementwise pow(%c1, %x) : tensor<4096x4096xf32>
  %c3 = prim.elementwise pow(%c2, %x) : tensor<4096x4096xf32>
  %c4 = prim.elementwise pow(%c3, %x) : tensor<4096x4096xf32>
  %c = prim.elementwise mul(%c4, %y) : tensor<4096x4096xf32>
  %d = prim.elementwise neg(%c4) : tensor<4096x4096xf32>
  func.return %c, %d : tensor<4096x4096xf32>, tensor<4096x4096xf32>
}

// Sums with two reads each: of short rows ...
// CHECK:      func.func @short_twice
// CHECK:        loop.launch @st_ss(%y, %x) -> (%st)
// CHECK-NEXT:   func.return
func.func @short_twice(%x: tensor<512x16xf32>, %y: tensor<1024xf32>) -> tensor<1024xf32> {
  %ss = prim.reduce add(%x) dims [1] : (tensor<512x16xf32>) -> tensor<512xf32>
  %sb = prim.index_map %ss by affine_map<(i) -> (i floordiv 2)> : tensor<512xf32> -> tensor<1024xf32>
  %st = prim.elementwise mul(%sb, %y) : tensor<1024xf32>
  func.return %st : tensor<1024xf32>
}

// ... and of one row, for which there is one SM.
// CHECK:      func.func @long_row
// CHECK:        loop.launch @long(%x) -> (%long)
// CHECK:        loop.launch @y_long(%x, %long) -> (%y_long)
// CHECK-NEXT:   func.return
func.func @long_row(%x: tensor<131073xf32>) -> tensor<131073xf32> {
  %long = prim.reduce add(%x) dims [0] : (tensor<131073xf32>) -> tensor<f32>
  %lb = prim.index_map %long by affine_map<(i) -> ()> : tensor<f32> -> tensor<131073xf32>
  %y_long = prim.elementwise div(%x, %lb) : tensor<131073xf32>
  func.return %y_long : tensor<131073xf32>
}
