// RUN: opt-tool %s -p decompose | filecheck %s

// Views: one index map each, or nothing.

// CHECK-LABEL: func.func @reshape(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1) -> (((d0 * 2) + (d1 floordiv 8)), (d1 mod 8))> : tensor<4x8xf32> -> tensor<2x16xf32>
// CHECK-NEXT:    func.return %r : tensor<2x16xf32>
func.func @reshape(%x: tensor<4x8xf32>) -> tensor<2x16xf32> {
  %r = torch.reshape %x shape [2, -1]
      : (tensor<4x8xf32>) -> tensor<2x16xf32>
  func.return %r : tensor<2x16xf32>
}

// Dimensions that stay whole need no division.
// CHECK-LABEL: func.func @split(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2, d3) -> (d0, d1, ((d2 * 7) + d3))> : tensor<4x6x35xf32> -> tensor<4x6x5x7xf32>
// CHECK-NEXT:    func.return %r : tensor<4x6x5x7xf32>
func.func @split(%x: tensor<4x6x35xf32>) -> tensor<4x6x5x7xf32> {
  %r = torch.view %x size [4, 6, 5, 7]
      : (tensor<4x6x35xf32>) -> tensor<4x6x5x7xf32>
  func.return %r : tensor<4x6x5x7xf32>
}

// CHECK-LABEL: func.func @flatten(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1) -> (d0, (d1 floordiv 8), (d1 mod 8))> : tensor<2x4x8xf32> -> tensor<2x32xf32>
// CHECK-NEXT:    func.return %r : tensor<2x32xf32>
func.func @flatten(%x: tensor<2x4x8xf32>) -> tensor<2x32xf32> {
  %r = torch.flatten.using_ints %x start_dim 1
      : (tensor<2x4x8xf32>) -> tensor<2x32xf32>
  func.return %r : tensor<2x32xf32>
}

// CHECK-LABEL: func.func @unsqueeze(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2) -> (d0, d2)> : tensor<4x8xf32> -> tensor<4x1x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x1x8xf32>
func.func @unsqueeze(%x: tensor<4x8xf32>) -> tensor<4x1x8xf32> {
  %r = torch.unsqueeze %x dim 1
      : (tensor<4x8xf32>) -> tensor<4x1x8xf32>
  func.return %r : tensor<4x1x8xf32>
}

