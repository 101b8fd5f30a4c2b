// RUN: opt-tool %s -p convert-tile-to-kernel --split-input-file --verify-diagnostics | filecheck %s

// Reductions that are marked with a matrix instruction, which cannot do them.

// Both factors differ along columns alone.
loop.kernel @no_rows(%a: memref<16x16xbf16>, %b: memref<16x8xbf16>) -> (%out: memref<16x8xf32>) {
  tile.launch (%lm = lane 8 m, %ln = lane 4 n, %rm = register 2 m, %vn = register 2 n) {
    %as = tile.stage (%i, %k) in [16, 16] {
      %0 = loop.load %a[%i, %k] : memref<16x16xbf16>
      loop.yield %0 : bf16
    } : memref<16x16xbf16, 3 : i64>
    %bs = tile.stage (%k, %j) in [16, 8] {
      %0 = loop.load %b[%k, %j] : memref<16x8xbf16>
      loop.yield %0 : bf16
    } : memref<16x8xbf16, 3 : i64>
    // CHECK: 'm16n8k16_bf16' cannot do this reduction: no factor has both axes of the rows (%rm, %lm) in its subscripts
    %acc = loop.reduce %ki in 16 with add by(m16n8k16_bf16) {
      %x = loop.load %as[0, %ki] : memref<16x16xbf16, 3 : i64>
      %xf = arith.extf %x : bf16 to f32
      %y = loop.load %bs[%ki, %ln * 2 + %vn] : memref<16x8xbf16, 3 : i64>
      %yf = arith.extf %y : bf16 to f32
      %xy = arith.mulf %xf, %yf : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%rm * 8 + %lm, %ln * 2 + %vn] : memref<16x8xf32>
  }
}

// -----

loop.kernel @half_of_the_rows(%a: memref<16x16xbf16>, %b: memref<16x8xbf16>) -> (%out: memref<16x8xf32>) {
  tile.launch (%lm = lane 8 m, %ln = lane 4 n, %rm = register 2 m, %vn = register 2 n) {
    %as = tile.stage (%i, %k) in [16, 16] {
      %0 = loop.load %a[%i, %k] : memref<16x16xbf16>
      loop.yield %0 : bf16
    } : memref<16x16xbf16, 3 : i64>
    %bs = tile.stage (%k, %j) in [16, 8] {
      %0 = loop.load %b[%k, %j] : memref<16x8xbf16>
      loop.yield %0 : bf16
    } : memref<16x8xbf16, 3 : i64>
    // CHECK: 'm16n8k16_bf16' cannot do this reduction: no factor has both axes of the rows (%rm, %lm) in its subscripts
    %acc = loop.reduce %ki in 16 with add by(m16n8k16_bf16) {
      %x = loop.load %as[%lm, %ki] : memref<16x16xbf16, 3 : i64>
      %xf = arith.extf %x : bf16 to f32
      %y = loop.load %bs[%ki, %ln * 2 + %vn] : memref<16x8xbf16, 3 : i64>
      %yf = arith.extf %y : bf16 to f32
      %xy = arith.mulf %xf, %yf : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%rm * 8 + %lm, %ln * 2 + %vn] : memref<16x8xf32>
  }
}

// -----

loop.kernel @no_columns(%a: memref<16x16xbf16>, %b: memref<16x8xbf16>) -> (%out: memref<16x8xf32>) {
  tile.launch (%lm = lane 8 m, %ln = lane 4 n, %rm = register 2 m, %vn = register 2 n) {
    %as = tile.stage (%i, %k) in [16, 16] {
      %0 = loop.load %a[%i, %k] : memref<16x16xbf16>
      loop.yield %0 : bf16
    } : memref<16x16xbf16, 3 : i64>
    %bs = tile.stage (%k, %j) in [16, 8] {
      %0 = loop.load %b[%k, %j] : memref<16x8xbf16>
      loop.yield %0 : bf16
    } : memref<16x8xbf16, 3 : i64>
    // CHECK: 'm16n8k16_bf16' cannot do this reduction: no factor has both axes of the columns (%ln, %vn) in its subscripts
    %acc = loop.reduce %ki in 16 with add by(m16n8k16_bf16) {
      %x = loop.load %as[%rm * 8 + %lm, %ki] : memref<16x16xbf16, 3 : i64>
      %xf = arith.extf %x : bf16 to f32
      %y = loop.load %bs[%ki, 0] : memref<16x8xbf16, 3 : i64>
      %yf = arith.extf %y : bf16 to f32
      %xy = arith.mulf %xf, %yf : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%rm * 8 + %lm, %ln * 2 + %vn] : memref<16x8xf32>
  }
}

