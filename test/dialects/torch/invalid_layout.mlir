// RUN: opt-tool %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// Slices, pads, joins and creation that the verifier refuses, as PyTorch does.

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: dim 2 is out of range for rank 2: use -2 to 1
  %0 = torch.slice %a dim 2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<f32>) {
  // CHECK: torch.slice takes no tensor without dimensions
  %0 = torch.slice %a : (tensor<f32>) -> tensor<f32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: step 0 must be at least 1
  %0 = torch.slice %a step 0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: index 4 is out of range for a dimension of size 4
  %0 = torch.select.int %a dim 0 index 4 : (tensor<4x8xf32>) -> tensor<8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: dim1, dim2 [0, -2] names a dimension twice
  %0 = torch.diagonal %a dim1 0 dim2 -2 : (tensor<4x8xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: a diagonal needs two dimensions, not 1
  %0 = torch.diagonal %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4xf32>) {
  // CHECK: torch.tril takes matrices, not 4
  %0 = torch.tril %a : (tensor<4xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: size 9 must be within 8, and step 1 above 0
  %0 = torch.unfold %a dimension 1 size 9 step 1 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: dims [0, 0] names a dimension twice
  %0 = torch.flip %a dims [0, 0] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: shifts [1, 2] and dims [] must pair up
  %0 = torch.roll %a shifts [1, 2] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: repeats [2] must give a count for each of 2 dimensions
  %0 = torch.repeat %a repeats [2] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: output_size must be 16, not 15
  %0 = torch.repeat_interleave.self_int %a repeats 2 dim 1 output_size 15 : (tensor<4x8xf32>) -> tensor<4x15xf32>
  func.return
}

// -----

func.func @f(%a: tensor<3x4x4xf32>) {
  // CHECK: 2x2 pixels do not divide 3x4x4
  %0 = torch.pixel_shuffle %a upscale_factor 2 : (tensor<3x4x4xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<3x5x4xf32>) {
  // CHECK: 2x2 pixels do not divide 3x5x4
  %0 = torch.pixel_unshuffle %a downscale_factor 2 : (tensor<3x5x4xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<1x4x2xf32>) {
  // CHECK: 3 groups do not divide the channels of 1x4x2
  %0 = torch.channel_shuffle %a groups 3 : (tensor<1x4x2xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: pad [1] must hold two sizes for each of up to 2 dimensions
  %0 = torch.pad %a pad [1] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: pad turns the shape 4x8 into [4, -1]: sizes are at least 0
  %0 = torch.pad %a pad [-4, -5] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: mode "reflect" pads by less than the dimension's size 8
  %0 = torch.pad %a pad [8, 0] mode "reflect" : (tensor<4x8xf32>) -> tensor<4x16xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: mode "circular" pads by at most the size 5 of the dimension
  %0 = torch.pad %a pad [-3, 6] mode "circular" : (tensor<4x8xf32>) -> tensor<4x11xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: mode "reflect" takes no value
  %0 = torch.pad %a pad [1, 0] mode "reflect" value 1.0 : (tensor<4x8xf32>) -> tensor<4x9xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: mode "replicate" pads the last one, two or three dimensions, with one or two before them, not 2 of 2
  %0 = torch.pad %a pad [1, 0, 1, 0] mode "replicate" : (tensor<4x8xf32>) -> tensor<5x9xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: mode is "constant" or one of ['reflect', 'replicate', 'circular'], not "wrap"
  %0 = torch.pad %a pad [1, 0] mode "wrap" : (tensor<4x8xf32>) -> tensor<4x9xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xi1>) {
  // CHECK: mode "replicate" does not take booleans
  %0 = torch.pad %a pad [1, 0] mode "replicate" : (tensor<4x8xi1>) -> tensor<4x9xi1>
  func.return
}

// -----

func.func @f(%a: tensor<4xui8>) {
  // CHECK: 300 is out of the range of ui8
  %0 = torch.constant_pad_nd %a pad [1, 0] value 300 : (tensor<4xui8>) -> tensor<5xui8>
  func.return
}

// -----

func.func @f(%a: tensor<3x4x4xf32>) {
  // CHECK: no window of kernel_size (5, 5) fits in 4x4
  %0 = torch.im2col %a kernel_size [5, 5] dilation [1, 1] padding [0, 0] stride [1, 1] : (tensor<3x4x4xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: split_size must be positive, not 0
  %0 = torch.split %a split_size 0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: torch.split of these operands gives 2 results, not 1
  %0 = torch.split %a split_size 2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>) {
  // CHECK: split_sizes [1, 2] must add up to 4
  %0, %1 = torch.split_with_sizes %a split_sizes [1, 2] : (tensor<4x8xf32>) -> (tensor<1x8xf32>, tensor<2x8xf32>)
  func.return
}

// -----

func.func @f(%a: tensor<f32>, %b: tensor<4x8xf32>) {
  // CHECK: cat takes tensors with dimensions, and at least one
  %0 = torch.cat %a, %b : (tensor<f32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<3x7xf32>) {
  // CHECK: 4x8 and 3x7 must be equal except in dim 0
  %0 = torch.cat %a, %b : (tensor<4x8xf32>, tensor<3x7xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<3x8xf32>) {
  // CHECK: stack takes tensors of one shape, and at least one
  %0 = torch.stack %a, %b : (tensor<4x8xf32>, tensor<3x8xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<7xf32>) {
  // CHECK: src has shape 7, the part that it replaces 8
  %0 = torch.select_scatter %a, %b dim 0 index 1 : (tensor<4x8xf32>, tensor<7xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<4xf32>) {
  // CHECK: src of shape 4 does not expand to 4x8
  %0 = torch.copy %a, %b : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f(%a: tensor<4x8xf32>, %b: tensor<1xf32>) {
  // CHECK: value is a tensor without dimensions, not 1
  %0 = torch.fill %a, %b : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  func.return
}

// -----

func.func @f() {
  // CHECK: nan is out of the range of i64
  %0 = torch.full size [4] fill_value nan dtype i64 : () -> tensor<4xi64>
  func.return
}

// -----

func.func @f() {
  // CHECK: size [-1] has a negative element
  %0 = torch.zeros size [-1] : () -> tensor<1xf32>
  func.return
}

// -----

func.func @f() {
  // CHECK: layout "sparse_coo" is not supported: only dense tensors are
  %0 = torch.zeros size [4] layout "sparse_coo" : () -> tensor<4xf32>
  func.return
}

// -----

func.func @f() {
  // CHECK: a tensor on the device meta has no values
  %0 = torch.zeros size [4] device "meta" : () -> tensor<4xf32>
  func.return
}

// -----

func.func @f() {
  // CHECK: pin_memory is not supported: results are allocated by the caller
  %0 = torch.ones size [4] pin_memory true : () -> tensor<4xf32>
  func.return
}

// -----

func.func @f() {
  // CHECK: a range from 5 does not reach 0 in steps of 1
  %0 = torch.arange.start start 5 end 0 : () -> tensor<5xi64>
  func.return
}

// -----

func.func @f() {
  // CHECK: a bound of a range is finite, not inf
  %0 = torch.arange end inf : () -> tensor<5xf32>
  func.return
}

// -----

func.func @f() {
  // CHECK: arange gives numbers, not booleans
  %0 = torch.arange end 2 dtype i1 : () -> tensor<2xi1>
  func.return
}
