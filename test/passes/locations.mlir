// RUN: opt-tool %s -p to-tensor,to-loop,to-tile,to-kernel --print-debuginfo | filecheck %s

// Each op of a kernel, and the kernel itself, can be traced to the program, and to its former op of
// Tile IR.

// CHECK:      loop.launch @relu_matmul{{.*}} loc("relu")
// CHECK:      kernel.func {{.*}} @relu_matmul
// CHECK:        loop.load %x{{.*}} loc("loop.load %x in tile.stage %xs"("matmul"))
// CHECK:        math.fma {{.*}} loc("loop.reduce %{{.*}}"("matmul"))
// CHECK:        arith.maximumf {{.*}} loc("arith.maximumf"("relu"))
// CHECK:        loop.store {{.*}}, %out{{.*}} loc("loop.store %out"("relu"))
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %matmul = torch.matmul %x, %w : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32> loc("matmul")
  %relu = torch.relu %matmul : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("relu")
  func.return %relu : tensor<4x4xf32>
}