// -----

loop.kernel @both(%a: memref<16x16xbf16>, %b: memref<16x8xbf16>) -> (%out: memref<16x8xf32>) {
  tile.launch (%lm = lane 8 m, %ln = lane 4 n, %rm = register 2 m, %vn = register 2 n) {
    %as = tile.stage (%i, %k) in [16, 16] {
      %0 = loop.load %a[%i, %k] : memref<16x16xbf16>
      loop.yield %0 : bf16
    } : memref<16x16xbf16, 3 : i64>
    %bs = tile.stage (%k, %j) in [16, 8] {
      %0 = loop.load %b[%k, %j] : memref<16x8xbf16>
      loop.yield %0 : bf16
    } : memref<16x8xbf16, 3 : i64>
    // CHECK: 'm16n8k16_bf16' cannot do this reduction: a factor differs along both rows and columns
    %acc = loop.reduce %ki in 16 with add by(m16n8k16_bf16) {
      %x = loop.load %as[%rm * 8 + %lm, %ln * 2 + %vn] : memref<16x16xbf16, 3 : i64>
      %xf = arith.extf %x : bf16 to f32
      %y = loop.load %bs[%ki, %ln * 2 + %vn] : memref<16x8xbf16, 3 : i64>
      %yf = arith.extf %y : bf16 to f32
      %xy = arith.mulf %xf, %yf : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%rm * 8 + %lm, %ln * 2 + %vn] : memref<16x8xf32>
  }
}

// -----

// The vector would be B of the first product and A of the second.
loop.kernel @a_of_one_and_b_of_another(%v: memref<16xbf16>, %a: memref<16x16xbf16>, %b: memref<16x8xbf16>) -> (%out: memref<16x8xf32>, %out2: memref<16x8xf32>) {
  tile.launch (%lm = lane 8 m, %ln = lane 4 n, %rm = register 2 m, %vn = register 2 n) {
    %as = tile.stage (%i, %k) in [16, 16] {
      %0 = loop.load %a[%i, %k] : memref<16x16xbf16>
      loop.yield %0 : bf16
    } : memref<16x16xbf16, 3 : i64>
    %bs = tile.stage (%k, %j) in [16, 8] {
      %0 = loop.load %b[%k, %j] : memref<16x8xbf16>
      loop.yield %0 : bf16
    } : memref<16x8xbf16, 3 : i64>
    %vs = tile.stage (%k) in [16] {
      %0 = loop.load %v[%k] : memref<16xbf16>
      loop.yield %0 : bf16
    } : memref<16xbf16, 3 : i64>
    // CHECK: 'm16n8k16_bf16' cannot do this reduction: no factor has both axes of the columns (%ln, %vn) in its subscripts
    %acc, %acc2 = loop.reduce %ki in 16 with add by(m16n8k16_bf16) {
      %x = loop.load %as[%rm * 8 + %lm, %ki] : memref<16x16xbf16, 3 : i64>
      %xf = arith.extf %x : bf16 to f32
      %y = loop.load %bs[%ki, %ln * 2 + %vn] : memref<16x8xbf16, 3 : i64>
      %yf = arith.extf %y : bf16 to f32
      %z = loop.load %vs[%ki] : memref<16xbf16, 3 : i64>
      %zf = arith.extf %z : bf16 to f32
      %xy = arith.mulf %xf, %zf : f32
      %xz = arith.mulf %zf, %yf : f32
      loop.yield %xy, %xz : f32, f32
    } : f32, f32
    loop.store %acc, %out[%rm * 8 + %lm, %ln * 2 + %vn] : memref<16x8xf32>
    loop.store %acc2, %out2[%rm * 8 + %lm, %ln * 2 + %vn] : memref<16x8xf32>
  }
}

// -----

