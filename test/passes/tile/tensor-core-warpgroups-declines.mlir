// RUN: opt-tool %s -p tensor-core --split-input-file --check=each | filecheck %s --check-prefix=OTHERS
// RUN: opt-tool %s -p 'tensor-core{instr=m64nNk16_f16}' --split-input-file --verify-diagnostics | filecheck %s

// Products that warpgroups cannot multiply. Warps still can.
//
// OTHERS-COUNT-4: by(m16n8k16_f16)

// CHECK: @two_warps: the rows of a block are not those of 4 warps next to each other
loop.kernel @two_warps(%a: memref<32x16xf16>, %b: memref<16x16xf16>) -> (%out: memref<32x16xf32>) {
  tile.launch (%tm = thread 16 m, %tn = thread 4 n, %vm = register 2 m, %vn = register 4 n) {
    %as = tile.stage (%i, %k) in [32, 16] {
      %0 = loop.load %a[%i, %k] : memref<32x16xf16>
      loop.yield %0 : f16
    } : memref<32x16xf16, 3 : i64>
    %bs = tile.stage (%k, %j) in [16, 16] {
      %0 = loop.load %b[%k, %j] : memref<16x16xf16>
      loop.yield %0 : f16
    } : memref<16x16xf16, 3 : i64>
    %acc = loop.reduce %ki in 16 with add {
      %x = loop.load %as[%tm * 2 + %vm, %ki] : memref<32x16xf16, 3 : i64>
      %xf = arith.extf %x : f16 to f32
      %y = loop.load %bs[%ki, %tn * 4 + %vn] : memref<16x16xf16, 3 : i64>
      %yf = arith.extf %y : f16 to f32
      %xy = arith.mulf %xf, %yf : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%tm * 2 + %vm, %tn * 4 + %vn] : memref<32x16xf32>
  }
}

// -----

// CHECK: @padded: %as has a layout already
loop.kernel @padded(%a: memref<64x16xf16>, %b: memref<16x16xf16>) -> (%out: memref<64x16xf32>) {
  tile.launch (%tm = thread 32 m, %tn = thread 4 n, %vm = register 2 m, %vn = register 4 n) {
    %as = tile.stage (%i, %k) in [64, 16] {
      %0 = loop.load %a[%i, %k] : memref<64x16xf16>
      loop.yield %0 : f16
    } : memref<64x16xf16, #tile.layout<pad [0, 8]>, 3 : i64>
    %bs = tile.stage (%k, %j) in [16, 16] {
      %0 = loop.load %b[%k, %j] : memref<16x16xf16>
      loop.yield %0 : f16
    } : memref<16x16xf16, 3 : i64>
    %acc = loop.reduce %ki in 16 with add {
      %x = loop.load %as[%tm * 2 + %vm, %ki] : memref<64x16xf16, #tile.layout<pad [0, 8]>, 3 : i64>
      %xf = arith.extf %x : f16 to f32
      %y = loop.load %bs[%ki, %tn * 4 + %vn] : memref<16x16xf16, 3 : i64>
      %yf = arith.extf %y : f16 to f32
      %xy = arith.mulf %xf, %yf : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%tm * 2 + %vm, %tn * 4 + %vn] : memref<64x16xf32>
  }
}

// -----

// CHECK: @narrow: %bs has rows of 16 bytes, which are not whole spans of 32, 64 or 128
loop.kernel @narrow(%a: memref<64x16xf16>, %b: memref<16x8xf16>) -> (%out: memref<64x8xf32>) {
  tile.launch (%tm = thread 32 m, %tn = thread 4 n, %vm = register 2 m, %vn = register 2 n) {
    %as = tile.stage (%i, %k) in [64, 16] {
      %0 = loop.load %a[%i, %k] : memref<64x16xf16>
      loop.yield %0 : f16
    } : memref<64x16xf16, 3 : i64>
    %bs = tile.stage (%k, %j) in [16, 8] {
      %0 = loop.load %b[%k, %j] : memref<16x8xf16>
      loop.yield %0 : f16
    } : memref<16x8xf16, 3 : i64>
    %acc = loop.reduce %ki in 16 with add {
      %x = loop.load %as[%tm * 2 + %vm, %ki] : memref<64x16xf16, 3 : i64>
      %xf = arith.extf %x : f16 to f32
      %y = loop.load %bs[%ki, %tn * 2 + %vn] : memref<16x8xf16, 3 : i64>
      %yf = arith.extf %y : f16 to f32
      %xy = arith.mulf %xf, %yf : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%tm * 2 + %vm, %tn * 2 + %vn] : memref<64x8xf32>
  }
}

// -----

// CHECK: @rows_apart: rows of %as that are multiplied together do not lie next to each other
loop.kernel @rows_apart(%a: memref<64x16xf16>, %b: memref<16x16xf16>) -> (%out: memref<64x16xf32>) {
  tile.launch (%tm = thread 32 m, %tn = thread 4 n, %vm = register 2 m, %vn = register 4 n) {
    %as = tile.stage (%i, %k) in [64, 16] {
      %0 = loop.load %a[%i, %k] : memref<64x16xf16>
      loop.yield %0 : f16
    } : memref<64x16xf16, 3 : i64>
    %bs = tile.stage (%k, %j) in [16, 16] {
      %0 = loop.load %b[%k, %j] : memref<16x16xf16>
      loop.yield %0 : f16
    } : memref<16x16xf16, 3 : i64>
    %acc = loop.reduce %ki in 16 with add {
      %x = loop.load %as[63 - %tm * 2 - %vm, %ki] : memref<64x16xf16, 3 : i64>
      %xf = arith.extf %x : f16 to f32
      %y = loop.load %bs[%ki, %tn * 4 + %vn] : memref<16x16xf16, 3 : i64>
      %yf = arith.extf %y : f16 to f32
      %xy = arith.mulf %xf, %yf : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%tm * 2 + %vm, %tn * 4 + %vn] : memref<64x16xf32>
  }
}
