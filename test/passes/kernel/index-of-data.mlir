// RUN: opt-tool %s -p convert-tile-to-kernel --check=each | filecheck %s

// An index from data is used in a nest of more register axes than it depends on. Registers hold no
// indices: they hold the data, and the inner nest makes the index.
func.func @main(%ids: memref<8xi64>, %table: memref<10x4xf32>) -> memref<8x4xf32> {
  %rows = memref.alloc() : memref<8x4xf32>
  loop.launch @rows(%ids, %table) -> (%rows) : (memref<8xi64>, memref<10x4xf32>) -> (memref<8x4xf32>)
  func.return %rows : memref<8x4xf32>
}
loop.kernel @rows(%ids: memref<8xi64>, %table: memref<10x4xf32>) -> (%out: memref<8x4xf32>) {
  tile.launch (%t = thread 4, %vm = register 2, %vn = register 4) {
    %0 = loop.load %ids[%t * 2 + %vm] : memref<8xi64>
    %1 = loop.to_index %0 below 10 : i64
    %2 = loop.load %table[%1, %vn] : memref<10x4xf32>
    loop.store %2, %out[%t * 2 + %vm, %vn] : memref<8x4xf32>
  }
}

// CHECK-LABEL: kernel.func grid 1 block 4 @rows
// CHECK:         %[[KEPT:.*]] = kernel.registers : memref<2xi64, 5 : i64>
// CHECK-NEXT:    kernel.unroll %[[M:.*]] in 2 {
// CHECK-NEXT:      %[[ID:.*]] = loop.load %ids[%t * 2 + %[[M]]] : memref<8xi64>
// CHECK-NEXT:      loop.store %[[ID]], %[[KEPT]][%[[M]]]
// CHECK:         kernel.unroll %[[M1:.*]] in 2, %[[N:.*]] in 4 {
// CHECK-NEXT:      %[[AGAIN:.*]] = loop.load %[[KEPT]][%[[M1]]]
// CHECK-NEXT:      %[[ROW:.*]] = loop.to_index %[[AGAIN]] below 10 : i64
// CHECK-NEXT:      %[[VALUE:.*]] = loop.load %table[%[[ROW]], %[[N]]]
// CHECK-NEXT:      loop.store %[[VALUE]], %out[%t * 2 + %[[M1]], %[[N]]]
