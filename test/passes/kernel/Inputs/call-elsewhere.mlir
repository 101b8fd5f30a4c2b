func.func @main(%x: memref<4xf32>) -> memref<4xf32> {
  %0 = func.call @layer(%x) : (memref<4xf32>) -> memref<4xf32>
  func.return %0 : memref<4xf32>
}
func.func private @layer(memref<4xf32>) -> memref<4xf32>