// Rows that data selects differ among lanes, in another way than the instruction needs.
loop.kernel @gather(%ids: memref<16xi32>, %a: memref<16x16xbf16>, %b: memref<16x8xbf16>) -> (%out: memref<16x8xf32>) {
  tile.launch (%lm = lane 8 m, %ln = lane 4 n, %rm = register 2 m, %vn = register 2 n) {
    %as = tile.stage (%i, %k) in [16, 16] {
      %0 = loop.load %a[%i, %k] : memref<16x16xbf16>
      loop.yield %0 : bf16
    } : memref<16x16xbf16, 3 : i64>
    %bs = tile.stage (%k, %j) in [16, 8] {
      %0 = loop.load %b[%k, %j] : memref<16x8xbf16>
      loop.yield %0 : bf16
    } : memref<16x8xbf16, 3 : i64>
    %id = loop.load %ids[%rm * 8 + %lm] : memref<16xi32>
    %ix = loop.to_index %id below 16 : i32
    // CHECK: 'm16n8k16_bf16' cannot do this reduction: subscripts of %as are data that may differ among the lanes of a warp
    %acc = loop.reduce %ki in 16 with add by(m16n8k16_bf16) {
      %x = loop.load %as[%ix, %ki] : memref<16x16xbf16, 3 : i64>
      %xf = arith.extf %x : bf16 to f32
      %y = loop.load %bs[%ki, %ln * 2 + %vn] : memref<16x8xbf16, 3 : i64>
      %yf = arith.extf %y : bf16 to f32
      %xy = arith.mulf %xf, %yf : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%rm * 8 + %lm, %ln * 2 + %vn] : memref<16x8xf32>
  }
}

// -----

loop.kernel @gather_of_some(%ids: memref<8xi32>, %a: memref<16x16xbf16>, %b: memref<16x8xbf16>) -> (%out: memref<16x8xf32>) {
  tile.launch (%lm = lane 8 m, %ln = lane 4 n, %rm = register 2 m, %vn = register 2 n) {
    %as = tile.stage (%i, %k) in [16, 16] {
      %0 = loop.load %a[%i, %k] : memref<16x16xbf16>
      loop.yield %0 : bf16
    } : memref<16x16xbf16, 3 : i64>
    %bs = tile.stage (%k, %j) in [16, 8] {
      %0 = loop.load %b[%k, %j] : memref<16x8xbf16>
      loop.yield %0 : bf16
    } : memref<16x8xbf16, 3 : i64>
    %id = loop.load %ids[%lm] : memref<8xi32>
    %ix = loop.to_index %id below 8 : i32
    // CHECK: 'm16n8k16_bf16' cannot do this reduction: subscripts of %as are data that may differ among the lanes of a warp
    %acc = loop.reduce %ki in 16 with add by(m16n8k16_bf16) {
      %x = loop.load %as[%rm * 8 + %ix, %ki] : memref<16x16xbf16, 3 : i64>
      %xf = arith.extf %x : bf16 to f32
      %y = loop.load %bs[%ki, %ln * 2 + %vn] : memref<16x8xbf16, 3 : i64>
      %yf = arith.extf %y : bf16 to f32
      %xy = arith.mulf %xf, %yf : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%rm * 8 + %lm, %ln * 2 + %vn] : memref<16x8xf32>
  }
}

// -----

loop.kernel @gather_of_steps(%ids: memref<16xi32>, %a: memref<16x16xbf16>, %b: memref<16x8xbf16>) -> (%out: memref<16x8xf32>) {
  tile.launch (%lm = lane 8 m, %ln = lane 4 n, %rm = register 2 m, %vn = register 2 n) {
    %as = tile.stage (%i, %k) in [16, 16] {
      %0 = loop.load %a[%i, %k] : memref<16x16xbf16>
      loop.yield %0 : bf16
    } : memref<16x16xbf16, 3 : i64>
    %bs = tile.stage (%k, %j) in [16, 8] {
      %0 = loop.load %b[%k, %j] : memref<16x8xbf16>
      loop.yield %0 : bf16
    } : memref<16x8xbf16, 3 : i64>
    // CHECK: 'm16n8k16_bf16' cannot do this reduction: its body has 'loop.load' besides loads of factors, casts and products
    %acc = loop.reduce %ki in 16 with add by(m16n8k16_bf16) {
      %id = loop.load %ids[%ki] : memref<16xi32>
      %ix = loop.to_index %id below 16 : i32
      %x = loop.load %as[%rm * 8 + %lm, %ix] : memref<16x16xbf16, 3 : i64>
      %xf = arith.extf %x : bf16 to f32
      %y = loop.load %bs[%ki, %ln * 2 + %vn] : memref<16x8xbf16, 3 : i64>
      %yf = arith.extf %y : bf16 to f32
      %xy = arith.mulf %xf, %yf : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%rm * 8 + %lm, %ln * 2 + %vn] : memref<16x8xf32>
  }
}

// -----

