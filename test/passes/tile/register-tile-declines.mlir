// RUN: opt-tool %s -p register-tile,register-tile --remarks --check=each 2>&1 | filecheck %s

// CHECK: --- t:008_register_tile skipped at single: a block has one thread, and no axis to split
// CHECK: --- t:008_register_tile skipped at tiled: each thread has several elements already
// CHECK: --- t:008_register_tile skipped at twice: each thread has several elements already

// CHECK: tile.launch () {
loop.kernel @single(%x: memref<f32>) -> (%out: memref<f32>) {
  tile.launch () {
    %0 = loop.load %x[] : memref<f32>
    loop.store %0, %out[] : memref<f32>
  }
}

// CHECK: tile.launch (%t = thread 8, %v = register 4) {
loop.kernel @tiled(%x: memref<32xf32>) -> (%out: memref<32xf32>) {
  tile.launch (%t = thread 8, %v = register 4) {
    %0 = loop.load %x[%t * 4 + %v] : memref<32xf32>
    loop.store %0, %out[%t * 4 + %v] : memref<32xf32>
  }
}

// CHECK: tile.launch (%b = block 2, %t = thread 128, %v = register 4) {
// CHECK: } schedule "register-tile{vector=4 items=1 min_blocks=0}"
loop.kernel @twice(%x: memref<1024xf32>) -> (%out: memref<1024xf32>) {
  tile.launch (%b = block 2, %t = thread 512) {
    %0 = loop.load %x[%b * 512 + %t] : memref<1024xf32>
    loop.store %0, %out[%b * 512 + %t] : memref<1024xf32>
  }
}
