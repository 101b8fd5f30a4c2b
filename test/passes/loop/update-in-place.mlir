// RUN: opt-tool %s -p update-in-place --check=each | filecheck %s

// A kernel that copies all but the row that data names, for an argument that is to become its output,
// stores that row there, and has nothing to read of what it copied.
func.func @main(%cache: memref<2x32x16xf32> {torch.becomes = 0 : i64}, %row: memref<2x16xf32>, %at: memref<1xi64>) -> (memref<2x32x16xf32>, memref<2x32xf32>) {
  %new = memref.alloc() : memref<2x32x16xf32>
  loop.launch @put(%cache, %row, %at) -> (%new) : (memref<2x32x16xf32>, memref<2x16xf32>, memref<1xi64>) -> (memref<2x32x16xf32>)
  %sum = memref.alloc() : memref<2x32xf32>
  loop.launch @sum(%new) -> (%sum) : (memref<2x32x16xf32>) -> (memref<2x32xf32>)
  func.return %new, %sum : memref<2x32x16xf32>, memref<2x32xf32>
}
// CHECK:       func.func @main(%cache: memref<2x32x16xf32> {torch.becomes = 0 : i64}, %row
// CHECK-NEXT:    loop.launch @put(%row, %at) -> (%cache) : (memref<2x16xf32>, memref<1xi64>)
// CHECK-NEXT:    %sum = memref.alloc() : memref<2x32xf32>
// CHECK-NEXT:    loop.launch @sum(%cache) -> (%sum)
// CHECK-NEXT:    func.return %cache, %sum
loop.kernel @put(%cache: memref<2x32x16xf32>, %row: memref<2x16xf32>, %at: memref<1xi64>) -> (%out: memref<2x32x16xf32>) {
  loop.for %i in 2, %j in 32, %l in 16 {
    %0 = loop.load %at[0] : memref<1xi64>
    %1 = loop.to_index %0 below 32 : i64
    %2 = loop.index [%1] : i64
    %3 = loop.index [%j] : i64
    %4 = arith.cmpi eq, %2, %3 : i64
    %5 = loop.load %row[%i, %l] : memref<2x16xf32>
    %6 = loop.load %cache[%i, %j, %l] : memref<2x32x16xf32>
    %7 = arith.select %4, %5, %6 : f32
    loop.store %7, %out[%i, %j, %l] : memref<2x32x16xf32>
  }
}
// CHECK:       loop.kernel @put(%row: memref<2x16xf32>, %at: memref<1xi64>) -> (%out: memref<2x32x16xf32> {plan.updated}) {
// CHECK-NEXT:    loop.for %i in 2, %j in 16 {
// CHECK-NEXT:      %0 = loop.load %at[0] : memref<1xi64>
// CHECK-NEXT:      %1 = loop.to_index %0 below 32 : i64
// CHECK-NEXT:      %2 = loop.load %row[%i, %j] : memref<2x16xf32>
// CHECK-NEXT:      loop.store %2, %out[%i, %1, %j] : memref<2x32x16xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:  }
loop.kernel @sum(%x: memref<2x32x16xf32>) -> (%out: memref<2x32xf32>) {
  loop.for %i in 2, %j in 32 {
    %s = loop.reduce %k in 16 with add {
      %0 = loop.load %x[%i, %j, %k] : memref<2x32x16xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%i, %j] : memref<2x32xf32>
  }
}
