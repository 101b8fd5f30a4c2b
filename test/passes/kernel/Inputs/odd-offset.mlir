func.func @main(%x: memref<4xf32>) -> memref<4xf32> {
  %a = memref.alloc() {plan.offset = 8 : i64} : memref<4xf32>
  func.return %x : memref<4xf32>
}
