// RUN: opt-tool %s -p lift,fuse-epilogue,inline-elementwise,fuse-epilogue,cut-recompute | filecheck %s
// RUN: opt-tool %s -p lift,fuse-epilogue,inline-elementwise,fuse-epilogue,cut-recompute --remarks 2>&1 | filecheck %s --check-prefix=REMARK

// Fusion of contractions of half types, which run on tensor cores; the sizes are too large to run.

// REMARK-NOT: recompute {{.*}} of extf
// REMARK:     f:001_inline_elementwise skipped at exp_b_e: recompute 32x of exp (11 instructions) over 8388608 elements: {{.*}} us against {{.*}} us apart
// REMARK-NOT: recompute {{.*}} of extf

// Casts of both factors are part of the product, although each element is read 32 times.
// CHECK:      func.func @product
// CHECK:        loop.launch @sum_p(%x, %w) -> (%sum)
// CHECK-NEXT:   return
func.func @product(%x: tensor<4096x4096xbf16>, %w: tensor<4096x4096xbf16>) -> tensor<4096x4096xf32> {
  %a = prim.elementwise cast(%x) : (tensor<4096x4096xbf16>) -> tensor<4096x4096xf32>
  %b = prim.elementwise cast(%w) : (tensor<4096x4096xbf16>) -> tensor<4096x4096xf32>
  %l = prim.index_map %a by affine_map<(i, j, k) -> (i, k)> : tensor<4096x4096xf32> -> tensor<4096x4096x4096xf32>
  %r = prim.index_map %b by affine_map<(i, j, k) -> (k, j)> : tensor<4096x4096xf32> -> tensor<4096x4096x4096xf32>
  %p = prim.elementwise mul(%l, %r) : tensor<4096x4096x4096xf32>
  %sum = prim.reduce add(%p) dims [2] : (tensor<4096x4096x4096xf32>) -> tensor<4096x4096xf32>
  func.return %sum : tensor<4096x4096xf32>
}

// The exponentials of a factor are computed once and stored as bf16: the product itself is fast ...
// CHECK:      func.func @computed
// CHECK-NEXT:   %exp_b = memref.alloc() : memref<2048x4096xbf16>
// CHECK-NEXT:   loop.launch @exp_b_e(%x) -> (%exp_b)
// CHECK-NEXT:   %sum_b = memref.alloc() : memref<2048x4096xf32>
// CHECK-NEXT:   loop.launch @sum_b_p(%exp_b, %w) -> (%sum_b)
// CHECK-NEXT:   return
func.func @computed(%x: tensor<2048x4096xbf16>, %w: tensor<4096x4096xbf16>) -> tensor<2048x4096xf32> {
  %a = prim.elementwise cast(%x) : (tensor<2048x4096xbf16>) -> tensor<2048x4096xf32>
  %e = prim.elementwise exp(%a) : tensor<2048x4096xf32>
  %exp_b = prim.elementwise cast(%e) : (tensor<2048x4096xf32>) -> tensor<2048x4096xbf16>
  %c = prim.elementwise cast(%exp_b) : (tensor<2048x4096xbf16>) -> tensor<2048x4096xf32>
  %b = prim.elementwise cast(%w) : (tensor<4096x4096xbf16>) -> tensor<4096x4096xf32>
  %l = prim.index_map %c by affine_map<(i, j, k) -> (i, k)> : tensor<2048x4096xf32> -> tensor<2048x4096x4096xf32>
  %r = prim.index_map %b by affine_map<(i, j, k) -> (k, j)> : tensor<4096x4096xf32> -> tensor<2048x4096x4096xf32>
  %p_b = prim.elementwise mul(%l, %r) : tensor<2048x4096x4096xf32>
  %sum_b = prim.reduce add(%p_b) dims [2] : (tensor<2048x4096x4096xf32>) -> tensor<2048x4096xf32>
  func.return %sum_b : tensor<2048x4096xf32>
}

