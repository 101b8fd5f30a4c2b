// torch.relu(torch.matmul(x + bias, w)) in Torch IR: the running example of docs/.
func.func @main(%x: tensor<16x64xf32>, %bias: tensor<64xf32>, %w: tensor<64x16xf32>) -> tensor<16x16xf32> {
  %add = torch.add %x, %bias : (tensor<16x64xf32>, tensor<64xf32>) -> tensor<16x64xf32>
  %matmul = torch.matmul %add, %w : (tensor<16x64xf32>, tensor<64x16xf32>) -> tensor<16x16xf32>
  %relu = torch.relu %matmul : (tensor<16x16xf32>) -> tensor<16x16xf32>
  func.return %relu : tensor<16x16xf32>
}
