// RUN: opt-tool %s -p decompose | filecheck %s

// Attention: scores, the softmax of a row that may be empty, and the weighted values.

// Scores are shifted by the largest, which is made finite; a row without weights is divided by 1.
// CHECK-LABEL: func.func @plain(
// CHECK-NEXT:    %r = prim.index_map %q by affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)> : tensor<2x8x4xf32> -> tensor<2x8x9x4xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %k by affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<2x9x4xf32> -> tensor<2x8x9x4xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<2x8x9x4xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [3] : (tensor<2x8x9x4xf32>) -> tensor<2x8x9xf32>
// CHECK-NEXT:    %r_4 = prim.constant 5.000000e-01 : f32 -> tensor<2x8x9xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise mul(%r_3, %r_4) : tensor<2x8x9xf32>
// CHECK-NEXT:    %r_6 = prim.reduce max(%r_5) dims [2] : (tensor<2x8x9xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %r_7 = prim.constant -3.40282347e+38 : f32 -> tensor<2x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise maximum(%r_6, %r_7) : tensor<2x8xf32>
// CHECK-NEXT:    %r_9 = prim.index_map %r_8 by affine_map<(d0, d1, d2) -> (d0, d1)> : tensor<2x8xf32> -> tensor<2x8x9xf32>
// CHECK-NEXT:    %r_10 = prim.elementwise sub(%r_5, %r_9) : tensor<2x8x9xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise exp(%r_10) : tensor<2x8x9xf32>
// CHECK-NEXT:    %r_12 = prim.reduce add(%r_11) dims [2] : (tensor<2x8x9xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %r_13 = prim.constant 1.000000e+00 : f32 -> tensor<2x8xf32>
// CHECK-NEXT:    %r_14 = prim.elementwise maximum(%r_12, %r_13) : tensor<2x8xf32>
// CHECK-NEXT:    %r_15 = prim.index_map %r_11 by affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)> : tensor<2x8x9xf32> -> tensor<2x8x6x9xf32>
// CHECK-NEXT:    %r_16 = prim.index_map %v by affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<2x9x6xf32> -> tensor<2x8x6x9xf32>
// CHECK-NEXT:    %r_17 = prim.elementwise mul(%r_15, %r_16) : tensor<2x8x6x9xf32>
// CHECK-NEXT:    %r_18 = prim.reduce add(%r_17) dims [3] : (tensor<2x8x6x9xf32>) -> tensor<2x8x6xf32>
// CHECK-NEXT:    %r_19 = prim.index_map %r_14 by affine_map<(d0, d1, d2) -> (d0, d1)> : tensor<2x8xf32> -> tensor<2x8x6xf32>
// CHECK-NEXT:    %r_20 = prim.elementwise div(%r_18, %r_19) : tensor<2x8x6xf32>
// CHECK-NEXT:    func.return %r_20 : tensor<2x8x6xf32>
func.func @plain(%q: tensor<2x8x4xf32>, %k: tensor<2x9x4xf32>, %v: tensor<2x9x6xf32>) -> tensor<2x8x6xf32> {
  %r = torch.scaled_dot_product_attention %q, %k, %v
      : (tensor<2x8x4xf32>, tensor<2x9x4xf32>, tensor<2x9x6xf32>) -> tensor<2x8x6xf32>
  func.return %r : tensor<2x8x6xf32>
}

