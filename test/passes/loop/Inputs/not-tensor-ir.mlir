func.func @f(%x: tensor<5xf32>) -> tensor<5xf32> {
  %0 = arith.addf %x, %x : tensor<5xf32>
  func.return %0 : tensor<5xf32>
}
