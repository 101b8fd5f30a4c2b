// RUN: opt-tool %s -p 'tileify{columns=true}' --remarks --check=each 2>&1 | filecheck %s
// RUN: opt-tool %s -p tileify,tileify --remarks --check=each 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: not opt-tool %s -p 'tileify{columns=2}' 2>&1 | filecheck %s --check-prefix=WORD

// A kernel that is already a launch is unchanged.
// CHECK:     --- t:001_tileify skipped at launched: it is a launch already
// CHECK-NOT: skipped at sums
// TWICE:     --- t:001_tileify skipped at sums: it is a launch already
// WORD:      error: pass 'tileify': option 'columns' expects true or false, not '2' (e.g. columns=true)

// CHECK:       loop.kernel @launched
// CHECK-NEXT:    tile.launch (%t = thread 33) {
// CHECK-NOT:     schedule
loop.kernel @launched(%x: memref<33xf32>) -> (%out: memref<33xf32>) {
  tile.launch (%t = thread 33) {
    %0 = loop.load %x[%t] : memref<33xf32>
    loop.store %0, %out[%t] : memref<33xf32>
  }
}

// Sums of rows have no columns that could become axes of the launch.
// CHECK:       loop.kernel @sums
// CHECK-NEXT:    tile.launch (%i = block 33 row) {
// CHECK-NEXT:      loop.reduce %k in 65 with add {
loop.kernel @sums(%x: memref<33x65xf32>) -> (%out: memref<33xf32>) {
  loop.for %i in 33 {
    %s = loop.reduce %k in 65 with add {
      %0 = loop.load %x[%i, %k] : memref<33x65xf32>
      loop.yield %0 : f32
    } : f32
    loop.store %s, %out[%i] : memref<33xf32>
  }
}