// A causal mask is a predicate, without a tensor. The weights have the mask again, so that their
// products with values can be left out where it fails.
// CHECK-LABEL: func.func @causal(
// CHECK-NEXT:    %r = prim.index_map %q by affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)> : tensor<2x8x4xf32> -> tensor<2x8x9x4xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %k by affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<2x9x4xf32> -> tensor<2x8x9x4xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<2x8x9x4xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [3] : (tensor<2x8x9x4xf32>) -> tensor<2x8x9xf32>
// CHECK-NEXT:    %r_4 = prim.predicate affine_map<(d0, d1, d2) -> ((d1 + (d2 * -1)))> : tensor<2x8x9xi1>
// CHECK-NEXT:    %r_5 = prim.constant 0xff800000 : f32 -> tensor<2x8x9xf32>
// CHECK-NEXT:    %r_6 = prim.elementwise select(%r_4, %r_3, %r_5) : (tensor<2x8x9xi1>, tensor<2x8x9xf32>, tensor<2x8x9xf32>) -> tensor<2x8x9xf32>
// CHECK-NEXT:    %r_7 = prim.reduce max(%r_6) dims [2] : (tensor<2x8x9xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %r_8 = prim.constant -3.40282347e+38 : f32 -> tensor<2x8xf32>
// CHECK-NEXT:    %r_9 = prim.elementwise maximum(%r_7, %r_8) : tensor<2x8xf32>
// CHECK-NEXT:    %r_10 = prim.index_map %r_9 by affine_map<(d0, d1, d2) -> (d0, d1)> : tensor<2x8xf32> -> tensor<2x8x9xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise sub(%r_6, %r_10) : tensor<2x8x9xf32>
// CHECK-NEXT:    %r_12 = prim.elementwise exp(%r_11) : tensor<2x8x9xf32>
// CHECK-NEXT:    %r_13 = prim.reduce add(%r_12) dims [2] : (tensor<2x8x9xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %r_14 = prim.constant 1.000000e+00 : f32 -> tensor<2x8xf32>
// CHECK-NEXT:    %r_15 = prim.elementwise maximum(%r_13, %r_14) : tensor<2x8xf32>
// CHECK-NEXT:    %r_16 = prim.constant 0xff800000 : f32 -> tensor<2x8x9xf32>
// CHECK-NEXT:    %r_17 = prim.elementwise select(%r_4, %r_11, %r_16) : (tensor<2x8x9xi1>, tensor<2x8x9xf32>, tensor<2x8x9xf32>) -> tensor<2x8x9xf32>
// CHECK-NEXT:    %r_18 = prim.elementwise exp(%r_17) : tensor<2x8x9xf32>
// CHECK-NEXT:    %r_19 = prim.index_map %r_18 by affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)> : tensor<2x8x9xf32> -> tensor<2x8x6x9xf32>
// CHECK-NEXT:    %r_20 = prim.index_map %v by affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<2x9x6xf32> -> tensor<2x8x6x9xf32>
// CHECK-NEXT:    %r_21 = prim.elementwise mul(%r_19, %r_20) fastmath<nnan,ninf> : tensor<2x8x6x9xf32>
// CHECK-NEXT:    %r_22 = prim.reduce add(%r_21) dims [3] : (tensor<2x8x6x9xf32>) -> tensor<2x8x6xf32>
// CHECK-NEXT:    %r_23 = prim.index_map %r_15 by affine_map<(d0, d1, d2) -> (d0, d1)> : tensor<2x8xf32> -> tensor<2x8x6xf32>
// CHECK-NEXT:    %r_24 = prim.elementwise div(%r_22, %r_23) : tensor<2x8x6xf32>
// CHECK-NEXT:    func.return %r_24 : tensor<2x8x6xf32>
func.func @causal(%q: tensor<2x8x4xf32>, %k: tensor<2x9x4xf32>, %v: tensor<2x9x6xf32>) -> tensor<2x8x6xf32> {
  %r = torch.scaled_dot_product_attention %q, %k, %v is_causal true scale 1.0
      : (tensor<2x8x4xf32>, tensor<2x9x4xf32>, tensor<2x9x6xf32>) -> tensor<2x8x6xf32>
  func.return %r : tensor<2x8x6xf32>
}

