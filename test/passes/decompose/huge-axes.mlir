// RUN: opt-tool %s -p decompose | filecheck %s

// Subscripts of a huge axis are computed in the kernel, not one by one at compile time.
// CHECK-LABEL: @resized
// CHECK:         prim.iota
// CHECK:         prim.elementwise floor
func.func @resized(%x: tensor<1x1x4294967296xf32>) -> tensor<1x1x6442450944xf32> {
  %0 = torch.upsample_nearest1d %x output_size [6442450944]
      : (tensor<1x1x4294967296xf32>) -> tensor<1x1x6442450944xf32>
  func.return %0 : tensor<1x1x6442450944xf32>
}

// CHECK-LABEL: @pooled
func.func @pooled(%x: tensor<1x1x4294967296xf32>) -> tensor<1x1x2147483648xf32> {
  %0 = torch.avg_pool1d %x kernel_size [3] stride [2] padding [1]
      : (tensor<1x1x4294967296xf32>) -> tensor<1x1x2147483648xf32>
  func.return %0 : tensor<1x1x2147483648xf32>
}