// ... or computed in the product, if a block has all columns of a row.
// CHECK:      func.func @narrow
// CHECK-NEXT:   %sum_n = memref.alloc() : memref<2048x128xf32>
// CHECK-NEXT:   loop.launch @{{.*}}(%w, %x) -> (%sum_n)
// CHECK-NEXT:   return
func.func @narrow(%x: tensor<2048x4096xbf16>, %w: tensor<4096x128xbf16>) -> tensor<2048x128xf32> {
  %a = prim.elementwise cast(%x) : (tensor<2048x4096xbf16>) -> tensor<2048x4096xf32>
  %e = prim.elementwise exp(%a) : tensor<2048x4096xf32>
  %exp_n = prim.elementwise cast(%e) : (tensor<2048x4096xf32>) -> tensor<2048x4096xbf16>
  %c = prim.elementwise cast(%exp_n) : (tensor<2048x4096xbf16>) -> tensor<2048x4096xf32>
  %b = prim.elementwise cast(%w) : (tensor<4096x128xbf16>) -> tensor<4096x128xf32>
  %l = prim.index_map %c by affine_map<(i, j, k) -> (i, k)> : tensor<2048x4096xf32> -> tensor<2048x128x4096xf32>
  %r = prim.index_map %b by affine_map<(i, j, k) -> (k, j)> : tensor<4096x128xf32> -> tensor<2048x128x4096xf32>
  %p_n = prim.elementwise mul(%l, %r) : tensor<2048x128x4096xf32>
  %sum_n = prim.reduce add(%p_n) dims [2] : (tensor<2048x128x4096xf32>) -> tensor<2048x128xf32>
  func.return %sum_n : tensor<2048x128xf32>
}

// Two products of one widened tensor load the half type, each for itself.
// CHECK:      func.func @shared
// CHECK:        loop.launch @{{.*}}(%x, %v) -> (%sum_v)
// CHECK-NEXT:   %sum_w = memref.alloc()
// CHECK-NEXT:   loop.launch @{{.*}}(%x, %w) -> (%sum_w)
// CHECK-NEXT:   return
func.func @shared(%x: tensor<512x512xf16>, %v: tensor<512x512xf16>, %w: tensor<512x512xf16>) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
  %a = prim.elementwise cast(%x) : (tensor<512x512xf16>) -> tensor<512x512xf32>
  %b = prim.elementwise cast(%v) : (tensor<512x512xf16>) -> tensor<512x512xf32>
  %c = prim.elementwise cast(%w) : (tensor<512x512xf16>) -> tensor<512x512xf32>
  %l = prim.index_map %a by affine_map<(i, j, k) -> (i, k)> : tensor<512x512xf32> -> tensor<512x512x512xf32>
  %r = prim.index_map %b by affine_map<(i, j, k) -> (k, j)> : tensor<512x512xf32> -> tensor<512x512x512xf32>
  %s = prim.index_map %c by affine_map<(i, j, k) -> (j, k)> : tensor<512x512xf32> -> tensor<512x512x512xf32>
  %p_v = prim.elementwise mul(%l, %r) : tensor<512x512x512xf32>
  %sum_v = prim.reduce add(%p_v) dims [2] : (tensor<512x512x512xf32>) -> tensor<512x512xf32>
  %p_w = prim.elementwise mul(%l, %s) : tensor<512x512x512xf32>
  %sum_w = prim.reduce add(%p_w) dims [2] : (tensor<512x512x512xf32>) -> tensor<512x512xf32>
  func.return %sum_v, %sum_w : tensor<512x512xf32>, tensor<512x512xf32>
}

// A cast beside a float32 factor is repeated as well.
// CHECK:      func.func @mixed
// CHECK:        loop.launch @{{.*}}(%x, %w) -> (%sum_m)
// CHECK-NEXT:   return
func.func @mixed(%x: tensor<4096x4096xf32>, %w: tensor<4096x4096xbf16>) -> tensor<4096x4096xf32> {
  %b = prim.elementwise cast(%w) : (tensor<4096x4096xbf16>) -> tensor<4096x4096xf32>
  %l = prim.index_map %x by affine_map<(i, j, k) -> (i, k)> : tensor<4096x4096xf32> -> tensor<4096x4096x4096xf32>
  %r = prim.index_map %b by affine_map<(i, j, k) -> (k, j)> : tensor<4096x4096xf32> -> tensor<4096x4096x4096xf32>
  %p_m = prim.elementwise mul(%l, %r) : tensor<4096x4096x4096xf32>
  %sum_m = prim.reduce add(%p_m) dims [2] : (tensor<4096x4096x4096xf32>) -> tensor<4096x4096xf32>
  func.return %sum_m : tensor<4096x4096xf32>
}
