// RUN: opt-tool %s -p inline-calls --check=each 2>&1 | filecheck %s

// A check does not start with tensors that exceed memory.
// CHECK: pass 'inline-calls' is not checked at @same: about {{.*}} GiB of memory are too much; use smaller shapes
func.func @same(%x: memref<2147483648xf32>) -> memref<2147483648xf32> {
  func.return %x : memref<2147483648xf32>
}