loop.kernel @stage_in_body(%a: memref<16x16xbf16>, %b: memref<16x8xbf16>) -> (%out: memref<16x8xf32>) {
  tile.launch (%lm = lane 8 m, %ln = lane 4 n, %rm = register 2 m, %vn = register 2 n) {
    %bs = tile.stage (%k, %j) in [16, 8] {
      %0 = loop.load %b[%k, %j] : memref<16x8xbf16>
      loop.yield %0 : bf16
    } : memref<16x8xbf16, 3 : i64>
    // CHECK: 'm16n8k16_bf16' cannot do this reduction: its body has 'tile.stage' besides loads of factors, casts and products
    %acc = loop.reduce %ki in 16 with add by(m16n8k16_bf16) {
      %as = tile.stage (%i, %k) in [16, 16] {
        %0 = loop.load %a[%i, %k] : memref<16x16xbf16>
        loop.yield %0 : bf16
      } : memref<16x16xbf16, 3 : i64>
      %x = loop.load %as[%rm * 8 + %lm, %ki] : memref<16x16xbf16, 3 : i64>
      %xf = arith.extf %x : bf16 to f32
      %y = loop.load %bs[%ki, %ln * 2 + %vn] : memref<16x8xbf16, 3 : i64>
      %yf = arith.extf %y : bf16 to f32
      %xy = arith.mulf %xf, %yf : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%rm * 8 + %lm, %ln * 2 + %vn] : memref<16x8xf32>
  }
}

// -----

loop.kernel @load_before_body(%a: memref<16x16xbf16>, %b: memref<16x8xbf16>) -> (%out: memref<16x8xf32>) {
  tile.launch (%lm = lane 8 m, %ln = lane 4 n, %rm = register 2 m, %vn = register 2 n) {
    %as = tile.stage (%i, %k) in [16, 16] {
      %0 = loop.load %a[%i, %k] : memref<16x16xbf16>
      loop.yield %0 : bf16
    } : memref<16x16xbf16, 3 : i64>
    %bs = tile.stage (%k, %j) in [16, 8] {
      %0 = loop.load %b[%k, %j] : memref<16x8xbf16>
      loop.yield %0 : bf16
    } : memref<16x8xbf16, 3 : i64>
    %x = loop.load %as[%rm * 8 + %lm, 0] : memref<16x16xbf16, 3 : i64>
    // CHECK: 'm16n8k16_bf16' cannot do this reduction: a factor is loaded outside its body
    %acc = loop.reduce %ki in 16 with add by(m16n8k16_bf16) {
      %xf = arith.extf %x : bf16 to f32
      %y = loop.load %bs[%ki, %ln * 2 + %vn] : memref<16x8xbf16, 3 : i64>
      %yf = arith.extf %y : bf16 to f32
      %xy = arith.mulf %xf, %yf : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%rm * 8 + %lm, %ln * 2 + %vn] : memref<16x8xf32>
  }
}

// -----

// All lanes of a warp have to reach the instruction.
loop.kernel @diverged(%a: memref<16x16xbf16>, %b: memref<16x8xbf16>) -> (%out: memref<16x8xf32>) {
  tile.launch (%lm = lane 8 m, %ln = lane 4 n, %rm = register 2 m, %vn = register 2 n) {
    %as = tile.stage (%i, %k) in [16, 16] {
      %0 = loop.load %a[%i, %k] : memref<16x16xbf16>
      loop.yield %0 : bf16
    } : memref<16x16xbf16, 3 : i64>
    %bs = tile.stage (%k, %j) in [16, 8] {
      %0 = loop.load %b[%k, %j] : memref<16x8xbf16>
      loop.yield %0 : bf16
    } : memref<16x8xbf16, 3 : i64>
    %s = loop.reduce %o in 4 below [%lm] with add {
      // CHECK: 'm16n8k16_bf16' cannot do this reduction: the bounds of a loop around it may differ among the lanes of a warp
      %acc = loop.reduce %ki in 16 with add by(m16n8k16_bf16) {
        %x = loop.load %as[%rm * 8 + %lm, %ki] : memref<16x16xbf16, 3 : i64>
        %xf = arith.extf %x : bf16 to f32
        %y = loop.load %bs[%ki, %ln * 2 + %vn] : memref<16x8xbf16, 3 : i64>
        %yf = arith.extf %y : bf16 to f32
        %xy = arith.mulf %xf, %yf : f32
        loop.yield %xy : f32
      } : f32
      loop.yield %acc : f32
    } : f32
    loop.store %s, %out[%rm * 8 + %lm, %ln * 2 + %vn] : memref<16x8xf32>
  }
}