// CHECK-LABEL: func.func @squeeze(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1) -> (d0, 0, d1)> : tensor<4x1x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<4x8xf32>
func.func @squeeze(%x: tensor<4x1x8xf32>) -> tensor<4x8xf32> {
  %r = torch.squeeze %x
      : (tensor<4x1x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @transpose(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2) -> (d0, d2, d1)> : tensor<2x4x8xf32> -> tensor<2x8x4xf32>
// CHECK-NEXT:    func.return %r : tensor<2x8x4xf32>
func.func @transpose(%x: tensor<2x4x8xf32>) -> tensor<2x8x4xf32> {
  %r = torch.transpose.int %x dim0 1 dim1 -1
      : (tensor<2x4x8xf32>) -> tensor<2x8x4xf32>
  func.return %r : tensor<2x8x4xf32>
}

// CHECK-LABEL: func.func @permute(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2) -> (d1, d2, d0)> : tensor<2x4x8xf32> -> tensor<8x2x4xf32>
// CHECK-NEXT:    func.return %r : tensor<8x2x4xf32>
func.func @permute(%x: tensor<2x4x8xf32>) -> tensor<8x2x4xf32> {
  %r = torch.permute %x dims [2, 0, 1]
      : (tensor<2x4x8xf32>) -> tensor<8x2x4xf32>
  func.return %r : tensor<8x2x4xf32>
}

// CHECK-LABEL: func.func @t(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1) -> (d1, d0)> : tensor<4x8xf32> -> tensor<8x4xf32>
// CHECK-NEXT:    func.return %r : tensor<8x4xf32>
func.func @t(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %r = torch.t %x
      : (tensor<4x8xf32>) -> tensor<8x4xf32>
  func.return %r : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @expand(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2) -> (d1, 0)> : tensor<4x1xf32> -> tensor<2x4x8xf32>
// CHECK-NEXT:    func.return %r : tensor<2x4x8xf32>
func.func @expand(%x: tensor<4x1xf32>) -> tensor<2x4x8xf32> {
  %r = torch.expand %x size [2, -1, 8]
      : (tensor<4x1xf32>) -> tensor<2x4x8xf32>
  func.return %r : tensor<2x4x8xf32>
}

// CHECK-LABEL: func.func @repeat(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2) -> (d1, (d2 mod 8))> : tensor<4x8xf32> -> tensor<2x4x24xf32>
// CHECK-NEXT:    func.return %r : tensor<2x4x24xf32>
func.func @repeat(%x: tensor<4x8xf32>) -> tensor<2x4x24xf32> {
  %r = torch.repeat %x repeats [2, 1, 3]
      : (tensor<4x8xf32>) -> tensor<2x4x24xf32>
  func.return %r : tensor<2x4x24xf32>
}

// CHECK-LABEL: func.func @repeat_interleave(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1) -> (d0, (d1 floordiv 3))> : tensor<4x8xf32> -> tensor<4x24xf32>
// CHECK-NEXT:    func.return %r : tensor<4x24xf32>
func.func @repeat_interleave(%x: tensor<4x8xf32>) -> tensor<4x24xf32> {
  %r = torch.repeat_interleave.self_int %x repeats 3 dim 1
      : (tensor<4x8xf32>) -> tensor<4x24xf32>
  func.return %r : tensor<4x24xf32>
}

// CHECK-LABEL: func.func @pixel_shuffle(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2) -> ((((d0 * 4) + ((d1 mod 2) * 2)) + (d2 mod 2)), (d1 floordiv 2), (d2 floordiv 2))> : tensor<8x3x3xf32> -> tensor<2x6x6xf32>
// CHECK-NEXT:    func.return %r : tensor<2x6x6xf32>
func.func @pixel_shuffle(%x: tensor<8x3x3xf32>) -> tensor<2x6x6xf32> {
  %r = torch.pixel_shuffle %x upscale_factor 2
      : (tensor<8x3x3xf32>) -> tensor<2x6x6xf32>
  func.return %r : tensor<2x6x6xf32>
}

// CHECK-LABEL: func.func @pixel_unshuffle(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2) -> ((d0 floordiv 4), ((d1 * 2) + ((d0 floordiv 2) mod 2)), ((d2 * 2) + (d0 mod 2)))> : tensor<2x6x6xf32> -> tensor<8x3x3xf32>
// CHECK-NEXT:    func.return %r : tensor<8x3x3xf32>
func.func @pixel_unshuffle(%x: tensor<2x6x6xf32>) -> tensor<8x3x3xf32> {
  %r = torch.pixel_unshuffle %x downscale_factor 2
      : (tensor<2x6x6xf32>) -> tensor<8x3x3xf32>
  func.return %r : tensor<8x3x3xf32>
}

// CHECK-LABEL: func.func @channel_shuffle(
// CHECK-NEXT:    %r = prim.index_map %x by affine_map<(d0, d1, d2) -> (0, (((d1 mod 2) * 3) + (d1 floordiv 2)), d2)> : tensor<1x6x3xf32> -> tensor<1x6x3xf32>
// CHECK-NEXT:    func.return %r : tensor<1x6x3xf32>
func.func @channel_shuffle(%x: tensor<1x6x3xf32>) -> tensor<1x6x3xf32> {
  %r = torch.channel_shuffle %x groups 2
      : (tensor<1x6x3xf32>) -> tensor<1x6x3xf32>
  func.return %r : tensor<1x6x3xf32>
}

// Where no element moves, there is nothing to do.
// CHECK-LABEL: func.func @same(
// CHECK-NEXT:    func.return %x : tensor<4x8xf32>
func.func @same(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.view %x size [4, -1]
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @clone(
// CHECK-NEXT:    func.return %x : tensor<4x8xf32>
func.func @clone(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %r = torch.clone %x memory_format "contiguous_format"
      : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return %r : tensor<4x8xf32>
}
