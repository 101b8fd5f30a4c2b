// RUN: opt-tool %s -p permute-register-tile --remarks --check=each 2>&1 | filecheck %s
// RUN: not opt-tool %s -p 'permute-register-tile{vm=3}' 2>&1 | filecheck %s --check-prefix=STRIPS
// RUN: not opt-tool %s -p 'permute-register-tile{lanes_m=3}' 2>&1 | filecheck %s --check-prefix=WARPS
// RUN: not opt-tool %s -p 'permute-register-tile{fastest=k}' 2>&1 | filecheck %s --check-prefix=ALONG
// RUN: not opt-tool %s -p 'permute-register-tile{vn=1}' 2>&1 | filecheck %s --check-prefix=JOINED

// Elements of a vector have no rows and columns, and threads that own one element have no register tile.
// CHECK: skipped at line: its threads own no rows and columns in registers (register-tile)
// CHECK: skipped at tile: its threads own no rows and columns in registers (register-tile)
// CHECK: tile.launch (%b = block 4, %t = thread 32, %v = register 4) {
loop.kernel @line(%x: memref<500xf32>) -> (%out: memref<500xf32>) {
  tile.launch (%b = block 4, %t = thread 32, %v = register 4) {
    %0 = loop.load %x[%b * 128 + %t * 4 + %v] where [499 - %b * 128 - %t * 4 - %v] : memref<500xf32>
    loop.store %0, %out[%b * 128 + %t * 4 + %v] where [499 - %b * 128 - %t * 4 - %v] : memref<500xf32>
  }
}

loop.kernel @tile(%x: memref<8x8xf32>, %y: memref<8x8xf32>) -> (%out: memref<8x8xf32>) {
  tile.launch (%tm = thread 8 m, %tn = thread 8 n) {
    %acc = loop.reduce %k in 8 with add {
      %0 = loop.load %x[%tm, %k] : memref<8x8xf32>
      %1 = loop.load %y[%k, %tn] : memref<8x8xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    loop.store %acc, %out[%tm, %tn] : memref<8x8xf32>
  }
}

// The threads of a row share its maximum and own columns too: these columns stay in place.
// STRIPS: cannot do 'permute-register-tile{vm=3 vn=4 lanes_m=4 fastest=n}' in @shared: 4 rows of a thread do not divide into strips of 3
// WARPS: for 8 by 8 threads lanes_m is 4 or 8, not 3
// ALONG: fastest is n or m, not 'k'
// JOINED: values are joined across %tn alone; leave vn at 4
// CHECK: tile.launch (%tm = thread 8 m, %tn = thread 8 n, %vm = register 4 m, %vn = register 4 n) {
// CHECK: tile.combine %most across %tn with max
// CHECK: } schedule "permute-register-tile{vm=4 vn=4 lanes_m=4 fastest=n}"
loop.kernel @shared(%x: memref<32x8xf32>, %y: memref<8x32xf32>) -> (%out: memref<32x32xf32>) {
  tile.launch (%tm = thread 8 m, %tn = thread 8 n, %vm = register 4 m, %vn = register 4 n) {
    %most = loop.load %x[%tm * 4 + %vm, %tn] : memref<32x8xf32>
    %max = tile.combine %most across %tn with max : f32
    %acc = loop.reduce %k in 8 with add {
      %0 = loop.load %x[%tm * 4 + %vm, %k] : memref<32x8xf32>
      %1 = loop.load %y[%k, %tn * 4 + %vn] : memref<8x32xf32>
      %2 = arith.mulf %0, %1 : f32
      loop.yield %2 : f32
    } : f32
    %3 = arith.addf %acc, %max : f32
    loop.store %3, %out[%tm * 4 + %vm, %tn * 4 + %vn] : memref<32x32xf32>
  }
}