// -----

loop.kernel @lanes(%a: memref<16x16xbf16>, %b: memref<16x8xbf16>) -> (%out: memref<16x8xf32>) {
  tile.launch (%lm = lane 4 m, %ln = lane 8 n, %rm = register 4 m) {
    %as = tile.stage (%i, %k) in [16, 16] {
      %0 = loop.load %a[%i, %k] : memref<16x16xbf16>
      loop.yield %0 : bf16
    } : memref<16x16xbf16, 3 : i64>
    %bs = tile.stage (%k, %j) in [16, 8] {
      %0 = loop.load %b[%k, %j] : memref<16x8xbf16>
      loop.yield %0 : bf16
    } : memref<16x8xbf16, 3 : i64>
    // CHECK: 'm16n8k16_bf16' cannot do this reduction: the lanes of a warp are not 8 rows by 4 pairs of columns
    %acc = loop.reduce %ki in 16 with add by(m16n8k16_bf16) {
      %x = loop.load %as[%rm * 4 + %lm, %ki] : memref<16x16xbf16, 3 : i64>
      %xf = arith.extf %x : bf16 to f32
      %y = loop.load %bs[%ki, %ln] : memref<16x8xbf16, 3 : i64>
      %yf = arith.extf %y : bf16 to f32
      %xy = arith.mulf %xf, %yf : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%rm * 4 + %lm, %ln] : memref<16x8xf32>
  }
}

// -----

loop.kernel @registers(%a: memref<16x16xbf16>, %b: memref<16x8xbf16>) -> (%out: memref<16x8xf32>) {
  tile.launch (%lm = lane 8 m, %ln = lane 4 n, %vn = register 2 n, %rm = register 2 m) {
    %as = tile.stage (%i, %k) in [16, 16] {
      %0 = loop.load %a[%i, %k] : memref<16x16xbf16>
      loop.yield %0 : bf16
    } : memref<16x16xbf16, 3 : i64>
    %bs = tile.stage (%k, %j) in [16, 8] {
      %0 = loop.load %b[%k, %j] : memref<16x8xbf16>
      loop.yield %0 : bf16
    } : memref<16x8xbf16, 3 : i64>
    // CHECK: 'm16n8k16_bf16' cannot do this reduction: the last two register axes are not 2 rows and 2 columns
    %acc = loop.reduce %ki in 16 with add by(m16n8k16_bf16) {
      %x = loop.load %as[%rm * 8 + %lm, %ki] : memref<16x16xbf16, 3 : i64>
      %xf = arith.extf %x : bf16 to f32
      %y = loop.load %bs[%ki, %ln * 2 + %vn] : memref<16x8xbf16, 3 : i64>
      %yf = arith.extf %y : bf16 to f32
      %xy = arith.mulf %xf, %yf : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%rm * 8 + %lm, %ln * 2 + %vn] : memref<16x8xf32>
  }
}

// -----

loop.kernel @pieces(%a: memref<16x16xbf16>, %b: memref<16x8xbf16>) -> (%out: memref<16x8xf32>) {
  tile.launch (%lm = lane 8 m, %ln = lane 4 n, %rm = register 2 m, %vn = register 2 n) {
    %as = tile.stage (%i, %k) in [16, 16] {
      %0 = loop.load %a[%i, %k] : memref<16x16xbf16>
      loop.yield %0 : bf16
    } : memref<16x16xbf16, #tile.layout<inner 8>, 3 : i64>
    %bs = tile.stage (%k, %j) in [16, 8] {
      %0 = loop.load %b[%k, %j] : memref<16x8xbf16>
      loop.yield %0 : bf16
    } : memref<16x8xbf16, 3 : i64>
    // CHECK: 'm16n8k16_bf16' cannot do this reduction: rows of %as are cut into pieces (inner 8)
    %acc = loop.reduce %ki in 16 with add by(m16n8k16_bf16) {
      %x = loop.load %as[%rm * 8 + %lm, %ki] : memref<16x16xbf16, #tile.layout<inner 8>, 3 : i64>
      %xf = arith.extf %x : bf16 to f32
      %y = loop.load %bs[%ki, %ln * 2 + %vn] : memref<16x8xbf16, 3 : i64>
      %yf = arith.extf %y : bf16 to f32
      %xy = arith.mulf %xf, %yf : f32
      loop.yield %xy : f32
    } : f32
    loop.store %acc, %out[%rm * 8 + %lm, %ln * 2 + %vn] : memref<16x8xf32>
  }
}
