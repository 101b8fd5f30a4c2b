// RUN: opt-tool %s -p apply-schedule --remarks --check=each 2>&1 | filecheck %s

// CHECK: --- t:019_apply_schedule skipped at unplanned: no steps are planned

// A kernel without planned steps stays as it is.

// CHECK-LABEL: loop.kernel @unplanned
// CHECK-NEXT:    loop.for
// CHECK-NOT:     schedule
loop.kernel @unplanned(%x: memref<100xf32>) -> (%out: memref<100xf32>) {
  loop.for %i in 100 {
    %0 = loop.load %x[%i] : memref<100xf32>
    loop.store %0, %out[%i] : memref<100xf32>
  }
}