// A mask of bools in memory keeps the true positions, and is read once.
// CHECK-LABEL: func.func @kept(
// CHECK-NEXT:    %r = prim.index_map %q by affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)> : tensor<2x8x4xf32> -> tensor<2x8x9x4xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %k by affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<2x9x4xf32> -> tensor<2x8x9x4xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<2x8x9x4xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [3] : (tensor<2x8x9x4xf32>) -> tensor<2x8x9xf32>
// CHECK-NEXT:    %r_4 = prim.constant 5.000000e-01 : f32 -> tensor<2x8x9xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise mul(%r_3, %r_4) : tensor<2x8x9xf32>
// CHECK-NEXT:    %r_6 = prim.index_map %m by affine_map<(d0, d1, d2) -> (d1, d2)> : tensor<8x9xi1> -> tensor<2x8x9xi1>
// CHECK-NEXT:    %r_7 = prim.constant 0xff800000 : f32 -> tensor<2x8x9xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise select(%r_6, %r_5, %r_7) : (tensor<2x8x9xi1>, tensor<2x8x9xf32>, tensor<2x8x9xf32>) -> tensor<2x8x9xf32>
// CHECK-NEXT:    %r_9 = prim.reduce max(%r_8) dims [2] : (tensor<2x8x9xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %r_10 = prim.constant -3.40282347e+38 : f32 -> tensor<2x8xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise maximum(%r_9, %r_10) : tensor<2x8xf32>
// CHECK-NEXT:    %r_12 = prim.index_map %r_11 by affine_map<(d0, d1, d2) -> (d0, d1)> : tensor<2x8xf32> -> tensor<2x8x9xf32>
// CHECK-NEXT:    %r_13 = prim.elementwise sub(%r_8, %r_12) : tensor<2x8x9xf32>
// CHECK-NEXT:    %r_14 = prim.elementwise exp(%r_13) : tensor<2x8x9xf32>
// CHECK-NEXT:    %r_15 = prim.reduce add(%r_14) dims [2] : (tensor<2x8x9xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:    %r_16 = prim.constant 1.000000e+00 : f32 -> tensor<2x8xf32>
// CHECK-NEXT:    %r_17 = prim.elementwise maximum(%r_15, %r_16) : tensor<2x8xf32>
// CHECK-NEXT:    %r_18 = prim.index_map %r_14 by affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)> : tensor<2x8x9xf32> -> tensor<2x8x6x9xf32>
// CHECK-NEXT:    %r_19 = prim.index_map %v by affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<2x9x6xf32> -> tensor<2x8x6x9xf32>
// CHECK-NEXT:    %r_20 = prim.elementwise mul(%r_18, %r_19) : tensor<2x8x6x9xf32>
// CHECK-NEXT:    %r_21 = prim.reduce add(%r_20) dims [3] : (tensor<2x8x6x9xf32>) -> tensor<2x8x6xf32>
// CHECK-NEXT:    %r_22 = prim.index_map %r_17 by affine_map<(d0, d1, d2) -> (d0, d1)> : tensor<2x8xf32> -> tensor<2x8x6xf32>
// CHECK-NEXT:    %r_23 = prim.elementwise div(%r_21, %r_22) : tensor<2x8x6xf32>
// CHECK-NEXT:    func.return %r_23 : tensor<2x8x6xf32>
func.func @kept(%q: tensor<2x8x4xf32>, %k: tensor<2x9x4xf32>, %v: tensor<2x9x6xf32>, %m: tensor<8x9xi1>) -> tensor<2x8x6xf32> {
  %r = torch.scaled_dot_product_attention %q, %k, %v attn_mask %m
      : (tensor<2x8x4xf32>, tensor<2x9x4xf32>, tensor<2x9x6xf32>, tensor<8x9xi1>) -> tensor<2x8x6xf32>
  func.return %r : tensor<2x8x6xf32>
}

// Another mask that is a predicate works the same way: here a sliding window, seen through a view.
// CHECK-LABEL: func.func @sliding(
// CHECK:         prim.elementwise select(%r_6, %r_5, %r_7)
// CHECK:         %r_13 = prim.elementwise sub(%r_8, %r_12) : tensor<2x8x9xf32>
// CHECK:         %r_20 = prim.elementwise select(%r_18, %r_13, %r_19)
// CHECK-NEXT:    %r_21 = prim.elementwise exp(%r_20) : tensor<2x8x9xf32>
// CHECK:         prim.elementwise mul(%{{.*}}, %{{.*}}) fastmath<nnan,ninf> : tensor<2x8x6x9xf32>
func.func @sliding(%q: tensor<2x8x4xf32>, %k: tensor<2x9x4xf32>, %v: tensor<2x9x6xf32>) -> tensor<2x8x6xf32> {
  %m = prim.predicate affine_map<(d0, d1) -> (d0 - d1, d1 - d0 + 2)> : tensor<8x9xi1>
  %n = torch.unsqueeze %m dim 0 : (tensor<8x9xi1>) -> tensor<1x8x9xi1>
  %r = torch.scaled_dot_product_attention %q, %k, %v attn_mask %n
      : (tensor<2x8x4xf32>, tensor<2x9x4xf32>, tensor<2x9x6xf32>, tensor<1x8x9xi1>) -> tensor<2x8x6xf32>
  func.return %r : tensor<2x8x6xf32>
}

// An added bias hides nothing, made of positions or not: it is added once.
// CHECK-LABEL: func.func @added(
// CHECK-NOT:     select
// CHECK:         prim.elementwise add(
// CHECK-NOT:     prim.elementwise add(
// CHECK-NOT:     fastmath
// CHECK:         func.return
func.func @added(%q: tensor<2x8x4xf32>, %k: tensor<2x9x4xf32>, %v: tensor<2x9x6xf32>) -> tensor<2x8x6xf32> {
  %m = prim.predicate affine_map<(d0, d1) -> (d0 - d1)> : tensor<8x9xi1>
  %f = prim.elementwise cast(%m) : (tensor<8x9xi1>) -> tensor<8x9xf32>
  %r = torch.scaled_dot_product_attention %q, %k, %v attn_mask %f
      : (tensor<2x8x4xf32>, tensor<2x9x4xf32>, tensor<2x9x6xf32>, tensor<8x9xf32>) -> tensor<2x8x6xf32>
  func.return %r : tensor<2x8x6xf32>
}

// Two heads of the query share one of key and value.
// CHECK-LABEL: func.func @shared(
// CHECK-NEXT:    %r = prim.index_map %q by affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)> : tensor<4x8x4xf32> -> tensor<4x8x9x4xf32>
// CHECK-NEXT:    %r_1 = prim.index_map %k by affine_map<(d0, d1, d2, d3) -> ((d0 floordiv 2), d2, d3)> : tensor<2x9x4xf32> -> tensor<4x8x9x4xf32>
// CHECK-NEXT:    %r_2 = prim.elementwise mul(%r, %r_1) : tensor<4x8x9x4xf32>
// CHECK-NEXT:    %r_3 = prim.reduce add(%r_2) dims [3] : (tensor<4x8x9x4xf32>) -> tensor<4x8x9xf32>
// CHECK-NEXT:    %r_4 = prim.constant 5.000000e-01 : f32 -> tensor<4x8x9xf32>
// CHECK-NEXT:    %r_5 = prim.elementwise mul(%r_3, %r_4) : tensor<4x8x9xf32>
// CHECK-NEXT:    %r_6 = prim.reduce max(%r_5) dims [2] : (tensor<4x8x9xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_7 = prim.constant -3.40282347e+38 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_8 = prim.elementwise maximum(%r_6, %r_7) : tensor<4x8xf32>
// CHECK-NEXT:    %r_9 = prim.index_map %r_8 by affine_map<(d0, d1, d2) -> (d0, d1)> : tensor<4x8xf32> -> tensor<4x8x9xf32>
// CHECK-NEXT:    %r_10 = prim.elementwise sub(%r_5, %r_9) : tensor<4x8x9xf32>
// CHECK-NEXT:    %r_11 = prim.elementwise exp(%r_10) : tensor<4x8x9xf32>
// CHECK-NEXT:    %r_12 = prim.reduce add(%r_11) dims [2] : (tensor<4x8x9xf32>) -> tensor<4x8xf32>
// CHECK-NEXT:    %r_13 = prim.constant 1.000000e+00 : f32 -> tensor<4x8xf32>
// CHECK-NEXT:    %r_14 = prim.elementwise maximum(%r_12, %r_13) : tensor<4x8xf32>
// CHECK-NEXT:    %r_15 = prim.index_map %r_11 by affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)> : tensor<4x8x9xf32> -> tensor<4x8x6x9xf32>
// CHECK-NEXT:    %r_16 = prim.index_map %v by affine_map<(d0, d1, d2, d3) -> ((d0 floordiv 2), d3, d2)> : tensor<2x9x6xf32> -> tensor<4x8x6x9xf32>
// CHECK-NEXT:    %r_17 = prim.elementwise mul(%r_15, %r_16) : tensor<4x8x6x9xf32>
// CHECK-NEXT:    %r_18 = prim.reduce add(%r_17) dims [3] : (tensor<4x8x6x9xf32>) -> tensor<4x8x6xf32>
// CHECK-NEXT:    %r_19 = prim.index_map %r_14 by affine_map<(d0, d1, d2) -> (d0, d1)> : tensor<4x8xf32> -> tensor<4x8x6xf32>
// CHECK-NEXT:    %r_20 = prim.elementwise div(%r_18, %r_19) : tensor<4x8x6xf32>
// CHECK-NEXT:    func.return %r_20 : tensor<4x8x6xf32>
func.func @shared(%q: tensor<4x8x4xf32>, %k: tensor<2x9x4xf32>, %v: tensor<2x9x6xf32>) -> tensor<4x8x6xf32> {
  %r = torch.scaled_dot_product_attention %q, %k, %v enable_gqa true
      : (tensor<4x8x4xf32>, tensor<2x9x4xf32>, tensor<2x9x6xf32>) -> tensor<4x8x6xf32>
  func.return %r : tensor<4x8x6xf32>
}

// A mask of positions and an input of one integer is a predicate too, as for a decode step.
// CHECK-LABEL: func.func @filled(
// CHECK-COUNT-2: prim.elementwise select(
// CHECK:         prim.elementwise mul(%{{.*}}, %{{.*}}) fastmath<nnan,ninf> : tensor<2x1x6x9xf32>
func.func @filled(%q: tensor<2x1x4xf32>, %k: tensor<2x9x4xf32>, %v: tensor<2x9x6xf32>, %position: tensor<1xi64>) -> tensor<2x1x6xf32> {
  %i = prim.iota affine_map<(d0, d1) -> (d1)> : tensor<1x9xi64>
  %le = torch.le %i, %position : (tensor<1x9xi64>, tensor<1xi64>) -> tensor<1x9xi1>
  %s = torch.sub.Scalar %position other 5 : (tensor<1xi64>) -> tensor<1xi64>
  %gt = torch.gt %i, %s : (tensor<1x9xi64>, tensor<1xi64>) -> tensor<1x9xi1>
  %m = torch.bitwise_and %le, %gt : (tensor<1x9xi1>, tensor<1x9xi1>) -> tensor<1x9xi1>
  %r = torch.scaled_dot_product_attention %q, %k, %v attn_mask %m
      : (tensor<2x1x4xf32>, tensor<2x9x4xf32>, tensor<2x9x6xf32>, tensor<1x9xi1>) -> tensor<2x1x6xf32>
  func.return %r : tensor<2x1x6xf32>
}

// Several integers, one length for each query, are in memory: they are read once.
// CHECK-LABEL: func.func @lengths(
// CHECK-COUNT-1: prim.elementwise select(
// CHECK-NOT:     prim.elementwise select(
// CHECK-NOT:     fastmath
// CHECK:         func.return
func.func @lengths(%q: tensor<2x1x4xf32>, %k: tensor<2x9x4xf32>, %v: tensor<2x9x6xf32>, %lengths: tensor<2x1x1xi64>) -> tensor<2x1x6xf32> {
  %i = prim.iota affine_map<(d0, d1) -> (d1)> : tensor<1x9xi64>
  %m = torch.lt %i, %lengths : (tensor<1x9xi64>, tensor<2x1x1xi64>) -> tensor<2x1x9xi1>
  %r = torch.scaled_dot_product_attention %q, %k, %v attn_mask %m
      : (tensor<2x1x4xf32>, tensor<2x9x4xf32>, tensor<2x9x6xf32>, tensor<2x1x9xi1>) -> tensor<2x1x6xf32>
  func.return %r : tensor<2x1x6xf32>
}

// For many queries and keys the statistics have the mask, too.
// CHECK-LABEL: func.func @many(
// CHECK:         %r_8 = prim.elementwise select(%r_6, %r_5, %r_7)
// CHECK:         %[[HIDDEN:.*]] = prim.elementwise select(%r_6, %r_8, %{{[^)]*}})
// CHECK-NEXT:    prim.reduce max(%[[HIDDEN]]) dims [2]
// CHECK:         %[[SHIFTED:.*]] = prim.elementwise select(%r_6, %{{[^)]*}})
// CHECK-NEXT:    %[[WEIGHTS:.*]] = prim.elementwise exp(%[[SHIFTED]])
// CHECK-NEXT:    prim.reduce add(%[[WEIGHTS]]) dims [2]
// CHECK:         prim.index_map %[[WEIGHTS]] by
// CHECK-NOT:     select
// CHECK:         fastmath<nnan,ninf>
func.func @many(%q: tensor<2x256x4xf32>, %k: tensor<2x300x4xf32>, %v: tensor<2x300x6xf32>) -> tensor<2x256x6xf32> {
  %r = torch.scaled_dot_product_attention %q, %k, %v is_causal true
      : (tensor<2x256x4xf32>, tensor<2x300x4xf32>, tensor<2x300x6xf32>) -> tensor<2x256x6xf32>
  func.return %r : tensor<2x256x6xf32>
}
